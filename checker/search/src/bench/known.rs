//! The benchmark on the known models.

use super::{BenchReport, bench_bfs};
use crate::checks::{Checks, TooManyProperties};
use crate::models::{InitPid, TwoPhase};

/// Measures the known models: `c4t1` (`InitPid` with four clients) and `two_phase_8`, each on one and two threads and
/// with stateright's `spawn_bfs` on one, the fastest of `repeats` runs (at least one); with `large`, `two_phase_9`
/// once (ten million states).
///
/// Ratios as [`BenchReport::compare`] names them.
///
/// # Errors
/// [`TooManyProperties`] never, as these models have few.
pub fn bench_known_models(repeats: usize, large: bool) -> Result<BenchReport, TooManyProperties> {
    let mut report = BenchReport::default();
    let model = InitPid::new(4, 1, 1);
    let checks = Checks::of_model(&model)?.stepping(InitPid::step_into);
    report.compare("c4t1", &model, &checks, repeats);
    let model = TwoPhase::new(8);
    report.compare("two_phase_8", &model, &Checks::of_model(&model)?, repeats);
    if large {
        let model = TwoPhase::new(9);
        let checks = Checks::of_model(&model)?;
        report
            .rows
            .push(bench_bfs("two_phase_9", &model, &checks, 2));
    }
    Ok(report)
}
