//! Searches of one model, compared.

use std::fmt::Debug;

use super::{BenchRow, bench_bfs, bench_spawn_bfs};
use crate::checks::Checks;
use crate::model::SearchModel;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchReport {
    /// Every measured search; of repeated ones, the fastest.
    pub rows: Vec<BenchRow>,
    /// Named ratios of speeds. A ratio is left out when the counts differ.
    pub ratios: Vec<(String, f64)>,
}

impl BenchReport {
    /// Measures a model on one and on two threads, and with stateright's `spawn_bfs` on one, in turn, `repeats` times
    /// (at least once), of which the fastest count.
    ///
    /// Ratios: `NAME_vs_spawn_bfs`, both on one thread; `threads_2_NAME`, two threads over one; and
    /// `two_at_once_NAME`, the states of two searches of one thread each that run at once over those of one that runs
    /// alone, in the same time: what the machine has to give to a second thread that shares nothing with the first.
    pub fn compare<M>(&mut self, name: &str, model: &M, checks: &Checks<M>, repeats: usize)
    where
        M: SearchModel + Clone + Send + 'static,
        M::State: Debug + 'static,
        M::Action: Debug + PartialEq + Sync,
    {
        let measure = || {
            [
                bench_bfs(name, model, checks, 1),
                bench_bfs(name, model, checks, 2),
                bench_spawn_bfs(name, model.clone(), 1),
                at_once(name, model, checks),
            ]
        };
        let [one, two, spawn, pair] = (1..repeats).fold(measure(), |mut best, _| {
            for (best, row) in best.iter_mut().zip(measure()) {
                if row.seconds < best.seconds {
                    *best = row;
                }
            }
            best
        });
        self.add_ratio(format!("{name}_vs_spawn_bfs"), &one, &spawn);
        self.add_ratio(format!("threads_2_{name}"), &two, &one);
        let of_two = 2.0 * one.seconds / pair.seconds.max(1e-9);
        self.ratios.push((format!("two_at_once_{name}"), of_two));
        self.rows.extend([one, two, spawn]);
    }

    /// Notes how many times as fast one row is as another, if they counted the same states.
    pub fn add_ratio(&mut self, name: String, row: &BenchRow, other: &BenchRow) {
        self.ratios
            .extend(row.times_as_fast_as(other).map(|ratio| (name, ratio)));
    }
}

/// Two searches of one thread each at once: the slower of them.
fn at_once<M: SearchModel>(name: &str, model: &M, checks: &Checks<M>) -> BenchRow {
    let search = || bench_bfs(name, model, checks, 1);
    let (own, other) = std::thread::scope(|scope| {
        let other = scope.spawn(search);
        let own = search();
        // A panic of the other goes on here.
        (
            own,
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    });
    if own.seconds < other.seconds {
        other
    } else {
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::TwoPhase;

    #[test]
    fn every_search_has_a_row_and_every_comparison_a_name() {
        let model = TwoPhase::new(4);
        let checks = Checks::of_model(&model).unwrap();
        let mut report = BenchReport::default();
        report.compare("four", &model, &checks, 2);
        let rows: Vec<_> = report
            .rows
            .iter()
            .map(|row| (row.tool, row.threads))
            .collect();
        assert_eq!(
            rows,
            [("fencepost", 1), ("fencepost", 2), ("stateright", 1)]
        );
        let names: Vec<_> = report.ratios.iter().map(|(name, _)| &name[..]).collect();
        assert_eq!(
            names,
            ["four_vs_spawn_bfs", "threads_2_four", "two_at_once_four"]
        );
        assert!(report.ratios.iter().all(|(_, ratio)| *ratio > 0.0));
        let counts = |row: &BenchRow| (row.distinct, row.generated, row.depth);
        assert!(
            report
                .rows
                .iter()
                .all(|row| counts(row) == counts(&report.rows[0]))
        );
    }
}
