//! What a server does between a signal and its end, and on a signal that reads its settings again.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;

use support::{PATIENCE, Server, Socket, frame, redis_server, wait_until};
use tempfile::TempDir;

#[test]
fn requests_in_progress_are_answered_before_a_server_with_redis_ends() {
    let redis = redis_server(&[]);
    let url = redis.url();
    let mut server = Server::fresh(&["--engine", "redis", "--redis-url", &url, "--partitions", "1"]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["STOCK.CREATE", "sku-1", "5"]), "[1 5]");
    let _: () = redis.ask(&["CLIENT", "PAUSE", "1000", "WRITE"]).unwrap();
    // The answer to the first says that the second was taken as well: they are read together.
    socket.send(&[frame(&["PING"]), frame(&["STOCK.TAKE", "sku-1", "1", "bob"])].concat());
    assert_eq!(socket.reply(), "PONG");
    server.signal("TERM");
    assert_eq!(socket.reply(), "[1 1 4]");
    server.wait_for_end();
}

#[test]
fn a_server_that_ends_is_not_ready_and_serves_until_then() {
    let mut server = Server::fresh(&["--drain-ms", "600000"]);
    let mut socket = server.socket();
    assert_eq!(server.http().get("/readyz").status, 200);
    server.signal("TERM");
    wait_until("the server is not ready", || server.http().get("/readyz").status == 503);
    let ready = String::from_utf8(server.http().get("/readyz").body).unwrap();
    assert!(ready.contains("it is shutting down"), "{ready}");
    assert_eq!(socket.call(&["STOCK.CREATE", "sku-1", "5"]), "[1 5]");
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(1), "a second signal ends it at once");
}

#[test]
fn a_signal_applies_another_password_and_another_level_of_the_log() {
    let data = TempDir::new().unwrap();
    let (config, password) = (data.path().join("scarce.toml"), data.path().join("password"));
    let write = |level: &str, drain_ms: u32, secret: &str| {
        std::fs::write(&config, format!("log_level = \"{level}\"\ndrain_ms = {drain_ms}\n")).unwrap();
        std::fs::write(&password, secret).unwrap();
    };
    write("info", 0, "first-password-of-the-server");
    let (config, password) = (config.to_str().unwrap(), password.to_str().unwrap());
    let server = Server::overheard(&["--config", config, "--password-file", password]);
    let mut early = server.socket();
    assert_eq!(early.call(&["AUTH", "first-password-of-the-server"]), "OK");

    write("debug", 1, "second-password-of-the-server");
    server.signal("HUP");
    wait_until("the settings are read again", || server.overhead().contains("the settings were read again"));
    let log = server.overhead();
    assert!(log.contains("applied=\"password log_level\" restart_needed=\"drain_ms\""), "{log}");
    let mut late = server.socket();
    assert!(late.call(&["AUTH", "first-password-of-the-server"]).starts_with("-WRONGPASS"));
    assert_eq!(late.call(&["AUTH", "second-password-of-the-server"]), "OK");
    assert_eq!(early.call(&["PING"]), "PONG", "who is connected stays admitted");

    std::fs::write(config, "log_level = \"loud\"\n").unwrap();
    server.signal("HUP");
    wait_until("the mistake is told", || server.overhead().contains("the settings could not be read again"));
    assert!(server.overhead().contains("log_level"), "{}", server.overhead());
    assert_eq!(late.call(&["PING"]), "PONG");
}

#[test]
fn a_file_that_never_answers_when_settings_are_read_again_holds_up_no_end() {
    let data = TempDir::new().unwrap();
    let password = data.path().join("password");
    std::fs::write(&password, "the-password-of-the-server").unwrap();
    let server = Server::fresh(&["--password-file", password.to_str().unwrap()]);
    std::fs::remove_file(&password).unwrap();
    // An open of a pipe that nobody writes to does not return.
    assert!(std::process::Command::new("mkfifo").arg(&password).status().unwrap().success());
    server.signal("HUP");
    server.stop();
}

#[test]
fn the_ports_are_open_while_a_long_journal_is_read() {
    let data = TempDir::new().unwrap();
    let server = Server::start(data.path(), &[]);
    let mut client = server.connect();
    client.call(&["STOCK.CREATE", "sku-1", "1"]).unwrap();
    for _ in 0..120 {
        client.pipeline(&vec![vec!["STOCK.ADJUST", "sku-1", "1", "REASON", "counted"]; 500]).unwrap();
    }
    server.stop();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let address = free.clone();
    let (said, heard) = std::sync::mpsc::channel();
    let watching = std::thread::spawn(move || {
        // Until the port is opened, and then until the first answer that does not come from a recovery.
        loop {
            if TcpStream::connect(&address).is_err() {
                std::thread::yield_now();
                continue;
            }
            let answer = std::panic::catch_unwind(|| Socket::connect(&address).call(&["PING"]));
            if let Ok(answer) = answer {
                let is_ready = answer == "PONG";
                said.send(answer).unwrap();
                if is_ready {
                    return;
                }
            }
        }
    });
    let server = Server::start_at(data.path(), &free, &[]);
    watching.join().unwrap();
    let answers: Vec<String> = heard.iter().collect();
    assert!(answers.iter().any(|answer| answer.starts_with("-LOADING scarce is reading")), "{answers:?}");
    server.stop();
}

#[test]
fn a_service_manager_is_told_when_the_server_is_ready_and_when_it_stops() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let message = || {
        let mut bytes = [0; 512];
        let length = socket.recv(&mut bytes).expect("a message to the service manager");
        String::from_utf8_lossy(&bytes[..length]).trim_end().to_owned()
    };
    let mut command = support::serve(data.path(), &[]);
    command.env("NOTIFY_SOCKET", &path);
    let mut server = Server::spawn(command);
    assert_eq!(message(), "READY=1");
    server.signal("TERM");
    assert_eq!(message(), "STOPPING=1");
    server.wait_for_end();
}
