//! What takes our own broker: its clock is moved on, its disk fails, it starts again in the middle. They are asked by the
//! profile of mutants only, so they are in no list of what a foreign broker is asked.

mod absent;
mod disk;
mod epoch;
mod group;
mod lead;
mod load;
mod party;
mod rights;
mod size;
mod time;
mod undone;

use super::{Case, Level, Need, Outcome, Stage, core};
use crate::cases::judge::Configuration;
use crate::wire::GroupMember;

/// Every one of them, in the order of the areas and of the ids.
pub(in crate::cases) fn all() -> Vec<Case> {
    [
        time::CASES,
        load::CASES,
        disk::CASES,
        size::CASES,
        group::CASES,
        party::CASES,
        absent::CASES,
        epoch::CASES,
        lead::CASES,
        rights::CASES,
        undone::CASES,
    ]
    .concat()
}

const OURS: &[Need] = &[Need::Judge(Configuration::OneNode)];

const fn ours(
    id: &'static str,
    name: &'static str,
    source: &'static str,
    title: &'static str,
    body: fn(&mut Stage) -> Outcome,
) -> Case {
    core(id, name, OURS, source, title, body).at(Level::Fault)
}

/// Another epoch than the member's.
fn of_generation(member: &GroupMember, by: i32) -> GroupMember {
    GroupMember {
        generation_id: member.generation_id + by,
        ..member.clone()
    }
}
