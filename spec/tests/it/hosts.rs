//! The world and the actor model are two hosts of one set of actors: their counts are equal.
//!
//! Where a request can meet an open transaction the retriable answers are really sent: a request
//! that the world leaves in flight while it fences would come back from another sender here.

use fencepost_search::{Checks, Options, run_bfs};
use fencepost_spec::actor_model::actor_model;
use fencepost_spec::client::Workload;
use fencepost_spec::fault::Fault;
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::types::TransactionVersion::{self, Tv1, Tv2};
use fencepost_spec::world::World;
use stateright::{Checker, Model};

/// The scenario as both hosts have it: every delivery a step, nothing pruned.
fn world(scenario: Scenario, version: TransactionVersion) -> World {
    let scenario = Scenario {
        prune: false,
        ..scenario
    };
    World::new(scenario, Rules::kafka(version))
}

fn plain(partitions: &[u8], transactions: u8) -> Scenario {
    Scenario::plain(vec![Workload::sending(partitions, transactions)], 2)
}

fn counts_agree(scenario: Scenario, version: TransactionVersion) -> u64 {
    let world = world(scenario, version);
    let actors = actor_model(&world).expect("the actor model has all that the scenario needs");
    let none = Checks::new(["none"], |_: &World, _| 0, |_, _| 0).expect("one property");
    let ours = run_bfs(&world, &none, &Options::default());
    let theirs = actors.checker().spawn_bfs().join();
    assert_eq!(ours.distinct, theirs.unique_state_count() as u64);
    assert_eq!(ours.generated, theirs.state_count() as u64);
    ours.distinct
}

#[test]
fn one_producer_without_faults() {
    for version in [Tv1, Tv2] {
        assert!(counts_agree(plain(&[0, 1], 2), version) > 300);
    }
}

#[test]
fn one_producer_that_sends_a_request_again() {
    for version in [Tv1, Tv2] {
        let scenario = plain(&[0, 1], 2).fault(Fault::ResendRequest, 1).answering();
        assert!(counts_agree(scenario, version) > 2_000);
    }
}

#[test]
fn markers_that_are_sent_again() {
    for version in [Tv1, Tv2] {
        let scenario = plain(&[0, 1], 2).fault(Fault::ResendMarker, 1);
        assert!(counts_agree(scenario, version) > 1_000);
    }
}

#[test]
fn two_instances_and_a_time_out() {
    for version in [Tv1, Tv2] {
        let p = Workload::sending(&[0], 1);
        let scenario = Scenario::plain(vec![p.clone(), p], 1)
            .fault(Fault::Timer, 1)
            .answering();
        assert!(counts_agree(scenario, version) > 2_000);
    }
}

#[test]
fn staged_offsets() {
    for version in [Tv1, Tv2] {
        let scenario = Scenario::plain(vec![Workload::sending(&[0], 2).with_offset()], 1)
            .fault(Fault::ResendRequest, 1)
            .answering();
        assert!(counts_agree(scenario, version) > 2_000);
    }
}

#[test]
fn what_the_actor_model_lacks_is_refused() {
    let election = plain(&[0], 1).fault(Fault::Election, 1);
    assert!(actor_model(&world(election, Tv2)).is_none());
    assert!(actor_model(&world(plain(&[0], 1).eager(), Tv2)).is_none());
}

#[test]
fn staterights_own_search_counts_the_same_world() {
    for (name, rules) in [("smoke", Tv1), ("smoke", Tv2), ("timer-once", Tv1)] {
        let entry = fencepost_spec::scenario::find(name).expect("a scenario of the catalogue");
        let set = match rules {
            Tv1 => fencepost_spec::scenario::RuleSet::Tv1,
            Tv2 => fencepost_spec::scenario::RuleSet::Tv2,
        };
        let world = World::new(entry.scenario(set), entry.rules(set));
        let ours = super::search::search(&world);
        let theirs = world.checker().spawn_bfs().join();
        assert_eq!(ours.distinct, theirs.unique_state_count() as u64, "{name}");
        assert_eq!(ours.generated, theirs.state_count() as u64, "{name}");
    }
}
