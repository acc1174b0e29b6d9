//! The benchmark on the known models.

use std::fmt::Debug;

use super::{BenchRow, bench_bfs, bench_spawn_bfs};
use crate::checks::{Checks, TooManyProperties};
use crate::model::SearchModel;
use crate::models::{InitPid, TwoPhase};

/// What [`bench_known_models`] measured.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownReport {
    /// Every measured search; of repeated ones, the fastest.
    pub rows: Vec<BenchRow>,
    /// Named ratios of speeds. A ratio is left out when the counts differ.
    pub ratios: Vec<(String, f64)>,
}

/// Measures the known models: `c4t1` (`InitPid` with four clients) and `two_phase_8`, each on one and two threads and
/// with stateright's `spawn_bfs` on one, the fastest of `repeats` runs (at least one); with `large`, `two_phase_9`
/// once (ten million states).
///
/// Ratios: `NAME_vs_spawn_bfs` on one thread, and `NAME_two_threads` over one thread.
///
/// # Errors
/// [`TooManyProperties`] never, as these models have few.
pub fn bench_known_models(repeats: usize, large: bool) -> Result<KnownReport, TooManyProperties> {
    let mut report = KnownReport {
        rows: Vec::new(),
        ratios: Vec::new(),
    };
    report.compare("c4t1", &InitPid::new(4, 1, 1), repeats)?;
    report.compare("two_phase_8", &TwoPhase::new(8), repeats)?;
    if large {
        let model = TwoPhase::new(9);
        let checks = Checks::of_model(&model)?;
        report
            .rows
            .push(bench_bfs("two_phase_9", &model, &checks, 2));
    }
    Ok(report)
}

impl KnownReport {
    fn compare<M>(&mut self, name: &str, model: &M, repeats: usize) -> Result<(), TooManyProperties>
    where
        M: SearchModel + Clone + Send + 'static,
        M::State: Debug + 'static,
        M::Action: Debug + PartialEq + Sync,
    {
        let checks = Checks::of_model(model)?;
        let one = fastest(repeats, || bench_bfs(name, model, &checks, 1));
        let two = fastest(repeats, || bench_bfs(name, model, &checks, 2));
        let spawn = fastest(repeats, || bench_spawn_bfs(name, model.clone(), 1));
        let ratios = [
            ("vs_spawn_bfs", one.times_as_fast_as(&spawn)),
            ("two_threads", two.times_as_fast_as(&one)),
        ];
        for (what, ratio) in ratios {
            self.ratios
                .extend(ratio.map(|ratio| (format!("{name}_{what}"), ratio)));
        }
        self.rows.extend([one, two, spawn]);
        Ok(())
    }
}

fn fastest(repeats: usize, measure: impl Fn() -> BenchRow) -> BenchRow {
    (1..repeats).fold(measure(), |best, _| {
        let row = measure();
        if row.seconds < best.seconds {
            row
        } else {
            best
        }
    })
}
