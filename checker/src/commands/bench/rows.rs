//! What a measurement of the cores or of lockstep says.

use crate::exit::Failure;
use crate::output::{bold, say, say_json};
use serde::Serialize;
use std::collections::BTreeMap;

/// One thing that was measured.
#[derive(Serialize)]
pub struct Row {
    /// What.
    pub name: &'static str,
    /// Always this tool.
    pub tool: &'static str,
    /// Threads used.
    pub threads: usize,
    /// Distinct states of the model, or transactional ids.
    pub distinct: u64,
    /// Steps compared, or decisions taken.
    pub generated: u64,
    /// Levels of a search; nothing here has any.
    pub depth: Option<u32>,
    /// Wall time.
    pub seconds: f64,
    /// Steps or decisions a second.
    pub per_second: f64,
    /// Bytes for each transactional id, where memory was measured.
    pub bytes_per_state: Option<f64>,
}

impl Row {
    /// So many steps over so many states in so many seconds.
    pub fn of(
        name: &'static str,
        threads: usize,
        distinct: u64,
        generated: u64,
        seconds: f64,
    ) -> Self {
        Self {
            name,
            tool: "fencepost",
            threads,
            distinct,
            generated,
            depth: None,
            seconds,
            per_second: generated as f64 / seconds.max(1e-9),
            bytes_per_state: None,
        }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    results: &'a [Row],
    ratios: BTreeMap<&'static str, f64>,
}

/// Prints the rows.
pub fn tell(rows: &[Row], json: bool) -> Result<(), Failure> {
    if json {
        let ratios = BTreeMap::new();
        return say_json(
            true,
            &Report {
                results: rows,
                ratios,
            },
        );
    }
    let mut text = bold(&format!(
        "{:<24} {:>7} {:>9} {:>10} {:>8} {:>10} {:>7}",
        "measured", "threads", "of", "steps", "seconds", "steps/s", "B each"
    ));
    text.push('\n');
    for row in rows {
        let bytes = row
            .bytes_per_state
            .map_or_else(|| "-".to_owned(), |bytes| format!("{bytes:.0}"));
        text.push_str(&format!(
            "{:<24} {:>7} {:>9} {:>10} {:>8.2} {:>10.0} {bytes:>7}\n",
            row.name, row.threads, row.distinct, row.generated, row.seconds, row.per_second
        ));
    }
    say(&text)
}

/// The fastest of several measurements.
pub fn fastest(repeats: u16, measure: impl Fn() -> Result<Row, Failure>) -> Result<Row, Failure> {
    (1..repeats).try_fold(measure()?, |best, _| {
        let row = measure()?;
        Ok(if row.seconds < best.seconds {
            row
        } else {
            best
        })
    })
}
