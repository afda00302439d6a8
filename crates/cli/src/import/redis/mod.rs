//! `scarce import redis`: takes over what a team keeps in a Redis of its own.

mod args;
mod compare;
mod send;
mod show;

pub(crate) use args::FromRedis;
