//! OffsetFetch: what a transaction staged is not told before it is decided, and what it aborted never.

use fencepost_conformance::observed::{Answered, Asked, Event, OffsetsOf, Pair, Place};

use super::{Recording, judged, place};

/// UNSTABLE_OFFSET_COMMIT.
const UNSTABLE: i16 = 88;
const GROUP: &str = "group";

impl Recording {
    fn stage(&mut self, id: &str, producer: Pair, offset: i64) {
        let request = Asked::TxnOffsetCommit {
            version: 5,
            id: id.to_owned(),
            producer,
            group: GROUP.to_owned(),
            offsets: vec![(place(0), offset)],
        };
        self.exchange(request, Answered::Plain { error: 0 });
    }

    fn commit_plainly(&mut self, offset: i64) {
        let request = Asked::OffsetCommit {
            group: GROUP.to_owned(),
            offsets: vec![(place(0), offset)],
        };
        let verdicts = Vec::new();
        self.exchange(request, Answered::Each { verdicts });
    }

    /// OffsetFetch with its answer; the event that it is.
    fn offset(&mut self, require_stable: bool, offset: i64, error: i16) -> usize {
        let groups = vec![(GROUP.to_owned(), Some(vec![place(0)]))];
        let request = Asked::OffsetFetch {
            require_stable,
            groups,
        };
        let answer = OffsetsOf {
            group: GROUP.to_owned(),
            error: 0,
            offsets: vec![(place(0), offset, error)],
        };
        let groups = vec![answer];
        self.exchange(request, Answered::Offsets { groups })
    }
}

/// A commit of 7, then an abort of 9.
fn honest() -> Recording {
    let mut run = Recording::default();
    let none: &[&Place] = &[];
    run.offset(true, -1, 0);
    let mut producer = run.init("a");
    run.stage("a", producer, 7);
    run.offset(true, -1, UNSTABLE);
    run.offset(false, -1, 0);
    producer = run.end("a", producer, true, none);
    run.offset(true, -1, UNSTABLE);
    run.offset(true, 7, 0);
    run.stage("a", producer, 9);
    run.offset(true, -1, UNSTABLE);
    run.end("a", producer, false, none);
    run
}

fn refused_at(run: &Recording, event: usize, word: &str) {
    match judged(&run.events) {
        Ok(validator) => panic!("not refused: {:?}", validator.summary()),
        Err(refusal) => {
            assert_eq!(refusal.event, event as u64, "{refusal}");
            assert!(refusal.why.contains(word), "{refusal}");
        }
    }
}

#[test]
fn offsets_are_told_once_they_are_decided() {
    let mut run = honest();
    run.offset(true, 7, 0);
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(validator.summary().given_up, 0);
    assert!(validator.summary().judged >= 9, "{:?}", validator.summary());
}

#[test]
fn an_aborted_offset_is_refused() {
    let mut run = honest();
    let told = run.offset(true, 9, 0);
    refused_at(&run, told, "offset 7");
}

#[test]
fn an_offset_from_nowhere_is_refused() {
    let mut run = honest();
    let told = run.offset(false, 8, 0);
    refused_at(&run, told, "never committed");
}

#[test]
fn a_lost_commit_is_refused() {
    let mut run = Recording::default();
    run.offset(true, -1, 0);
    let producer = run.init("a");
    run.stage("a", producer, 7);
    run.end("a", producer, true, &[]);
    let told = run.offset(true, -1, 0);
    refused_at(&run, told, "UNSTABLE_OFFSET_COMMIT or offset 7");
}

/// Only the timer explains a stable answer; then the commit cannot be true.
#[test]
fn an_undecided_offset_that_was_passed_over_is_refused_at_its_commit() {
    let mut run = Recording::default();
    run.offset(true, -1, 0);
    let producer = run.init("a");
    run.stage("a", producer, 7);
    run.offset(true, -1, 0);
    run.end("a", producer, true, &[]);
    let end = run.events.len();
    refused_at(&run, end, "EndTxn");
}

#[test]
fn unstable_is_only_told_to_who_asks_for_it() {
    let mut run = honest();
    let told = run.offset(false, -1, UNSTABLE);
    refused_at(&run, told, "not asked for");
}

#[test]
fn unstable_without_a_staged_offset_is_refused() {
    let mut run = honest();
    run.offset(true, 7, 0);
    let told = run.offset(true, -1, UNSTABLE);
    refused_at(&run, told, "the model allows offset 7");
}

/// With two writers of one partition the model cannot tell whose offset is the last, but knows who may not be told.
#[test]
fn several_writers_of_an_offset_are_not_confused() {
    let mut run = honest();
    run.commit_plainly(11);
    run.offset(true, 11, 0);
    let producer = run.init("b");
    run.stage("b", producer, 13);
    run.offset(true, -1, UNSTABLE);
    run.end("b", producer, true, &[]);
    run.offset(true, 13, 0);
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(validator.summary().given_up, 0);
}

#[test]
fn a_group_of_kip_848_is_told_of() {
    let mut run = honest();
    let group = GROUP.to_owned();
    run.exchange(Asked::ConsumerGroup { group }, Answered::Plain { error: 0 });
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(validator.summary().consumer_groups, 1);
}

/// An operator's marker is no coordinator's: what follows of its id is not judged, and that is told.
#[test]
fn an_operators_marker_gives_its_id_up() {
    let mut run = honest();
    let markers = vec![fencepost_conformance::observed::MarkerAsked {
        producer: (1_001, 2),
        commit: false,
        coordinator_epoch: 0,
        version: 0,
        partitions: vec![place(0)],
    }];
    let verdicts = Vec::new();
    run.exchange(
        Asked::WriteTxnMarkers { markers },
        Answered::Each { verdicts },
    );
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(validator.summary().given_up, 1);
    assert!(matches!(run.events[0], Event::Asked { .. }));
}
