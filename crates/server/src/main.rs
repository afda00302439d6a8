//! The `scarce` binary.

fn main() {}
