//! Redis: one server, a primary with replicas behind sentinels, or a cluster.

mod cluster;
mod options;
mod sentinels;
mod server;

pub use cluster::Cluster;
pub use options::Options;
pub use sentinels::Sentinels;
pub use server::Server;
