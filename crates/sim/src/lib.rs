//! Seeded workloads, a naive reference model and an auditor.

pub mod model;
