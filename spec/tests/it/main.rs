//! What the model is held to: two hosts, two granularities, renamed ghosts, pinned counts.

mod catalogue;
mod digests;
mod granularity;
mod guards;
mod hosts;
mod kip_939;
mod large;
mod liveness;
mod repaired;
mod search;
mod spilled;
mod stepping;
mod symmetry;
