//! Random walks: requests chosen by a seed, from every identity near the stored one, often before
//! the broker has finished what came before. The model's set of answers judges each of them.

use fencepost_spec::types::*;

use super::case::{Body, Case, Level, Need, Requirement};
use super::stage::{Manner, Outcome, Stage};
use super::tour::{Command, Place};

/// Requests of a walk, reads not counted: as many as the model's small offsets hold.
const LENGTH: usize = 60;
/// Requests between two looks at everything.
const LOOK_EVERY: usize = 12;

/// Requests between two restarts, on average, of a broker that restarts at once.
const RESTART_EVERY: u64 = 12;

/// How much is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walks {
    /// Exchanges with the broker, at least; 0 for no walk.
    pub steps: usize,
    /// The first walk's seed; the next ones follow it.
    pub seed: u64,
    /// Walks at the same time.
    pub parallel: usize,
}

impl Default for Walks {
    fn default() -> Self {
        Self {
            steps: 0,
            seed: 1,
            parallel: 2,
        }
    }
}

const NEEDS: &[Need] = &[
    Need::Api {
        key: 0,
        name: "Produce",
        version: 11,
    },
    Need::Api {
        key: 22,
        name: "InitProducerId",
        version: 4,
    },
    Need::Api {
        key: 24,
        name: "AddPartitionsToTxn",
        version: 4,
    },
    Need::Api {
        key: 25,
        name: "AddOffsetsToTxn",
        version: 3,
    },
    Need::Api {
        key: 26,
        name: "EndTxn",
        version: 4,
    },
    Need::Api {
        key: 28,
        name: "TxnOffsetCommit",
        version: 4,
    },
];

/// The walk of a seed.
pub fn case(seed: u64) -> Case {
    Case {
        // One short text for each walk of a run.
        id: Box::leak(format!("walk/{seed}").into_boxed_str()),
        name: "random-walk",
        requirement: Requirement::Should,
        level: Level::Full,
        needs: NEEDS,
        source: "the model",
        title: "Whatever is asked next, the answer is one that the model allows.",
        body: Body::Walk(seed),
    }
}

/// The walk that an id names.
pub fn named(id: &str) -> Option<Case> {
    let seed = id.strip_prefix("walk/")?.parse().ok()?;
    Some(case(seed))
}

/// Walks.
pub fn play(stage: &mut Stage, seed: u64) -> Outcome {
    let mut random = Random(seed);
    stage.init()?;
    let produces = match stage.is_tv2() && random.below(4) > 0 {
        true => TransactionVersion::Tv2,
        false => TransactionVersion::Tv1,
    };
    let restarts = stage.restarts_at_once();
    for step in 1..=LENGTH {
        if random.below(12) == 0 {
            stage.switch();
        }
        if restarts && random.below(RESTART_EVERY) == 0 {
            match random.below(3) {
                0 => stage.restart_broker(false)?,
                1 => stage.restart_broker(true)?,
                _ => stage.fail_over()?,
            }
        }
        if random.below(3) > 0 {
            stage.settle_if_busy()?;
        }
        let command = choose(stage, produces, &mut random);
        stage.put(Manner::Once);
        stage.drive(command)?;
        stage.put(Manner::Insisting);
        if step % LOOK_EVERY == 0 {
            // Several answers make up a look, so nothing may move between them.
            stage.settle_if_busy()?;
            stage.describe()?;
            stage.read()?;
        }
    }
    stage.settle_if_busy()?;
    stage.compare_all()
}

/// A client sends one version of Produce; the model tells the questions of two apart, Kafka does
/// not (docs/DEVIATIONS.md).
fn choose(stage: &Stage, produces: TransactionVersion, random: &mut Random) -> Command {
    use TransactionVersion::{Tv1, Tv2};
    let who = identity(stage, random);
    let at = Place {
        who,
        partition: random.below(2) as u8,
    };
    let tv2 = stage.takes_tv2();
    let version = if tv2 && random.below(2) == 0 {
        Tv2
    } else {
        Tv1
    };
    let result = match random.below(2) {
        0 => TransactionResult::Commit,
        _ => TransactionResult::Abort,
    };
    match random.below(100) {
        0..6 => Command::Init(None),
        6..10 => Command::Init(Some(who)),
        10..24 => Command::Add(at),
        24..28 => Command::AddOffsets(who),
        28..34 => Command::Verify(at),
        34..40 if tv2 => Command::AddByBroker(at),
        34..60 => Command::End(version, result, who),
        60..90 => Command::Produce(produces, at, sequence(stage, at, random)),
        90..92 if produces == Tv1 => {
            // A plain batch of a later epoch would hold its own coordinator's markers for good.
            let who = stage.stored();
            let at = Place { who, ..at };
            Command::ProducePlain(at, sequence(stage, at, random))
        }
        90..97 => Command::Stage(produces, who, None),
        _ => Command::FetchOffset,
    }
}

/// The stored identity most of the time, else one beside it or a stranger's.
fn identity(stage: &Stage, random: &mut Random) -> Identity {
    let me = stage.stored();
    let at = |by| {
        let epoch = me.producer_epoch.0.saturating_add(by).max(0);
        Identity::new(me.producer_id, ProducerEpoch(epoch))
    };
    match random.below(20) {
        0..14 => me,
        14 | 15 => stage.me(),
        16 => at(-1),
        17 | 18 => at(1),
        _ => stage.stranger(),
    }
}

/// The next sequence most of the time, else a copy, a gap or the first one.
fn sequence(stage: &Stage, at: Place, random: &mut Random) -> i32 {
    let next = stage
        .oracle()
        .any_state()
        .and_then(|state| state.partitions[usize::from(at.partition)].producer(at.who.producer_id))
        .filter(|entry| entry.epoch == at.who.producer_epoch)
        .and_then(|entry| entry.batches.last())
        .map_or(0, |batch| batch.sequence.0 + 1);
    match random.below(10) {
        0..7 => next,
        7 => (next - 1).max(0),
        8 => next + 3,
        _ => 0,
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `end`, without `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
