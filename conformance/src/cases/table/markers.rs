//! WriteTxnMarkers at a partition leader.
//!
//! The core cases send coordinator epoch 0, which no real coordinator is below, and raise an epoch
//! no further than the coordinator's own abort will: nothing of them outlives the case.

use super::*;
use crate::cases::stage::{Abort, Commit, MarkerForm, Outcome, Stage};

const KIP_98: &str = "KIP-98: WriteTxnMarkers";
const KIP_1228: &str = "KIP-1228: WriteTxnMarkers v2";

/// A marker at `epoch` over a transaction that is open at epoch 3.
fn over_open(s: &mut Stage, form: MarkerForm, epoch: i16) -> Outcome {
    s.ongoing(3)?;
    s.marker(form, s.at(epoch), Abort, 0)?;
    s.describe_producers()?;
    s.read()
}

/// Markers where nothing is open any more: below, equal, above, again, below.
fn over_closed(s: &mut Stage, form: MarkerForm) -> Outcome {
    s.ongoing(3)?;
    s.marker(MarkerForm::V1, s.me(), Abort, 0)?;
    for epoch in [2, 3, 4, 4, 3] {
        s.marker(form, s.at(epoch), Abort, 0)?;
    }
    s.read()
}

/// An older coordinator's marker after a newer one's.
fn older_coordinator(s: &mut Stage, form: MarkerForm) -> Outcome {
    s.ongoing(3)?;
    s.marker(MarkerForm::V1, s.me(), Abort, 5)?;
    s.marker(form, s.at(4), Abort, 4)?;
    s.marker(form, s.at(4), Abort, 5)?;
    s.marker(form, s.at(5), Abort, 6)?;
    s.marker(form, s.at(6), Abort, 5)?;
    s.marker(form, s.at(2), Abort, 1)?;
    s.read()
}

const V1: &[Need] = &[INIT_4, ADD_3, PRODUCE_11, MARKERS_1];
const V2: &[Need] = &[INIT_4, ADD_3, PRODUCE_11, MARKERS_1, MARKERS_2];

pub(super) const CASES: &[Case] = &[
    core(
        "markers/01",
        "v1-lower-epoch-is-refused",
        V1,
        KIP_98,
        "A marker below the partition's epoch is INVALID_PRODUCER_EPOCH and appends nothing.",
        |s| over_open(s, MarkerForm::V1, 2),
    ),
    core(
        "markers/02",
        "v1-equal-epoch-ends",
        V1,
        KIP_98,
        "A v1 marker at the partition's epoch ends the transaction.",
        |s| over_open(s, MarkerForm::V1, 3),
    ),
    core(
        "markers/03",
        "v1-higher-epoch-ends-and-raises",
        V1,
        KIP_98,
        "A marker above the partition's epoch ends the transaction and raises the epoch.",
        |s| over_open(s, MarkerForm::V1, 4),
    ),
    core(
        "markers/04",
        "v2-lower-epoch-is-refused",
        V2,
        KIP_1228,
        "A marker below the partition's epoch is INVALID_PRODUCER_EPOCH and appends nothing.",
        |s| over_open(s, MarkerForm::V2, 2),
    ),
    core(
        "markers/05",
        "v2-equal-epoch-is-refused-while-open",
        V2,
        KIP_1228,
        "A TV2 marker must carry a higher epoch than the open transaction's.",
        |s| over_open(s, MarkerForm::V2, 3),
    ),
    core(
        "markers/06",
        "v2-higher-epoch-ends-and-raises",
        V2,
        KIP_1228,
        "A TV2 marker one above ends the transaction and raises the epoch.",
        |s| over_open(s, MarkerForm::V2, 4),
    ),
    core(
        "markers/07",
        "v1-repeats",
        V1,
        "KIP-98; KAFKA-19999",
        "With nothing open a marker at the same or a higher epoch is appended again; below, refused.",
        |s| over_closed(s, MarkerForm::V1),
    ),
    core(
        "markers/08",
        "v2-repeats",
        V2,
        "KAFKA-19999: a retry is idempotent",
        "With nothing open a TV2 marker at the same epoch is accepted as a retry.",
        |s| over_closed(s, MarkerForm::V2),
    ),
    core(
        "markers/09",
        "v1-older-coordinator-is-fenced",
        V1,
        KIP_98,
        "A marker of an older coordinator epoch is TRANSACTION_COORDINATOR_FENCED; the producer \
         epoch is judged first.",
        |s| older_coordinator(s, MarkerForm::V1),
    )
    .at(Level::Fault),
    core(
        "markers/10",
        "v2-older-coordinator-is-fenced",
        V2,
        KIP_98,
        "The same for v2.",
        |s| older_coordinator(s, MarkerForm::V2),
    )
    .at(Level::Fault),
    core(
        "markers/11",
        "unknown-producer-is-accepted",
        &[INIT_4, MARKERS_1],
        OBSERVED,
        "A marker for a producer id that the partition does not know is appended.",
        |s| {
            s.empty(0)?;
            s.marker(MarkerForm::V1, s.me(), Commit, 0)?;
            s.read()
        },
    )
    .should()
    .at(Level::Full),
    core(
        "markers/12",
        "marker-fences-late-produce",
        V1,
        "KIP-98, KIP-890",
        "After a marker at a higher epoch the older epoch's Produce is INVALID_PRODUCER_EPOCH.",
        |s| {
            s.ongoing(3)?;
            s.marker(MarkerForm::V1, s.at(4), Abort, 0)?;
            s.produce(11, s.at(3), 1)?;
            s.read()
        },
    ),
    core(
        "markers/13",
        "commit-marker-publishes",
        V1,
        KIP_98,
        "A COMMIT marker alone makes the records visible.",
        |s| {
            s.ongoing(3)?;
            s.marker(MarkerForm::V1, s.me(), Commit, 0)?;
            s.read()
        },
    ),
    core(
        "markers/14",
        "last-epoch",
        V1,
        "KIP-98: 32767 is for fences and markers",
        "A marker at 32767 is accepted and repeated; below it everything is refused.",
        |s| {
            s.ongoing(3)?;
            s.marker(MarkerForm::V1, s.at(i16::MAX), Abort, 0)?;
            s.marker(MarkerForm::V1, s.at(i16::MAX), Abort, 0)?;
            s.marker(MarkerForm::V1, s.at(i16::MAX - 1), Abort, 0)?;
            s.read()
        },
    )
    .at(Level::Fault),
    core(
        "markers/15",
        "one-partition-at-a-time",
        V1,
        KIP_98,
        "A marker decides only the partition that it names.",
        |s| {
            s.ongoing(3)?;
            s.partition = 1;
            s.begin()?;
            s.marker(MarkerForm::V1, s.at(4), Abort, 0)?;
            s.read()?;
            s.partition = 0;
            s.read()
        },
    ),
];
