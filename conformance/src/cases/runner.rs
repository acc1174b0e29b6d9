//! Runs cases against a broker and says what each of them found.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fencepost_spec::rules::Rules;

use super::case::{Case, Level, Requirement};
use super::glob;
use super::judge::Judge;
use super::known_failures::KnownFailures;
use super::played::{Played, played};
use super::probe::{api_versions, lacks};
use super::result::{CaseResult, Report, Verdict};
use super::stage::{Setting, Stop, rules_of};
use super::walk::{self, Walks};
use crate::wire::{ApiVersionsAnswer, WireError};

/// What is run, and how long it may take.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ids, areas or patterns; empty for every case of the level. With patterns, cases of every
    /// level that match are run unless a level is given too.
    pub globs: Vec<String>,
    /// The level; none for `core`, or for every level where there are patterns.
    pub level: Option<Level>,
    /// Failures that are known.
    pub known_failures: KnownFailures,
    /// For the connect and for each read and write.
    pub timeout: Duration,
    /// For one case; five times as long for cases of the slow level.
    pub case_limit: Duration,
    /// For the run; cases that it leaves no time for are skipped.
    pub total_limit: Duration,
    /// The oracle's rules; none for those of Apache Kafka at the cluster's level.
    pub rules: Option<Rules>,
    /// The judge, where we started the broker ourselves.
    pub judge: Option<Judge>,
    /// Random walks, after the cases; none where their steps are 0.
    pub walks: Walks,
    /// Whether the run ends with the first case that fails or says nothing.
    pub to_the_first: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            globs: Vec::new(),
            level: None,
            known_failures: KnownFailures::default(),
            timeout: Duration::from_secs(10),
            case_limit: Duration::from_secs(30),
            total_limit: Duration::from_secs(600),
            rules: None,
            judge: None,
            walks: Walks::default(),
            to_the_first: false,
        }
    }
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// No broker answers (exit code 3).
    #[error("no broker: {0}")]
    NoBroker(String),
    /// No case matches (exit code 2).
    #[error("no case matches {0}")]
    NoCase(String),
}

impl SuiteError {
    pub(super) fn unreachable(bootstrap: SocketAddr, error: &WireError) -> Self {
        Self::NoBroker(format!("{bootstrap}: {error}"))
    }
}

/// Runs the chosen cases, one after the other. `progress` is told each result as it comes.
///
/// # Errors
/// [`SuiteError`] where no case matches or no broker answers; a broker that goes away later makes
/// the rest of the cases inconclusive.
pub fn run(
    bootstrap: SocketAddr,
    options: &Options,
    progress: impl FnMut(&CaseResult),
) -> Result<Report, SuiteError> {
    run_cases(bootstrap, chosen(options)?, options, progress)
}

/// Runs these cases, then the walks.
pub(super) fn run_cases(
    bootstrap: SocketAddr,
    cases: Vec<Case>,
    options: &Options,
    mut progress: impl FnMut(&CaseResult),
) -> Result<Report, SuiteError> {
    let answer = api_versions(bootstrap, options.timeout)?;
    let setting = Setting {
        bootstrap,
        timeout: options.timeout,
        case_limit: options.case_limit,
        prefix: fresh_prefix(),
        apis: answer.apis.clone(),
        transaction_version: answer.transaction_version(),
        rules: options
            .rules
            .clone()
            .unwrap_or_else(|| rules_of(answer.transaction_version())),
        judge: options.judge.clone(),
    };
    let begun = Instant::now();
    let mut results = Vec::new();
    for case in cases {
        let left = options.total_limit.saturating_sub(begun.elapsed());
        let result = one(case, &setting, &answer, options, left);
        progress(&result);
        let ends = options.to_the_first && result.verdict.is_bad();
        results.push(result);
        if ends {
            return Ok(summed(&setting, results, begun.elapsed()));
        }
    }
    let playing = |case| {
        let left = options.total_limit.saturating_sub(begun.elapsed());
        one(case, &setting, &answer, options, left)
    };
    let walks = walked(&options.walks, options.to_the_first, playing, progress);
    results.extend(walks);
    Ok(summed(&setting, results, begun.elapsed()))
}

/// Plays walk after walk, several at a time, until enough steps are taken or one is skipped for
/// want of time (or, where asked, one fails).
fn walked(
    walks: &Walks,
    to_the_first: bool,
    play: impl Fn(Case) -> CaseResult + Sync,
    mut progress: impl FnMut(&CaseResult),
) -> Vec<CaseResult> {
    let next = AtomicU64::new(walks.seed);
    let steps = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut results = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..walks.parallel.max(1) {
            let (sender, play, next, steps) = (sender.clone(), &play, &next, &steps);
            scope.spawn(move || {
                while steps.load(Ordering::Relaxed) < walks.steps {
                    let result = play(walk::case(next.fetch_add(1, Ordering::Relaxed)));
                    steps.fetch_add(result.steps, Ordering::Relaxed);
                    let over =
                        result.verdict == Verdict::Skip || to_the_first && result.verdict.is_bad();
                    if sender.send(result).is_err() || over {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for result in receiver {
            progress(&result);
            results.push(result);
        }
    });
    results
}

pub(super) fn chosen(options: &Options) -> Result<Vec<Case>, SuiteError> {
    let level = match (options.level, options.globs.is_empty()) {
        (None, true) => Some(Level::Core),
        (level, _) => level,
    };
    // Walks alone, where no level is asked for.
    if options.walks.steps > 0 && options.level.is_none() && options.globs.is_empty() {
        return Ok(Vec::new());
    }
    let mut cases = matching(super::all(), &options.globs);
    cases.retain(|case| level.is_none_or(|level| level.includes(case.level)));
    cases.extend(options.globs.iter().filter_map(|id| walk::named(id)));
    if cases.is_empty() {
        let level = level.map_or("any level", Level::name);
        return Err(SuiteError::NoCase(format!(
            "{} at {level}",
            options.globs.join(" ")
        )));
    }
    Ok(cases)
}

/// Those of the cases that the patterns name; all of them where there is no pattern.
pub(super) fn matching(mut cases: Vec<Case>, globs: &[String]) -> Vec<Case> {
    cases.retain(|case| globs.is_empty() || globs.iter().any(|it| glob::matches(it, case.id)));
    cases
}

fn one(
    case: Case,
    setting: &Setting,
    answer: &ApiVersionsAnswer,
    options: &Options,
    time: Duration,
) -> CaseResult {
    let begun = Instant::now();
    let configuration = options.judge.as_ref().map(Judge::configuration);
    let played = if let Some(need) = lacks(&case, answer, configuration) {
        Played::not(Stop::Skip(format!("the broker lacks {need}")))
    } else if time.is_zero() {
        Played::not(Stop::Skip("the run's time is over".to_owned()))
    } else {
        played(case, setting, time)
    };
    let known = options.known_failures.reason(case.id);
    let (verdict, reason) = judged(&case, played.stop, known);
    let steps = played.exchanges.len();
    let kept = match verdict {
        Verdict::Fail | Verdict::Known | Verdict::Inconclusive => played.exchanges,
        Verdict::Pass | Verdict::Skip | Verdict::UnexpectedPass => Vec::new(),
    };
    CaseResult {
        id: case.id.to_owned(),
        name: case.name.to_owned(),
        level: case.level.name().to_owned(),
        requirement: case.requirement.name().to_owned(),
        source: case.source.to_owned(),
        title: case.title.to_owned(),
        verdict,
        reason,
        seconds: begun.elapsed().as_secs_f64(),
        steps,
        exchanges: kept,
        left: played.left,
        reproduce: reproduce(setting, case.id),
    }
}

fn reproduce(setting: &Setting, id: &str) -> String {
    match &setting.judge {
        Some(judge) if !judge.is_kafka() => "fencepost conform --profile mutation".to_owned(),
        Some(judge) => format!(
            "fencepost conform --kafka {} --transaction-version {} {id}",
            judge.configuration().name(),
            setting.transaction_version
        ),
        None => format!("fencepost conform --bootstrap {} {id}", setting.bootstrap),
    }
}

fn judged(case: &Case, stop: Option<Stop>, known: Option<&str>) -> (Verdict, String) {
    match (stop, known) {
        (None, None) => (Verdict::Pass, String::new()),
        (None, Some(reason)) => (
            Verdict::UnexpectedPass,
            format!("on the list of known failures: {reason}"),
        ),
        (Some(Stop::Skip(reason)), _) => (Verdict::Skip, reason),
        (Some(Stop::Unclear(reason)), _) => (Verdict::Inconclusive, reason),
        (Some(Stop::Wrong(found)), Some(reason)) => (Verdict::Known, format!("{found} ({reason})")),
        (Some(Stop::Wrong(found)), None) => match case.requirement {
            Requirement::Must | Requirement::Should => (Verdict::Fail, found),
            Requirement::May => (Verdict::Inconclusive, format!("a MAY, differs: {found}")),
        },
    }
}

fn summed(setting: &Setting, cases: Vec<CaseResult>, taken: Duration) -> Report {
    let count = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
    let failed = count(Verdict::Fail) + count(Verdict::UnexpectedPass);
    Report {
        schema_version: super::report::SCHEMA_VERSION,
        ok: failed == 0 && cases.iter().all(CaseResult::is_settled),
        broker: setting.bootstrap.to_string(),
        transaction_version: setting.transaction_version,
        passed: count(Verdict::Pass),
        failed,
        skipped: count(Verdict::Skip),
        known: count(Verdict::Known),
        inconclusive: count(Verdict::Inconclusive),
        steps: cases.iter().map(|case| case.steps).sum(),
        seconds: taken.as_secs_f64(),
        prefix: setting.prefix.clone(),
        left: cases.iter().flat_map(|case| case.left.clone()).collect(),
        cases,
    }
}

/// A prefix that no other run has: the clock's nanoseconds and the process.
fn fresh_prefix() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    format!("fencepost-{:x}-{now:x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(level: Level) -> Case {
        let all = super::super::all();
        all.into_iter()
            .find(|case| case.level == level)
            .expect("a case")
    }

    fn wrong() -> Option<Stop> {
        Some(Stop::Wrong("EndTxn: NONE".to_owned()))
    }

    #[test]
    fn a_wrong_answer_fails_unless_it_is_known_or_only_a_may() {
        let must = first(Level::Core);
        let may = Case {
            requirement: Requirement::May,
            ..must
        };
        assert_eq!(judged(&must, wrong(), None).0, Verdict::Fail);
        assert_eq!(judged(&must, wrong(), Some("ours")).0, Verdict::Known);
        assert_eq!(judged(&may, wrong(), None).0, Verdict::Inconclusive);
        assert_eq!(judged(&must, None, None).0, Verdict::Pass);
        assert_eq!(judged(&must, None, Some("ours")).0, Verdict::UnexpectedPass);
    }

    #[test]
    fn what_cannot_be_judged_is_never_a_failure() {
        let must = first(Level::Core);
        let skip = Some(Stop::Skip("no EndTxn v5".to_owned()));
        assert_eq!(judged(&must, skip, Some("ours")).0, Verdict::Skip);
        let unclear = Some(Stop::Unclear("no answer".to_owned()));
        assert_eq!(judged(&must, unclear, None).0, Verdict::Inconclusive);
    }

    #[test]
    fn a_run_that_cannot_say_whether_a_rule_is_kept_is_not_as_expected() {
        let case = |requirement: Requirement, verdict| CaseResult {
            id: String::new(),
            name: String::new(),
            level: String::new(),
            requirement: requirement.name().to_owned(),
            source: String::new(),
            title: String::new(),
            verdict,
            reason: String::new(),
            seconds: 0.0,
            steps: 0,
            exchanges: Vec::new(),
            left: Vec::new(),
            reproduce: String::new(),
        };
        assert!(!case(Requirement::Must, Verdict::Inconclusive).is_settled());
        assert!(!case(Requirement::Should, Verdict::Inconclusive).is_settled());
        assert!(case(Requirement::May, Verdict::Inconclusive).is_settled());
        assert!(case(Requirement::Must, Verdict::Skip).is_settled());
    }

    #[test]
    fn patterns_reach_every_level_and_no_pattern_means_core() {
        let plain = chosen(&Options::default()).expect("cases");
        assert!(plain.iter().all(|case| case.level == Level::Core));
        let globs = Options {
            globs: vec!["epoch/*".to_owned()],
            ..Options::default()
        };
        let slow = chosen(&globs).expect("cases");
        assert!(slow.iter().any(|case| case.level == Level::Slow));
        let both = Options {
            level: Some(Level::Core),
            ..globs
        };
        assert!(matches!(chosen(&both), Err(SuiteError::NoCase(_))));
    }
}
