//! KIP-939: a transaction that was prepared is kept, nobody times it out, and its new owner ends it.

use fencepost_conformance::observed::{Answered, Asked, Pair};

use super::{Recording, identity, judged, place};

impl Recording {
    fn init_two_phase(&mut self, keep: bool, producer: Pair, ongoing: Option<Pair>) -> usize {
        let request = Asked::InitProducerId {
            id: Some("a".to_owned()),
            expected: None,
            two_phase: true,
            keep_prepared: keep,
        };
        let answer = Answered::Identity {
            error: 0,
            producer,
            ongoing,
        };
        self.exchange(request, answer)
    }

    fn decide(&mut self, producer: Pair, next: Pair) -> usize {
        let request = Asked::EndTxn {
            version: 5,
            id: "a".to_owned(),
            producer,
            commit: true,
        };
        self.exchange(request, identity(0, next))
    }
}

/// Data of (1001,0), and a new instance that takes it over.
fn taken_over(client: Pair, ongoing: Option<Pair>) -> (Recording, usize) {
    let mut run = Recording::default();
    run.init_two_phase(false, (1_001, 0), None);
    run.produce("a", (1_001, 0), &place(0), 0);
    let told = run.init_two_phase(true, client, ongoing);
    (run, told)
}

#[test]
fn a_prepared_transaction_is_kept_and_ended_by_who_took_it_over() {
    let (mut run, _) = taken_over((1_001, 1), Some((1_001, 0)));
    run.decide((1_001, 1), (1_001, 2));
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(validator.summary().given_up, 0);
    assert!(validator.summary().judged >= 3, "{:?}", validator.summary());
}

#[test]
fn the_transaction_that_goes_on_must_be_named() {
    for ongoing in [None, Some((1_001, 1)), Some((1_002, 0))] {
        let (run, told) = taken_over((1_001, 1), ongoing);
        let refusal = judged(&run.events).expect_err("another transaction");
        assert_eq!(refusal.event, told as u64, "{ongoing:?}: {refusal}");
    }
}

#[test]
fn the_new_owner_has_the_next_epoch() {
    for client in [(1_001, 0), (1_001, 2)] {
        let (run, told) = taken_over(client, Some((1_001, 0)));
        let refusal = judged(&run.events).expect_err("another identity");
        assert_eq!(refusal.event, told as u64, "{client:?}: {refusal}");
    }
}

#[test]
fn a_prepared_transaction_is_not_timed_out() {
    for two_phase in [false, true] {
        let mut run = Recording::default();
        let producer = match two_phase {
            false => run.init("a"),
            true => {
                run.init_two_phase(false, (1_001, 0), None);
                (1_001, 0)
            }
        };
        run.produce("a", producer, &place(0), 0);
        // The abort marker of a timer.
        let log = run.logs.entry(place(0)).or_default();
        log.push(fencepost_conformance::observed::Stored {
            offset: 2,
            last: 2,
            producer: (producer.0, 1),
            sequence: -1,
            transactional: true,
            marker: Some(false),
        });
        run.fetch(&place(0), 0);
        assert_eq!(judged(&run.events).is_err(), two_phase);
    }
}
