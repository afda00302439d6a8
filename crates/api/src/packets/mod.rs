//! Red packets for outsiders: what a plan produces, and whether a campaign was cut as promised. Uses nothing
//! of a deployment's secrets.

pub mod figures;
pub mod preview;
pub mod verification;

#[cfg(test)]
mod distribution_tests;
