//! A redis-server for tests.

use scarce_launch::{Options, Server};

/// A redis-server with an append-only file in memory, which ends with the test; options are those of its
/// configuration file.
pub fn redis_server(options: &[(&str, &str)]) -> Server {
    let usual = Options::new().in_memory();
    let options = options.iter().fold(usual, |options, (name, value)| options.with(name, value));
    Server::start(options).expect("redis-server is installed: apt-get install redis-server")
}
