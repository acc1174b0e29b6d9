//! The command line `fencepost`.

fn main() {}
