//! An authority that certifies servers and callers of a test.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::{ClientConfig, RootCertStore};

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

#[allow(dead_code, reason = "shared by tests that each use a part of it")]
impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Its name must differ from the certificate's, which would otherwise count as self-signed.
        params.distinguished_name.push(DnType::CommonName, "authority");
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// Writes its own certificate into a folder.
    pub fn write(&self, folder: &Path) {
        std::fs::write(folder.join("ca.crt"), self.issuer.pem()).unwrap();
    }

    /// Writes a new certificate and its key into a folder.
    pub fn sign(&self, folder: &Path, name: &str) {
        self.sign_until(folder, name, 4096);
    }

    /// The same for one that is valid until the beginning of a year.
    pub fn sign_until(&self, folder: &Path, name: &str, year: i32) {
        self.sign_with(folder, name, |params| params.not_after = date_time_ymd(year, 1, 1));
    }

    /// The same with what else it is to say.
    pub fn sign_with(&self, folder: &Path, name: &str, say: impl FnOnce(&mut CertificateParams)) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        say(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(folder.join(format!("{name}.crt")), certificate.pem()).unwrap();
        std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    /// What a caller goes by that trusts it.
    pub fn client(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        builder.unwrap().with_root_certificates(roots).with_no_client_auth()
    }
}
