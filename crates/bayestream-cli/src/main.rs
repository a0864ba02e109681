//! The `bayestream` command.
fn main() {}
