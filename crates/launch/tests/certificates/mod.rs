//! Certificates for TLS servers.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

/// A folder with a certificate authority and a certificate that it signed for local servers.
pub fn folder() -> TempDir {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // Its name must differ from the certificate's, which would otherwise count as self-signed.
    params.distinguished_name.push(DnType::CommonName, "authority");
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("names");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    let texts =
        [("ca.crt", authority.pem()), ("server.crt", certificate.pem()), ("server.key", key.serialize_pem())];
    for (name, text) in texts {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}
