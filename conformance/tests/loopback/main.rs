//! Our own cores over TCP: every level of the cases passes, faults that are put into the broker are each caught by a
//! case, and no bytes of a client end it.

mod faults;
mod hostile;
mod journal;
#[path = "../shared/neighbour.rs"]
mod neighbour;

use std::net::SocketAddr;

use fencepost::types::TransactionVersion;
use fencepost_conformance::cases::{Level, Options, Report, Verdict, run};
use fencepost_conformance::loopback::{Loopback, LoopbackConfig};
use neighbour::Neighbour;

fn broker(level: TransactionVersion) -> Loopback {
    Loopback::start(LoopbackConfig::new(level)).expect("a free port of 127.0.0.1")
}

fn at(level: Level) -> Options {
    Options {
        level: Some(level),
        ..Options::default()
    }
}

/// Runs the cases; no failure, and nothing that cannot be said.
fn all_pass(bootstrap: SocketAddr, level: Level) -> Report {
    let report = run(bootstrap, &at(level), |_| {}).expect("a broker");
    println!("{}", report.summary());
    let bad: Vec<String> = report
        .cases
        .iter()
        .filter(|case| matches!(case.verdict, Verdict::Fail | Verdict::Inconclusive))
        .map(|case| case.story())
        .collect();
    assert!(bad.is_empty(), "{} cases:\n{}", bad.len(), bad.join("\n"));
    report
}

/// Why a broker that is alone, and that nobody halts, skips what it does.
const ALONE: &str = "the cluster has one broker";
const NOBODY_HALTS: &str = "a judge of our own";

fn skips_only_for(report: &Report, reasons: &[&str]) {
    let skipped = report.cases.iter().filter(|it| it.verdict == Verdict::Skip);
    let strange: Vec<_> = skipped
        .filter(|case| !reasons.iter().any(|it| case.reason.contains(it)))
        .map(|case| case.line())
        .collect();
    assert!(strange.is_empty(), "{}", strange.join("\n"));
}

#[test]
fn transaction_version_2() {
    let broker = broker(TransactionVersion::V2);
    for level in [Level::Full, Level::Admin, Level::TwoPhase, Level::Fault] {
        let report = all_pass(broker.address(), level);
        skips_only_for(&report, &[ALONE, NOBODY_HALTS]);
    }
}

#[test]
fn transaction_version_1() {
    let broker = broker(TransactionVersion::V1);
    for level in [Level::Full, Level::Admin, Level::TwoPhase, Level::Fault] {
        let report = all_pass(broker.address(), level);
        skips_only_for(&report, &[ALONE, NOBODY_HALTS, "transaction.version"]);
    }
}

/// Two runs at once on a broker that somebody else uses: each passes, neither they nor the neighbour see the others.
#[test]
fn safe_on_a_shared_broker() {
    for version in [TransactionVersion::V2, TransactionVersion::V1] {
        let broker = broker(version);
        let mut neighbour = Neighbour::begin(broker.address());
        let before = neighbour.sees("");
        let [first, second] = std::thread::scope(|scope| {
            [(); 2]
                .map(|()| scope.spawn(|| all_pass(broker.address(), Level::Core)))
                .map(|run| run.join().expect("a report"))
        });
        assert_ne!(first.prefix, second.prefix);
        neighbour.finds_nothing_of(&first);
        neighbour.finds_nothing_of(&second);
        // Both begin so, and the neighbour's names do not.
        assert_eq!(neighbour.sees("fencepost-"), before);
        neighbour.commit();
    }
}

/// 98,304 InitProducerIds: the epochs of three producer ids.
#[test]
fn epochs_to_their_end() {
    let broker = broker(TransactionVersion::V2);
    assert_eq!(all_pass(broker.address(), Level::Slow).skipped, 0);
}
