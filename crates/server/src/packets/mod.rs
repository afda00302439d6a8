//! Red packets for outsiders: what a plan produces, and whether a campaign was cut as promised. Uses nothing
//! of a deployment's secrets.

pub mod figures;
pub mod preview;
pub mod verification;

#[cfg(test)]
mod distribution_tests;

use sha2::{Digest, Sha256};

/// The hash of a seed, which is published before the seed is.
#[must_use]
pub fn commitment(seed: &[u8; 32]) -> [u8; 32] {
    Sha256::digest(seed).into()
}
