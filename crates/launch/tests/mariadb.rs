//! Whether a MariaDB server behaves as documented.

use std::process::{Command, Stdio};

mod certificates;

use scarce_launch::{LaunchError, MariaDb, MariaDbOptions};

/// MariaDB's client with one statement, in the database `mysql`.
fn client(server: &MariaDb, password: &str, sql: &str) -> Command {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--skip-ssl", "-N", "-B", "-h", "127.0.0.1", "-u", "root"]);
    command.args(["-P", &server.port().to_string(), "-e", sql, "mysql"]).env("MYSQL_PWD", password);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

#[test]
fn a_committed_row_outlives_a_kill() {
    let mut server = MariaDb::start(&MariaDbOptions::new()).expect("a server");
    let url = server.create_database("the shop").expect("a database");
    assert_eq!(url, format!("mysql://root@127.0.0.1:{}/the%20shop", server.port()));
    let sql =
        "CREATE TABLE stock (sku varchar(9) PRIMARY KEY, units int); INSERT INTO stock VALUES ('cup', 7)";
    server.query("the shop", sql).expect("written");
    server.kill().expect("killed");
    assert!(matches!(server.query("the shop", "SELECT 1"), Err(LaunchError::Refused { .. })));
    server.start_again().expect("started again");
    assert!(url.contains(&format!(":{}/", server.port())));
    assert_eq!(server.query("the shop", "SELECT * FROM stock").expect("read"), "cup\t7");
    // It noticed the crash.
    assert!(server.log().contains("crash recovery"), "{}", server.log());
}

#[test]
fn a_stopped_one_starts_again_with_what_it_had_and_a_paused_one_goes_on() {
    let mut server = MariaDb::start(&MariaDbOptions::new().in_memory()).expect("a server");
    server.query("mysql", "CREATE TABLE kept AS SELECT 42 AS number").expect("written");
    server.stop().expect("stopped");
    server.start_again().expect("started again");
    assert!(!server.log().contains("crash recovery"), "{}", server.log());
    server.pause().expect("paused");
    let mut asked = client(&server, "", "SELECT number FROM kept").spawn().expect("the client runs");
    assert!(asked.try_wait().expect("looked").is_none());
    server.resume().expect("resumed");
    assert_eq!(asked.wait_with_output().expect("it ends").stdout, b"42\n");
}

#[test]
fn who_does_not_know_the_password_is_not_let_in() {
    let mut server = MariaDb::start(&MariaDbOptions::new().with_password(r"p'\w")).expect("a server");
    assert!(server.url().starts_with("mysql://root:p%27%5Cw@127.0.0.1:"));
    server.start_again().expect("started again");
    assert_eq!(server.query("mysql", "SELECT 1").expect("asked"), "1");
    let is_let_in = |password: &str| {
        let status = client(&server, password, "SELECT 1").stdout(Stdio::null()).status();
        status.expect("the client runs").success()
    };
    assert!(is_let_in(r"p'\w"));
    assert!(!is_let_in("wrong"));
    assert!(!is_let_in(""));
}

#[test]
fn who_does_not_encrypt_is_not_let_in() {
    let folder = certificates::folder();
    let options = MariaDbOptions::new().with_tls(folder.path()).with_password("secret");
    let mut server = MariaDb::start(&options).expect("a server");
    assert!(server.query("mysql", "SHOW STATUS LIKE 'Ssl_cipher'").expect("asked").contains("TLS"));
    assert!(server.url().ends_with("/mysql?ssl-mode=required"));
    server.start_again().expect("started again");
    let is_let_in =
        |command: &mut Command| command.stdout(Stdio::null()).status().expect("it runs").success();
    let mut checked = client(&server, "secret", "SELECT 1");
    let authority = format!("--ssl-ca={}", folder.path().join("ca.crt").display());
    checked.args(["--ssl", "--ssl-verify-server-cert", &authority]);
    assert!(is_let_in(&mut checked));
    assert!(!is_let_in(&mut client(&server, "secret", "SELECT 1")));
}

#[test]
fn one_whose_port_is_taken_does_not_start_and_says_so() {
    let mut server = MariaDb::start(&MariaDbOptions::new()).expect("a server");
    server.stop().expect("stopped");
    let other = std::net::TcpListener::bind(("127.0.0.1", server.port())).expect("the port is free");
    let error = server.start_again().expect_err("it cannot start").to_string();
    // This text makes the launcher retry on another port.
    assert!(error.contains("Address already in use"), "{error}");
    drop(other);
    server.start_again().expect("started again");
}

#[test]
fn settings_hold_and_what_does_not_start_says_why() {
    let options = MariaDbOptions::new().with("max-connections", "17").synced();
    let server = MariaDb::start(&options).expect("a server");
    assert_eq!(server.query("mysql", "SELECT @@max_connections").expect("asked"), "17");
    assert_eq!(server.query("mysql", "SELECT @@innodb_flush_method").expect("asked"), "O_DIRECT");
    let error = MariaDb::start(&MariaDbOptions::new().with("no-such-setting", "1")).expect_err("it cannot");
    assert!(error.to_string().contains("no-such-setting"), "{error}");
}

#[test]
fn its_data_is_where_it_is_wanted_and_gone_afterwards() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("open");
    let server = MariaDb::start(&MariaDbOptions::new().in_folder(folder.path())).expect("a server");
    assert_eq!(server.data_folder().parent(), Some(folder.path()));
    drop(server);
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
}
