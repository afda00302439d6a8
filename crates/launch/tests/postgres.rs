//! Whether a PostgreSQL server behaves as documented.

use std::process::{Child, Command, Stdio};

mod certificates;

use scarce_launch::{LaunchError, Postgres, PostgresOptions};

/// The number of processes with the server's data folder among their arguments, or started by such a process.
fn processes(server: &Postgres) -> usize {
    let folders = std::fs::read_dir("/proc").expect("listed").flatten().map(|entry| entry.path());
    let is_its = |folder: &std::path::PathBuf| {
        std::fs::read_link(folder.join("cwd")).is_ok_and(|place| place == server.data_folder())
    };
    folders.filter(is_its).count()
}

/// A client that waits in the middle of a statement.
fn waiting_client(server: &Postgres) -> Child {
    let mut command = Command::new("psql");
    command.args(["-X", &server.url(), "-c", "SELECT pg_sleep(1000)"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("psql runs")
}

fn wait_for_sleeper(server: &Postgres) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while server.query("postgres", sql).expect("answered") != "1" {
        std::thread::yield_now();
    }
}

#[test]
fn a_committed_row_outlives_a_kill_that_takes_every_process() {
    let mut server = Postgres::start(&PostgresOptions::new()).expect("a server");
    let url = server.create_database("the shop").expect("a database");
    assert_eq!(url, format!("postgres://scarce@127.0.0.1:{}/the%20shop", server.port()));
    let sql = "CREATE TABLE stock (sku text PRIMARY KEY, units int); INSERT INTO stock VALUES ('cup', 7)";
    server.query("the shop", sql).expect("written");
    let mut client = waiting_client(&server);
    wait_for_sleeper(&server);
    assert!(processes(&server) > 2);

    server.kill().expect("killed");
    assert_eq!(processes(&server), 0);
    assert!(!client.wait().expect("the client ends").success());
    assert!(matches!(server.query("the shop", "SELECT 1"), Err(LaunchError::Refused { .. })));

    server.start_again().expect("started again");
    assert!(url.contains(&format!(":{}/", server.port())));
    assert_eq!(server.query("the shop", "SELECT * FROM stock").expect("read"), "cup|7");
    // It noticed the crash.
    let log = server.log();
    assert!(log.contains("was not properly shut down"), "{log}");
}

#[test]
fn a_stopped_one_starts_again_with_what_it_had_and_a_paused_one_goes_on() {
    let mut server = Postgres::start(&PostgresOptions::new().in_memory()).expect("a server");
    server.query("postgres", "CREATE TABLE kept AS SELECT 42 AS number").expect("written");
    server.stop().expect("stopped");
    assert_eq!(processes(&server), 0);
    server.start_again().expect("started again");
    assert_eq!(server.query("postgres", "SELECT number FROM kept").expect("read"), "42");
    server.pause().expect("paused");
    let mut asked = Command::new("psql");
    let asked = asked.args(["-X", "-A", "-t", &server.url(), "-c", "SELECT number FROM kept"]);
    let mut asked = asked.stdout(Stdio::piped()).spawn().expect("psql runs");
    assert!(asked.try_wait().expect("looked").is_none());
    server.resume().expect("resumed");
    assert_eq!(asked.wait_with_output().expect("it ends").stdout, b"42\n");
}

#[test]
fn who_does_not_know_the_password_is_not_let_in() {
    let server = Postgres::start(&PostgresOptions::new().with_password("p/w")).expect("a server");
    assert!(server.url().starts_with("postgres://scarce:p%2Fw@127.0.0.1:"));
    assert_eq!(server.query("postgres", "SHOW password_encryption").expect("asked"), "scram-sha-256");
    let ask = |url: &str| {
        let mut command = Command::new("psql");
        command.args(["-X", "-w", url, "-c", "SELECT 1"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("psql runs").success()
    };
    assert!(ask(&server.url()));
    assert!(!ask(&server.url().replace("p%2Fw", "wrong")));
}

#[test]
fn one_that_was_killed_leaves_no_memory_behind() {
    let mut server = Postgres::start(&PostgresOptions::new()).expect("a server");
    assert_eq!(server.query("postgres", "SHOW dynamic_shared_memory_type").expect("asked"), "mmap");
    server.kill().expect("killed");
    let lock =
        std::fs::read_to_string(server.data_folder().join("postmaster.pid")).expect("it is still there");
    let segment =
        lock.lines().nth(6).expect("a line").split_whitespace().nth(1).expect("a number").to_owned();
    let is_kept = || {
        let listed = std::fs::read_to_string("/proc/sysvipc/shm").expect("listed");
        listed.lines().any(|line| line.split_whitespace().nth(1) == Some(&segment))
    };
    assert!(is_kept());
    drop(server);
    assert!(!is_kept());
}

#[test]
fn who_does_not_encrypt_is_not_let_in() {
    let folder = certificates::folder();
    let options = PostgresOptions::new().with_tls(folder.path()).with_password("secret");
    let mut server = Postgres::start(&options).expect("a server");
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    assert_eq!(server.query("postgres", sql).expect("asked"), "t");
    assert!(server.url().ends_with("/postgres?sslmode=require"));
    server.start_again().expect("started again");
    let ask = |mode: &str| {
        let mut command = Command::new("psql");
        command.args(["-X", "-w", &server.url().replace("sslmode=require", mode), "-c", "SELECT 1"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("psql runs").success()
    };
    let authority = folder.path().join("ca.crt");
    assert!(ask(&format!("sslmode=verify-full&sslrootcert={}", authority.display())));
    assert!(!ask("sslmode=disable"));
}

#[test]
fn one_whose_port_is_taken_does_not_start_and_says_so() {
    let mut server = Postgres::start(&PostgresOptions::new()).expect("a server");
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
    let server = Postgres::start(&PostgresOptions::new().with("max_connections", "17")).expect("a server");
    assert_eq!(server.query("postgres", "SHOW max_connections").expect("asked"), "17");
    assert_eq!(server.query("postgres", "SHOW fsync").expect("asked"), "off");
    let wrong = PostgresOptions::new().with("max_connections", "plenty");
    let error = Postgres::start(&wrong).expect_err("it cannot start");
    assert!(error.to_string().contains("plenty"), "{error}");
}

#[test]
fn its_data_is_where_it_is_wanted_and_gone_afterwards() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("open");
    let server = Postgres::start(&PostgresOptions::new().in_folder(folder.path())).expect("a server");
    assert_eq!(server.data_folder().parent(), Some(folder.path()));
    drop(server);
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
}
