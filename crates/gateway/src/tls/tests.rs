//! Files of a certificate that are read, and read again.

use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ServerConnection, SupportedProtocolVersion};

use super::*;

/// A certificate of its own and its key, as PEM.
fn certified(name: &str) -> (String, String) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

fn files(folder: &Path) -> TlsFiles {
    let at = |name: &str| folder.join(name);
    TlsFiles { certificate: at("cert.pem"), key: at("key.pem"), client_authorities: None }
}

fn write(folder: &Path, (certificate, key): &(String, String)) {
    std::fs::write(folder.join("cert.pem"), certificate).expect("written");
    std::fs::write(folder.join("key.pem"), key).expect("written");
}

#[test]
fn files_are_read_again_and_what_cannot_be_used_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (certified("a.example"), certified("b.example"));
    write(folder.path(), &first);
    let tls = Tls::read(files(folder.path())).expect("they go together");
    let before = tls.config();
    assert!(matches!(tls.reload(), Ok(false)));
    std::fs::write(folder.path().join("key.pem"), &second.1).expect("written");
    let error = tls.reload().expect_err("the key of another").to_string();
    assert!(error.contains("cert.pem cannot be used"), "{error}");
    assert!(Arc::ptr_eq(&before, &tls.config()));
    write(folder.path(), &second);
    assert!(matches!(tls.reload(), Ok(true)));
    assert!(!Arc::ptr_eq(&before, &tls.config()));
}

/// Moves what both sides have to send, until neither has anything.
fn converse(server: &mut ServerConnection, caller: &mut ClientConnection) {
    while server.wants_write() || caller.wants_write() {
        let mut bytes = Vec::new();
        caller.write_tls(&mut bytes).expect("memory");
        server.read_tls(&mut bytes.as_slice()).expect("memory");
        server.process_new_packets().expect("the server agrees");
        bytes.clear();
        server.write_tls(&mut bytes).expect("memory");
        caller.read_tls(&mut bytes.as_slice()).expect("memory");
        caller.process_new_packets().expect("the caller agrees");
    }
}

/// Whether a caller that comes twice resumes its session the second time.
fn resumes(tls: &Tls, identity: &(String, String), version: &'static SupportedProtocolVersion) -> bool {
    let certificates = || CertificateDer::pem_slice_iter(identity.0.as_bytes()).flatten();
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(certificates());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]);
    let builder = builder.expect("a version").with_root_certificates(roots);
    let key = PrivateKeyDer::from_pem_slice(identity.1.as_bytes()).expect("a key");
    let config = builder.with_client_auth_cert(certificates().collect(), key).expect("an identity");
    let config = Arc::new(config);
    let kinds = [(); 2].map(|()| {
        let mut server = ServerConnection::new(tls.config()).expect("a server");
        let name = "a.example".try_into().expect("a name");
        let mut caller = ClientConnection::new(Arc::clone(&config), name).expect("a caller");
        converse(&mut server, &mut caller);
        server.handshake_kind()
    });
    assert_eq!(kinds[0], Some(HandshakeKind::Full));
    kinds[1] == Some(HandshakeKind::Resumed)
}

#[test]
fn a_caller_that_must_show_a_certificate_shows_it_every_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let identity = certified("a.example");
    write(folder.path(), &identity);
    let open = Tls::read(files(folder.path())).expect("they go together");
    let client_authorities = Some(folder.path().join("cert.pem"));
    let asking =
        Tls::read(TlsFiles { client_authorities, ..files(folder.path()) }).expect("they go together");
    assert!(
        asking.doubt().is_some_and(|doubt| doubt.contains("cert.pem: certificate number 1 is not that of"))
    );
    for version in [&TLS12, &TLS13] {
        assert!(resumes(&open, &identity, version), "{version:?}");
        assert!(!resumes(&asking, &identity, version), "{version:?}");
    }
}

#[test]
fn files_that_are_missing_or_something_else_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = |files: TlsFiles| Tls::read(files).err().map(|error| error.to_string()).unwrap_or_default();
    let missing = told(files(folder.path()));
    assert!(missing.starts_with("cannot read ") && missing.contains("cert.pem"), "{missing}");
    let (certificate, key) = certified("a.example");
    write(folder.path(), &(certificate.clone(), certificate.clone()));
    assert!(told(files(folder.path())).ends_with("key.pem has no private key in PEM"));
    write(folder.path(), &(key.clone(), key.clone()));
    assert!(told(files(folder.path())).ends_with("cert.pem has no certificate in PEM"));
    std::fs::write(folder.path().join("key.pem"), vec![b'-'; 1 + (1 << 20)]).expect("written");
    assert!(told(files(folder.path())).contains("key.pem has more than 1048576 bytes"));
    let a_folder = TlsFiles { key: folder.path().to_owned(), ..files(folder.path()) };
    assert!(told(a_folder).ends_with(" is no file"));
    let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    write(folder.path(), &(certificate.clone(), encrypted));
    assert!(told(files(folder.path())).ends_with("key.pem has no private key without a passphrase in PEM"));
    let reversed = certified("b.example").0 + &certificate;
    write(folder.path(), &(reversed, key.clone()));
    assert!(told(files(folder.path())).contains("its first certificate, which must be the server's own"));
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    write(folder.path(), &(certificate.clone() + damaged, key.clone()));
    assert!(told(files(folder.path())).ends_with("its certificate number 2 is damaged"));
    write(folder.path(), &(certificate, key));
    let authorities = folder.path().join("authorities.pem");
    std::fs::write(&authorities, "nothing").expect("written");
    let with_authorities = TlsFiles { client_authorities: Some(authorities), ..files(folder.path()) };
    assert!(told(with_authorities).ends_with("authorities.pem has no certificate in PEM"));
}
