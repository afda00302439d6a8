//! The deterministic state machine of Scarce.
