//! Zombies: an older instance of an id can do nothing once a newer one was given its epoch.

use super::*;
use crate::cases::stage::{Abort, Commit, Outcome, Stage};

const KIP_98: &str = "KIP-98: zombie fencing";

/// An instance with an open transaction is replaced; the identity of the zombie.
fn replaced(s: &mut Stage) -> Result<fencepost_spec::types::Identity, crate::cases::stage::Stop> {
    s.ongoing(0)?;
    let zombie = s.me();
    s.init()?;
    s.settle()?;
    s.init()?;
    Ok(zombie)
}

fn nothing_written(s: &mut Stage) -> Outcome {
    s.settle()?;
    s.describe()?;
    s.read()
}

pub(super) const CASES: &[Case] = &[
    core(
        "fence/01",
        "zombie-add",
        ONE_TRANSACTION,
        KIP_98,
        "A zombie's AddPartitionsToTxn is PRODUCER_FENCED.",
        |s| {
            let zombie = replaced(s)?;
            s.add(3, zombie)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/02",
        "zombie-produce",
        ONE_TRANSACTION,
        KIP_98,
        "A zombie's Produce v11 is INVALID_PRODUCER_EPOCH and appends nothing.",
        |s| {
            let zombie = replaced(s)?;
            s.produce(11, zombie, 1)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/03",
        "zombie-commit",
        ONE_TRANSACTION,
        KIP_98,
        "A zombie's commit is PRODUCER_FENCED; its transaction stays aborted.",
        |s| {
            let zombie = replaced(s)?;
            s.end(4, zombie, Commit)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/04",
        "zombie-abort",
        ONE_TRANSACTION,
        KIP_98,
        "A zombie's abort is PRODUCER_FENCED.",
        |s| {
            let zombie = replaced(s)?;
            s.end(4, zombie, Abort)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/05",
        "zombie-commit-v5",
        ONE_V5,
        KIP_98,
        "A zombie's EndTxn v5 is refused after the newer instance began.",
        |s| {
            let zombie = replaced(s)?;
            s.end(5, zombie, Commit)?;
            s.end(5, zombie, Abort)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/06",
        "zombie-does-not-end-the-successor",
        ONE_TRANSACTION,
        KIP_98,
        "A zombie's EndTxn does not touch the transaction of its successor.",
        |s| {
            let zombie = replaced(s)?;
            s.begin()?;
            let successor = s.me();
            s.end(4, zombie, Commit)?;
            s.end(4, zombie, Abort)?;
            s.end(4, successor, Commit)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/07",
        "zombie-produce-into-the-successor",
        ONE_TRANSACTION,
        KIP_98,
        "A zombie's Produce does not join the transaction of its successor.",
        |s| {
            let zombie = replaced(s)?;
            s.begin()?;
            let successor = s.me();
            s.produce(11, zombie, 1)?;
            s.produce(11, successor, 1)?;
            s.end(4, successor, Commit)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/08",
        "zombie-init-with-its-pair",
        ONE_TRANSACTION,
        "KIP-360",
        "A zombie cannot come back with the pair that it held.",
        |s| {
            let zombie = replaced(s)?;
            s.init_expecting(zombie)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/09",
        "zombie-produce-v12",
        &[INIT_4, ADD_3, PRODUCE_11, PRODUCE_12, TV1],
        KIP_98,
        "A zombie's Produce v12 neither appends nor adds.",
        |s| {
            let zombie = replaced(s)?;
            s.produce(12, zombie, 1)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/10",
        "zombie-on-a-partition-it-never-wrote",
        ONE_TRANSACTION,
        "KIP-890 part 1: verification",
        "A zombie's Produce to a partition that has never seen its id is refused too.",
        |s| {
            let zombie = replaced(s)?;
            s.partition = 1;
            s.produce(11, zombie, 0)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/11",
        "never-given-epoch",
        ONE_TRANSACTION,
        KIP_98,
        "An epoch that was never given can neither add nor end nor produce.",
        |s| {
            s.ongoing(1)?;
            s.add(3, s.at(7))?;
            s.end(4, s.at(7), Commit)?;
            s.partition = 1;
            s.produce(11, s.at(7), 0)?;
            nothing_written(s)
        },
    ),
    core(
        "fence/12",
        "other-id-is-not-fenced",
        ONE_TRANSACTION,
        KIP_98,
        "Fencing one transactional id leaves another one's transaction alone.",
        |s| {
            s.switch();
            s.ongoing(0)?;
            s.switch();
            replaced(s)?;
            s.switch();
            s.end(4, s.me(), Commit)?;
            nothing_written(s)
        },
    ),
];
