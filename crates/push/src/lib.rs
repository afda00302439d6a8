//! What subscribers learn about resources: a snapshot first, then each change, once it is durable.
//!
//! ```text
//!  the log ▸ FOLLOWER of a partition ▸ which channels change? ▸ their read commands, all in one batch
//!                                                                    │ answers with the sequence that they are true at
//!            SUBSCRIBERS ◀ the channel's last updates, each ◀────────┘ what differs from before
//!                          written once for all of them
//! ```
//!
//! A channel of figures shows what a read command answers, so that both agree by construction, and a change that lies
//! between two reads is never told by itself. A subscriber keeps its place in the channel's updates and nothing else: how
//! much memory they take does not depend on who reads them.
//!
//! Must not know: a socket, a protocol, or who a subscriber is.
//!
//! Where to begin: [`CHANNELS`], what there is; [`Hub`], where subscribers come to; `follower.rs`, where updates come from.

#![forbid(unsafe_code)]

mod channel;
mod follower;
mod held;
mod hub;
mod mailbox;
mod message;
mod orders;
mod partition;
mod routes;
mod shares;
mod subscriber;
mod tape;
mod view;

pub use channel::{Asked, CHANNELS, Channel, ChannelError, ChannelSpec, Contents};
pub use hub::{Full, Hub, PushFigures};
pub use message::{End, Message, heartbeat};
pub use subscriber::Subscriber;
