//! Seeded workloads, a naive reference model and an auditor.

pub mod compare;
pub mod conformance;
pub mod model;
pub mod random;
