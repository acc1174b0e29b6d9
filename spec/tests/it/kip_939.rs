//! The example of the KIP-939 page, tuple by tuple (row D3 of the documents), as a run of the model.
//!
//! Where the page prints 85 for the last fresh producer id, so does the model: the scenarios give the
//! block. The page's "crash the client a few times" is the gap between the two scenarios: 32764
//! take-overs, each of which adds one to the client's epoch.

use fencepost_spec::coordinator::{TransactionMetadata, TransactionState};
use fencepost_spec::scenario::{RuleSet, find};
use fencepost_spec::trace::Line;
use fencepost_spec::types::{Identity, ProducerEpoch, ProducerId};
use fencepost_spec::world::{State, World};
use std::fs;
use std::path::Path;

struct Run {
    world: World,
    state: State,
    lines: Vec<String>,
}

/// State, producer id and epoch, previous producer id, next producer id and epoch.
type Tuple = (TransactionState, (u8, i16), u8, Option<(u8, i16)>);

impl Run {
    fn of(name: &str) -> Self {
        let entry = find(name).expect("a scenario of the catalogue");
        let world = World::new(entry.scenario(RuleSet::Tv2), entry.rules(RuleSet::Tv2));
        let state = world.initial();
        Self {
            world,
            state,
            lines: Vec::new(),
        }
    }

    /// The run so far is the saved trace of this name, which `fencepost replay` takes too.
    fn is_saved_as(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/witness");
        let saved = fs::read_to_string(folder.join(name)).expect("a saved trace");
        let (_, steps) = saved.split_once("\n\n").expect("a header and steps");
        let steps: Vec<_> = steps.lines().collect();
        assert_eq!(steps, self.lines, "{name}");
    }

    /// Takes the one enabled action whose line begins so.
    fn take(&mut self, begins: &str) {
        let enabled = self.world.enabled(&self.state);
        let mut found: Vec<_> = enabled
            .into_iter()
            .filter(|(action, _)| Line::from(action).to_string().starts_with(begins))
            .collect();
        assert_eq!(found.len(), 1, "{begins}");
        let (action, state) = found.remove(0);
        self.lines.push(Line::from(&action).to_string());
        self.state = state;
    }

    /// A request reaches the coordinator and its record is replicated.
    fn decide(&mut self, begins: &str) -> Tuple {
        self.take(begins);
        self.append()
    }

    fn append(&mut self) -> Tuple {
        self.take("log append_txn_record");
        self.take("log commit_record");
        tuple(&self.state.log.committed[0].expect("the id has a record"))
    }

    fn answered(&mut self) {
        self.take("coordinator/0 append_txn_record_answer");
    }
}

fn tuple(m: &TransactionMetadata) -> Tuple {
    let pair = |i: Identity| (i.producer_id.0, i.producer_epoch.0);
    (
        m.state,
        pair(m.identity()),
        m.prev_producer_id.0,
        m.next.map(pair),
    )
}

const MAX: i16 = i16::MAX;

#[test]
fn a_crash_and_a_take_over_at_the_last_epoch() {
    use TransactionState::*;
    let mut run = Run::of("two-phase-rotation");
    run.take("P start");
    let empty = run.decide("coordinator/0 init_producer_id from=P");
    assert_eq!(empty, (Empty, (42, MAX - 1), 42, None));
    run.answered();
    run.take("p0 produce from=P");
    let ongoing = run.decide("coordinator/0 add_partition_by_broker");
    assert_eq!(ongoing, (Ongoing, (42, MAX - 1), 42, None));
    run.answered();
    run.take("p0 verify_answer");
    run.take("P prepare");
    run.take("P crash");
    run.take("Q start");
    let taken_over = run.decide("coordinator/0 init_producer_id from=Q");
    assert_eq!(taken_over, (Ongoing, (42, MAX - 1), 42, Some((73, 0))));
    run.take("Q crash");
    run.answered();
    run.take("R start");
    let again = run.decide("coordinator/0 init_producer_id from=R");
    assert_eq!(again, (Ongoing, (42, MAX - 1), 42, Some((73, 1))));
    run.is_saved_as("D3_kip_939_take_over_tv2.trace");
}

#[test]
fn the_clients_epoch_overflows_too() {
    use TransactionState::*;
    let mut run = Run::of("two-phase-double-overflow");
    run.take("Q start");
    let last = run.decide("coordinator/0 init_producer_id from=Q");
    assert_eq!(last, (Ongoing, (42, MAX - 1), 42, Some((73, MAX - 1))));
    run.take("manager decide result=commit");
    run.answered();
    let prepared = run.decide("coordinator/0 end_txn from=Q");
    assert_eq!(prepared, (PrepareCommit, (42, MAX), 73, Some((85, 0))));
    run.answered();
    let told = run.state.producers[1].identity;
    assert_eq!(told, Some(Identity::new(ProducerId(85), ProducerEpoch(0))));
    run.take("p0 write_txn_markers");
    let complete = run.append();
    assert_eq!(complete, (CompleteCommit, (85, 0), 73, None));
    run.is_saved_as("D3_kip_939_double_overflow_tv2.trace");
}
