//! The bounds of a search, with their units.

use clap::Args;
use std::time::Duration;

/// The bounds of a search. A run that meets one is incomplete, never "holds".
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// Threads; by default as many as the machine has cores.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Stop a run at this many distinct states.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_states: Option<u64>,
    /// Stop when the process holds this much memory, as in 2GiB or 500MB.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
    /// Stop a run after this time, as in 90s, 5m or 1h.
    #[arg(long, value_name = "T", value_parser = time)]
    pub time_limit: Option<Duration>,
}

impl Limits {
    /// The threads to use.
    pub fn thread_count(&self) -> usize {
        self.threads.map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            usize::from,
        )
    }
}

fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("G", 1 << 30),
        ("M", 1 << 20),
    ];
    let unit = UNITS.iter().find(|(suffix, _)| text.ends_with(suffix));
    let (number, factor) = unit.map_or((text, 1), |(suffix, factor)| {
        (text.trim_end_matches(suffix), *factor)
    });
    number
        .trim()
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .filter(|n| *n > 0)
        .ok_or_else(|| "expected a size as in 2GiB, 500MB or 1000000".to_owned())
}

/// Seconds, minutes or hours.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let (number, factor) = match text.strip_suffix('h') {
        Some(number) => (number, 3_600),
        None => match text.strip_suffix('m') {
            Some(number) => (number, 60),
            None => (text.strip_suffix('s').unwrap_or(text), 1),
        },
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .filter(|n| *n > 0)
        .map(Duration::from_secs)
        .ok_or_else(|| "expected a time as in 90s, 5m or 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("500MB"), Ok(500_000_000));
        assert_eq!(size("7"), Ok(7));
        assert!(size("0").is_err() && size("much").is_err() && size("99999999999GiB").is_err());
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(time("1h"), Ok(Duration::from_secs(3_600)));
        assert!(time("soon").is_err() && time("0s").is_err());
    }
}
