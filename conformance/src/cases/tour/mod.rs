//! The transition tour: for each cell of the decision tables (request, state, answer) the shortest
//! way there, generated from the model and driven over the wire, with every step on the way judged.
//!
//! The ways stand in `tour/tv1.txt` and `tour/tv2.txt`, one for each cell and each level of
//! `transaction.version`; `FENCEPOST_RECORD=1 cargo test tour` writes them anew from the model. What
//! no client can drive is in [`UNDRIVEN`], with the reason.

mod cell_id;
mod command;
mod drive;
#[cfg(test)]
mod generate;
mod undriven;
mod ways;

pub use command::{Command, Place};
pub use undriven::{UNDRIVEN, Undriven};
pub use ways::{Tour, cases, is_toured};

use super::stage::FAR_EPOCH as FAR;

/// How much a way asks of the broker: nothing, a mark that stays until a reload, a held broker.
fn trouble(way: &[Command]) -> u8 {
    if way.contains(&Command::HoldLog) {
        2
    } else if way.iter().any(is_far_marker) {
        1
    } else {
        0
    }
}

/// A marker of a coordinator epoch that no coordinator reaches: the partition refuses the real
/// one's markers from there on.
fn is_far_marker(command: &Command) -> bool {
    matches!(command, Command::Marker(_, _, _, epoch) if *epoch == FAR)
}
