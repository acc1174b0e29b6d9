//! Measuring searches: this engine's, and stateright's on the identical model.

mod known;
mod report;

pub use known::bench_known_models;
pub use report::BenchReport;

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

use stateright::{Checker, Model};

use crate::bfs::run_bfs;
use crate::checks::Checks;
use crate::model::SearchModel;
use crate::options::Options;

/// One measured search.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRow {
    /// What was searched.
    pub name: String,
    /// "fencepost" or "stateright".
    pub tool: &'static str,
    /// Threads used.
    pub threads: usize,
    /// Distinct states.
    pub distinct: u64,
    /// Generated states, initial ones and duplicates included.
    pub generated: u64,
    /// Levels; the initial states are level 1.
    pub depth: u32,
    /// Wall time.
    pub seconds: f64,
    /// Distinct states a second.
    pub per_second: f64,
    /// Bytes for each visited state, its parent link included, the frontier apart; `None` where the tool cannot say.
    pub bytes_per_state: Option<f64>,
    /// The type of the state.
    pub state_type: &'static str,
    /// Its size in bytes, without what it points to.
    pub state_size: usize,
}

impl BenchRow {
    /// How many times as fast as another row; `None` when they did not count the same states.
    pub fn times_as_fast_as(&self, other: &BenchRow) -> Option<f64> {
        ((self.distinct, self.generated) == (other.distinct, other.generated))
            .then(|| self.per_second / other.per_second)
    }
}

/// Measures [`run_bfs`]: properties judged, parents kept.
pub fn bench_bfs<M: SearchModel>(
    name: &str,
    model: &M,
    checks: &Checks<M>,
    threads: usize,
) -> BenchRow {
    let options = Options {
        threads,
        ..Options::default()
    };
    let outcome = run_bfs(model, checks, &options);
    BenchRow {
        name: name.to_owned(),
        tool: "fencepost",
        threads,
        distinct: outcome.distinct,
        generated: outcome.generated,
        depth: outcome.depth,
        seconds: outcome.seconds,
        per_second: outcome.per_second(),
        bytes_per_state: Some(outcome.bytes_per_state),
        state_type: std::any::type_name::<M::State>(),
        state_size: size_of::<M::State>(),
    }
}

/// Measures stateright's `spawn_bfs` on the same model, with the model's own properties. With several threads its
/// depth is not the number of levels, and it stops early unless some `always` property holds.
pub fn bench_spawn_bfs<M>(name: &str, model: M, threads: usize) -> BenchRow
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let started = Instant::now();
    let checker = model.checker().threads(threads).spawn_bfs().join();
    let seconds = started.elapsed().as_secs_f64();
    let distinct = checker.unique_state_count() as u64;
    BenchRow {
        name: name.to_owned(),
        tool: "stateright",
        threads,
        distinct,
        generated: checker.state_count() as u64,
        depth: checker.max_depth() as u32,
        seconds,
        per_second: distinct as f64 / seconds.max(1e-9),
        bytes_per_state: None,
        state_type: std::any::type_name::<M::State>(),
        state_size: size_of::<M::State>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::TwoPhase;

    #[test]
    fn both_tools_count_the_same_and_only_then_is_there_a_ratio() {
        let model = TwoPhase::new(5);
        let own = bench_bfs("five", &model, &Checks::of_model(&model).unwrap(), 1);
        let other = bench_spawn_bfs("five", model, 1);
        assert_eq!(
            (own.distinct, own.generated, own.depth),
            (8_832, 58_146, 17)
        );
        assert_eq!(
            (other.distinct, other.generated, other.depth),
            (8_832, 58_146, 17)
        );
        assert!(
            own.times_as_fast_as(&other)
                .is_some_and(|ratio| ratio > 0.0)
        );
        let less = bench_spawn_bfs("four", TwoPhase::new(4), 1);
        assert_eq!(own.times_as_fast_as(&less), None);
    }
}
