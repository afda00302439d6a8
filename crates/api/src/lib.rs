//! The command table for JSON: which route belongs to which command, how a JSON object becomes the words
//! of a command, how an outcome becomes JSON or a problem document, and the `OpenAPI` description of it
//! all. Nothing here opens a socket.

#![forbid(unsafe_code)]

pub mod answer;
pub mod arguments;
pub mod cursor;
pub mod event;
pub mod glossary;
pub mod history;
pub mod message;
pub mod nearest;
pub mod openapi;
pub mod operation;
pub mod packets;
pub mod problem;
pub mod routes;
pub mod strict;

pub use arguments::{Fields, Misshapen};
pub use operation::Operation;
pub use problem::Problem;
pub use routes::{Method, ROUTES, Route};
