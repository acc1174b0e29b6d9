//! Beyond the bounds: random walks of thousands of steps through crowds of ids, clients, partitions, elections and
//! restarts, model and production compared at each step.
//!
//! The seed is printed; `FENCEPOST_SEED` sets another one, and `FENCEPOST_WALKS` how many walks each case takes.

use fencepost_conformance::lockstep::{Divergence, Lockstep, Tamper, Walk, replay};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::Message;
use fencepost_spec::scenario::{Entry, RuleSet, find};
use fencepost_spec::trace::TraceFile;
use fencepost_spec::world::World;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::path::Path;

const SEED: u64 = 890;

fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

/// A crowd under a rule set.
struct Crowd {
    entry: &'static Entry,
    rules: RuleSet,
    lockstep: Lockstep,
}

/// What the walks of a crowd came to.
#[derive(Debug, Default)]
struct Walked {
    walks: u64,
    steps: u64,
    longest: usize,
    refused: u64,
    crashes: u64,
}

impl Crowd {
    fn new(scenario: &str, rules: RuleSet) -> Self {
        let entry = find(scenario).expect("the catalogue has it");
        let world = World::new(entry.scenario(rules), entry.rules(rules));
        Self {
            entry,
            rules,
            lockstep: Lockstep::new(world),
        }
    }

    /// So many walks of up to 6,000 steps; the first on which the sides differ is shrunk, first as a list of choices,
    /// then as a list of actions.
    fn walk(&self, walks: u64, seed: u64) -> Result<Walked, Box<Divergence>> {
        let walked = RefCell::new(Walked::default());
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let config = Config {
            cases: u32::try_from(walks).unwrap_or(u32::MAX),
            max_shrink_iters: 100,
            failure_persistence: None,
            ..Config::default()
        };
        let choices = prop::collection::vec(any::<u32>(), 3_000..6_000);
        let found = TestRunner::new_with_rng(config, rng).run(&choices, |choices| {
            let walk = self.lockstep.walk(&choices);
            let mut walked = walked.borrow_mut();
            walked.walks += 1;
            walked.steps += walk.actions.len() as u64;
            walked.longest = walked.longest.max(walk.actions.len());
            walked.refused += walk.refused;
            walked.crashes += walk.crashes;
            match walk.mismatch {
                None => Ok(()),
                Some(_) => Err(TestCaseError::fail("the sides differ")),
            }
        });
        match found {
            Ok(()) => Ok(walked.into_inner()),
            Err(TestError::Fail(_, choices)) => Err(self.shortest(self.lockstep.walk(&choices))),
            Err(TestError::Abort(why)) => panic!("{why}"),
        }
    }

    fn shortest(&self, walk: Walk) -> Box<Divergence> {
        let short = self.lockstep.shorten(walk);
        let divergence = self.lockstep.divergence(&short, self.entry, self.rules);
        Box::new(divergence.expect("a shortened walk still differs"))
    }
}

#[test]
fn long_walks_through_crowds_agree() {
    let (seed, walks) = (
        number("FENCEPOST_SEED", SEED),
        number("FENCEPOST_WALKS", 12),
    );
    println!("FENCEPOST_SEED={seed} FENCEPOST_WALKS={walks}");
    // Over an upgrade, and through `crowd-wide`, the profile of mutants walks.
    for rules in [RuleSet::Tv1, RuleSet::Tv2] {
        let name = format!("crowd_{}", rules.name());
        let walked = Crowd::new("crowd", rules).walk(walks, seed);
        let walked = walked.unwrap_or_else(|divergence| {
            let saved = divergence.save(Path::new(env!("CARGO_TARGET_TMPDIR")), &name);
            panic!("seed {seed}: saved as {saved:?}\n{divergence}");
        });
        println!("{name}: {walked:?}");
        assert!(walked.longest > 1_000, "{name}: {walked:?}");
        assert!(walked.steps > 800 * walks, "{name}: {walked:?}");
        assert!(walked.crashes > 50 * walks, "{name}: {walked:?}");
    }
}

#[test]
fn a_walk_that_differs_becomes_a_short_trace_that_replays() {
    // Production says that a transaction of another identity was never heard of.
    let tamper = Tamper {
        sends: |message| {
            Some(match message {
                Message::CoordinatorAnswer(mut m) if m.error == ErrorCode::ProducerFenced => {
                    m.error = ErrorCode::InvalidProducerIdMapping;
                    Message::CoordinatorAnswer(m)
                }
                other => other,
            })
        },
        ..Tamper::NONE
    };
    let sound = Crowd::new("crowd", RuleSet::Tv2);
    let faulty = Crowd {
        lockstep: sound.lockstep.clone().tampered(tamper),
        ..sound
    };
    let divergence = faulty.walk(4, SEED).expect_err("the fault is found");
    assert!(divergence.steps < 60, "{divergence}");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let saved = divergence.save(directory, "random_fenced").expect("saved");
    let text = std::fs::read_to_string(saved).expect("readable");
    let file = TraceFile::read(&text).expect("a trace");
    // The fault is not in production itself, so there the trace is harmless.
    assert_eq!(replay(&file).ok(), Some(divergence.steps), "{divergence}");
}
