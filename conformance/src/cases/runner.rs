//! Runs cases against a broker and says what each of them found.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fencepost_spec::rules::Rules;
use serde::Serialize;

use super::case::{Case, Level, Requirement};
use super::glob;
use super::judge::Judge;
use super::known_failures::KnownFailures;
use super::probe::{api_versions, lacks};
use super::stage::{Exchange, Setting, Stage, Stop, rules_of};
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

/// What a case found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every answer was allowed.
    Pass,
    /// An answer was not allowed.
    Fail,
    /// The broker lacks what the case needs, or there was no time left.
    Skip,
    /// It failed, as the list of known failures says.
    Known,
    /// It passed although it is on the list of known failures.
    UnexpectedPass,
    /// Nothing can be said: a time ran out, or a MAY was not followed.
    Inconclusive,
}

impl Verdict {
    /// The word in the reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::Known => "known",
            Self::UnexpectedPass => "unexpected-pass",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Whether the broker, or the list of known failures, is to be looked at.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        match self {
            Self::Fail | Self::UnexpectedPass | Self::Inconclusive => true,
            Self::Pass | Self::Skip | Self::Known => false,
        }
    }
}

/// A case's row in the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// `area/nn`.
    pub id: String,
    /// A short name.
    pub name: String,
    /// The level's word on the command line.
    pub level: String,
    /// MUST, SHOULD or MAY.
    pub requirement: String,
    /// Where the rule comes from.
    pub source: String,
    /// The rule.
    pub title: String,
    /// What was found.
    pub verdict: Verdict,
    /// Why, where it did not simply pass; empty otherwise.
    pub reason: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Exchanges with the broker that were judged.
    pub steps: usize,
    /// The last exchanges, where the case failed or is inconclusive.
    pub exchanges: Vec<Exchange>,
    /// One line that runs this case again.
    pub reproduce: String,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of these fields.
    pub schema_version: u32,
    /// True where there is no failure and no unexpected pass.
    pub ok: bool,
    /// HOST:PORT.
    pub broker: String,
    /// The finalized `transaction.version`.
    pub transaction_version: i16,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed, and known failures that passed.
    pub failed: usize,
    /// Cases that were not run.
    pub skipped: usize,
    /// Known failures.
    pub known: usize,
    /// Cases that say nothing.
    pub inconclusive: usize,
    /// Exchanges with the broker that were judged.
    pub steps: usize,
    /// Seconds of the whole run.
    pub seconds: f64,
    /// The cases, in order.
    pub cases: Vec<CaseResult>,
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
    let mut cases: Vec<Case> = super::all()
        .into_iter()
        .filter(|case| level.is_none_or(|level| level.includes(case.level)))
        .filter(|case| {
            options.globs.is_empty() || options.globs.iter().any(|it| glob::matches(it, case.id))
        })
        .collect();
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

fn one(
    case: Case,
    setting: &Setting,
    answer: &ApiVersionsAnswer,
    options: &Options,
    left: Duration,
) -> CaseResult {
    let begun = Instant::now();
    let (stop, exchanges) = if let Some(need) = lacks(
        &case,
        answer,
        options.judge.as_ref().map(Judge::configuration),
    ) {
        (
            Some(Stop::Skip(format!("the broker lacks {need}"))),
            Vec::new(),
        )
    } else if left.is_zero() {
        (
            Some(Stop::Skip("the run's time is over".to_owned())),
            Vec::new(),
        )
    } else {
        played(case, setting, left)
    };
    let known = options.known_failures.reason(case.id);
    let (verdict, reason) = judged(&case, stop, known);
    let steps = exchanges.len();
    let kept = match verdict {
        Verdict::Fail | Verdict::Known | Verdict::Inconclusive => exchanges,
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

/// Plays a case on a thread of its own. A case that outlives its time is left to its socket's
/// timeout; its verdict is given without it.
fn played(case: Case, setting: &Setting, left: Duration) -> (Option<Stop>, Vec<Exchange>) {
    let patience = match case.level {
        Level::Slow => 5,
        // A broker that is killed inside the case starts again: half a minute where others work too.
        Level::Fault if setting.judge.is_some() => 4,
        Level::Core | Level::Full | Level::Admin | Level::Fault | Level::TwoPhase => 1,
    };
    let case_limit = (setting.case_limit * patience).min(left);
    let setting = Setting {
        case_limit,
        ..setting.clone()
    };
    // The stage's own deadline comes first; this one is for a broker that drips bytes.
    let grace = case_limit + setting.timeout * 2;
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .name(case.id.to_owned())
        .spawn(move || {
            let mut stage = Stage::new(&setting, case.id);
            let outcome = stage.open().and_then(|()| case.body.play(&mut stage));
            stage.clear();
            // The receiver is gone where the case took too long: then nobody asks any more.
            let _ = sender.send((outcome.err(), stage.into_exchanges()));
        });
    if let Err(error) = thread {
        return (
            Some(Stop::Unclear(format!("no thread: {error}"))),
            Vec::new(),
        );
    }
    match receiver.recv_timeout(grace) {
        Ok(played) => played,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let reason = format!("not finished within {} s", grace.as_secs());
            (Some(Stop::Unclear(reason)), Vec::new())
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let reason = "the suite's own error: the case's thread ended without a verdict";
            (Some(Stop::Unclear(reason.to_owned())), Vec::new())
        }
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
        ok: failed == 0,
        broker: setting.bootstrap.to_string(),
        transaction_version: setting.transaction_version,
        passed: count(Verdict::Pass),
        failed,
        skipped: count(Verdict::Skip),
        known: count(Verdict::Known),
        inconclusive: count(Verdict::Inconclusive),
        steps: cases.iter().map(|case| case.steps).sum(),
        seconds: taken.as_secs_f64(),
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
