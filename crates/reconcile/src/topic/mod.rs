//! A copy of the log as messages, such as a topic, against the log: complete, in order, and equal.

#![allow(dead_code, reason = "what compares comes with the next steps")]

mod gaps;
mod messages;
mod others;
