//! Faults that a test puts between our broker's shell and its cores, to show that the cases notice. Those in the cores
//! themselves are compiled into a twin of them (`impl/faulty`).

use fencepost::partition::Fetched;
use fencepost::{coordinator, group, partition};

/// A fault: a core is told something else than what happened, or something else is done than what it asks for.
#[derive(Clone, Copy, Debug)]
pub struct Tamper {
    /// What the transaction coordinator is told.
    pub coordinator_takes: fn(coordinator::Input) -> coordinator::Input,
    /// What it asks for.
    pub coordinator_asks: fn(coordinator::Effect) -> coordinator::Effect,
    /// What a data partition is told.
    pub partition_takes: fn(partition::Input) -> partition::Input,
    /// What it asks for.
    pub partition_asks: fn(partition::Effect) -> partition::Effect,
    /// What a group coordinator is told.
    pub group_takes: fn(group::Input) -> group::Input,
    /// What it asks for.
    pub group_asks: fn(group::Effect) -> group::Effect,
    /// What a reader is given.
    pub gives: fn(Fetched) -> Fetched,
}

impl Tamper {
    /// No fault: the start of every other one.
    pub const NONE: Self = Self {
        coordinator_takes: |input| input,
        coordinator_asks: |effect| effect,
        partition_takes: |input| input,
        partition_asks: |effect| effect,
        group_takes: |input| input,
        group_asks: |effect| effect,
        gives: |fetched| fetched,
    };
}
