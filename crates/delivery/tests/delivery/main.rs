//! Delivery between real databases, real engines and real receivers.

mod consumers;
mod databases;
mod documents;
mod endpoints;
mod kit;
mod lost_tables;
mod operation_ids;
mod outside;
mod plans;
mod processes;
mod put_back;
mod rollbacks;
mod secrets;
mod settlement;
mod settlement_faults;
mod unresolved;
mod webhook_faults;
mod webhooks;
