//! `scarce import redis`: takes over what a team keeps in a Redis of its own.

mod compare;
mod send;
