//! How the Redis engine gets in: TLS, users with few rights, databases and prefixes; and what it says when it
//! does not.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::path::Path;

use load::told;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use scarce_engine::Log;
use scarce_engine_redis::address::{Login, Tls};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use scarce_launch::{Options, Server};

/// What a user needs: the library, the keys behind the prefix, and a look at the server.
const RIGHTS: [&str; 11] = [
    "on",
    ">secret",
    "~scarce:*",
    "-@all",
    "+@read",
    "+@write",
    "+@scripting",
    "+info",
    "+config|get",
    "+time",
    "+wait",
];

/// An authority, and a server's certificate by it, in a folder.
fn certify(folder: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names = vec!["127.0.0.1".to_owned()];
    let params = CertificateParams::new(names).expect("names");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("written");
    write("ca.crt", authority.pem());
    write("server.crt", certificate.pem());
    write("server.key", key.serialize_pem());
}

fn refused(settings: RedisSettings) -> String {
    RedisEngine::open(settings).err().expect("it must not open").to_string()
}

fn at(server: &Server) -> RedisSettings {
    RedisSettings { url: server.url(), partitions: 1, ..RedisSettings::default() }
}

#[test]
fn encrypted_connections_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    certify(folder.path());
    let server = Server::start(Options::new().with_tls(folder.path())).expect("a server");
    let authorities = std::fs::read(folder.path().join("ca.crt")).ok();
    let tls = Tls { authorities, client: None };
    let engine = RedisEngine::open(RedisSettings { tls, ..at(&server) }).expect("the engine");
    assert_eq!(told(&engine, 0, "ACCOUNT.OPEN a EUR"), Ok("APPLIED 0".to_owned()));
    let unknown = refused(at(&server));
    assert!(unknown.contains("certificate") || unknown.contains("Certificate"), "{unknown}");
    let plain = format!("redis://127.0.0.1:{}", server.port());
    refused(RedisSettings { url: plain, partitions: 1, ..RedisSettings::default() });
}

#[test]
fn a_user_needs_the_documented_rights_and_no_more() {
    let server = servers::server();
    let mut words = vec!["ACL", "SETUSER", "scarce"];
    words.extend(RIGHTS);
    server.ask::<()>(&words).expect("a user");
    server.ask::<()>(&["ACL", "SETUSER", "default", "resetpass", ">other"]).expect("no default user");
    let login = |password: &str| Login {
        user: Some("scarce".to_owned()),
        password: Some(password.to_owned()),
        ..Login::default()
    };
    for (script, sku) in [(ScriptKind::Functions, "a"), (ScriptKind::Evalsha, "b")] {
        let settings = RedisSettings { login: login("secret"), script: Some(script), ..at(&server) };
        let engine = RedisEngine::open(settings).expect("the engine");
        let created = told(&engine, 0, &format!("STOCK.CREATE {sku} 3"));
        assert_eq!(created, Ok("APPLIED 3".to_owned()));
        assert!(told(&engine, 0, "DIGEST").expect("a digest").starts_with("APPLIED"));
        assert_eq!(engine.entries(0, 1, 1 << 20).expect("the log").len(), if sku == "a" { 1 } else { 2 });
    }
    for wrong in [refused(RedisSettings { login: login("wrong"), ..at(&server) }), refused(at(&server))] {
        assert!(wrong.contains("redis_user"), "{wrong}");
    }
}

#[test]
fn a_right_that_is_missing_is_named_with_whom_to_give_it() {
    let server = servers::server();
    let mut words = vec!["ACL", "SETUSER", "scarce"];
    words.extend(RIGHTS);
    server.ask::<()>(&words).expect("a user");
    let login =
        Login { user: Some("scarce".to_owned()), password: Some("secret".to_owned()), ..Login::default() };
    let rights = |words: &[&str]| {
        server.ask::<()>(&[&["ACL", "SETUSER", "scarce"], words].concat()).expect("changed");
    };
    let settings = RedisSettings { login, ..at(&server) };
    let engine = RedisEngine::open(settings.clone()).expect("the engine");
    for command in ["fcall", "xadd", "hset"] {
        rights(&[&format!("-{command}")]);
        let refused = told(&engine, 0, "ACCOUNT.OPEN a EUR ID 1").expect_err("no right").to_string();
        assert!(refused.contains(&format!("ACL SETUSER scarce +{command}")), "{command}: {refused}");
        rights(&[&format!("+{command}")]);
    }
    rights(&["resetkeys", "~other:*"]);
    let refused = told(&engine, 0, "ACCOUNT.OPEN a EUR ID 1").expect_err("no keys").to_string();
    assert!(refused.contains("ACL SETUSER scarce ~<redis_prefix>*"), "{refused}");
    rights(&["resetkeys", "~scarce:*"]);
    assert_eq!(told(&engine, 0, "ACCOUNT.OPEN a EUR ID 1"), Ok("APPLIED 0".to_owned()));
    drop(engine);
    rights(&["-info"]);
    let refused = self::refused(settings);
    assert!(refused.contains("ACL SETUSER scarce +info"), "{refused}");
}

#[test]
fn deployments_share_a_server_by_database_and_prefix() {
    let server = servers::server();
    let urls = [server.url(), format!("{}/3", server.url())];
    let places = urls.iter().flat_map(|url| ["scarce:", "other:"].map(|prefix| (url.clone(), prefix)));
    let engines: Vec<RedisEngine> = places
        .map(|(url, prefix)| RedisSettings {
            url,
            prefix: prefix.to_owned(),
            partitions: 1,
            ..RedisSettings::default()
        })
        .map(|settings| RedisEngine::open(settings).expect("the engine"))
        .collect();
    for engine in &engines {
        assert_eq!(told(engine, 0, "ACCOUNT.OPEN a EUR ID 1"), Ok("APPLIED 0".to_owned()));
        assert!(told(engine, 0, "DIGEST").expect("a digest").contains(" 1 "), "one event each");
    }
}

#[test]
fn a_prefix_that_is_too_long_is_refused() {
    let server = servers::server();
    let of = |prefix: String| RedisSettings { url: server.url(), prefix, ..RedisSettings::default() };
    assert!(self::refused(of("x".repeat(65))).contains("longer than 64 bytes"));
    assert!(RedisEngine::open(of("x".repeat(64))).is_ok());
}
