//! Seeded workloads, a naive reference model and an auditor.
