//! The case suite on Apache Kafka, at transaction.version 1 and 2, and on peers that are no broker.
//!
//! Without java or mvn the tests on Kafka print a line and pass; with `FENCEPOST_REQUIRE_ALL=1`
//! they fail.

#[path = "shared/neighbour.rs"]
mod neighbour;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fencepost_conformance::cases::{
    Format, KnownFailures, Level, Options, Report, SuiteError, Verdict, probe, run,
};
use fencepost_conformance::kafka_server::{KafkaConfig, KafkaServer, StartError};
use fencepost_conformance::wire::{Connection, ErrorCode, InitProducerId};
use fencepost_spec::coordinator::EndTxnGuard;
use fencepost_spec::rules::{EpochRule, Rules};
use fencepost_spec::types::TransactionVersion;
use neighbour::Neighbour;

/// One Kafka at a time: the machine is small, and each takes half a gigabyte.
static ONE_KAFKA: Mutex<()> = Mutex::new(());

fn kafka(transaction_version: i16) -> Option<KafkaServer> {
    started(&KafkaConfig::one_node(transaction_version))
}

fn started(config: &KafkaConfig) -> Option<KafkaServer> {
    match KafkaServer::start(config) {
        Ok(server) => Some(server),
        Err(StartError::Missing(what)) => {
            assert!(
                std::env::var_os("FENCEPOST_REQUIRE_ALL").is_none_or(|value| value != "1"),
                "FENCEPOST_REQUIRE_ALL=1, but Apache Kafka cannot run here: {what}"
            );
            // Past the test runner's capture: a skipped judge is to be seen.
            let line = format!("SKIPPED: Apache Kafka cannot run here: {what}\n");
            std::io::stderr()
                .write_all(line.as_bytes())
                .expect("stderr");
            None
        }
        Err(StartError::Failed(why)) => panic!("Apache Kafka did not start: {why}"),
    }
}

fn at(level: Level) -> Options {
    Options {
        level: Some(level),
        ..Options::default()
    }
}

/// Runs the cases; no failure, and nothing that cannot be said.
fn all_pass(bootstrap: SocketAddr, options: &Options) -> Report {
    let report = run(bootstrap, options, |_| {}).expect("a broker");
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

#[test]
fn transaction_version_2() {
    let _one = ONE_KAFKA.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(server) = kafka(2) else { return };
    let bootstrap = server.bootstrap();
    let mut neighbour = Neighbour::begin(bootstrap);
    let before = neighbour.sees("");
    let full = all_pass(bootstrap, &at(Level::Full));
    only_judges_are_skipped(&full);
    assert!(serde_json::from_str::<serde_json::Value>(&full.render(Format::Json)).is_ok());
    neighbour.finds_nothing_of(&full);
    let admin = all_pass(bootstrap, &at(Level::Admin));
    let two_phase = all_pass(bootstrap, &at(Level::TwoPhase));
    for report in [admin, two_phase] {
        assert!(report.left.is_empty(), "{:?}", report.left);
    }
    assert_eq!(neighbour.sees("fencepost-"), before);
    neighbour.commit();
    a_known_failure_that_passes(bootstrap);
    faults_of_the_oracle(bootstrap);
    // Last, for it leaves ids in Prepare*.
    only_judges_are_skipped(&all_pass(bootstrap, &at(Level::Fault)));
    let probed = probe(bootstrap, Duration::from_secs(5)).expect("a broker");
    assert_eq!(probed.transaction_version, 2);
    for level in probed.levels.iter().filter(|it| it.level != "fault") {
        assert_eq!(level.can_run, level.cases, "{}", level.level);
    }
}

#[test]
fn transaction_version_1() {
    let _one = ONE_KAFKA.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(server) = kafka(1) else { return };
    let bootstrap = server.bootstrap();
    let full = all_pass(bootstrap, &at(Level::Full));
    assert!(full.passed >= 60, "{}", full.render(Format::Text));
    all_pass(bootstrap, &at(Level::Fault));
    let probed = probe(bootstrap, Duration::from_secs(5)).expect("a broker");
    let core = probed.levels.iter().find(|it| it.level == "core");
    let missing = core.map(|it| it.missing.join(", ")).unwrap_or_default();
    assert!(missing.contains("transaction.version 2"), "{missing}");
}

#[test]
fn transaction_version_0() {
    let _one = ONE_KAFKA.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(server) = kafka(0) else { return };
    let report = all_pass(server.bootstrap(), &at(Level::Full));
    // What TV1 added is skipped, and nothing else.
    let skipped = report.cases.iter().filter(|it| it.verdict == Verdict::Skip);
    for case in skipped {
        assert!(
            case.reason.contains("transaction.version") || case.reason.contains("one broker"),
            "{}",
            case.line()
        );
    }
}

/// Where two-phase commit is not enabled, which is the default, whoever asks for it is told that they may not.
#[test]
fn two_phase_commit_that_is_not_enabled() {
    let _one = ONE_KAFKA.lock().unwrap_or_else(PoisonError::into_inner);
    let disabled = ("transaction.two.phase.commit.enable", "false");
    let config = KafkaConfig {
        properties: vec![(disabled.0.to_owned(), disabled.1.to_owned())],
        ..KafkaConfig::one_node(2)
    };
    let Some(server) = started(&config) else {
        return;
    };
    let options = Options {
        globs: vec!["init/01".to_owned()],
        ..Options::default()
    };
    // The coordinator is there once a case has passed.
    all_pass(server.bootstrap(), &options);
    let wire = Connection::open(server.bootstrap(), Duration::from_secs(5));
    let mut wire = wire.expect("Kafka accepts");
    let plain = InitProducerId::plain("not-enabled");
    let two_phase = InitProducerId {
        enable_2pc: true,
        ..plain
    };
    let refused = wire.init_producer_id(6, two_phase).expect("an answer");
    assert_eq!(
        refused.error.to_string(),
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    );
    let served = wire.init_producer_id(6, plain).expect("an answer");
    assert_eq!(served.error, ErrorCode::NONE);
}

#[test]
#[ignore = "98,304 InitProducerIds: the epochs of three producer ids"]
fn slow_level() {
    let _one = ONE_KAFKA.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(server) = kafka(2) else { return };
    all_pass(server.bootstrap(), &at(Level::Slow));
}

/// A broker that the suite did not start lacks nothing but the suite's hand on it.
fn only_judges_are_skipped(report: &Report) {
    let skipped = report.cases.iter().filter(|it| it.verdict == Verdict::Skip);
    for case in skipped {
        let reason = &case.reason;
        assert!(
            reason.contains("--kafka") || reason.contains("one broker"),
            "{}",
            case.line()
        );
    }
}

fn a_known_failure_that_passes(bootstrap: SocketAddr) {
    let options = Options {
        globs: vec!["init/01".to_owned()],
        known_failures: KnownFailures::parse("init/01  # no longer").expect("an id"),
        ..Options::default()
    };
    let report = run(bootstrap, &options, |_| {}).expect("a broker");
    assert!(!report.ok, "{}", report.render(Format::Text));
    assert_eq!(report.cases[0].verdict, Verdict::UnexpectedPass);
}

/// An edit of the oracle's rules, and the cases that must notice: Kafka then seems to be at fault.
type Fault = (&'static str, &'static str, fn(&mut Rules));

const FAULTS: [Fault; 17] = [
    ("fence without a bump", "init/12", |r| {
        r.init.fence_bumps_epoch = false;
    }),
    ("fence with two bumps", "init/12", |r| {
        r.init.fence_single_bump = false;
    }),
    ("already there in Complete*", "parts/03", |r| {
        r.markers.completion_clears_partitions = false;
        r.add.shortcut_only_in_ongoing = false;
    }),
    ("AddOffsetsToTxn opens nothing", "parts/12", |r| {
        r.add.add_offsets_opens = false;
    }),
    ("EndTxn takes older epochs", "end/04", |r| {
        r.end_txn.epoch_rule = EpochRule::AtMost;
    }),
    ("EndTxn takes newer epochs", "end/05", |r| {
        r.end_txn.epoch_rule = EpochRule::AtLeast;
    }),
    ("no bump at the decision", "end/16", |r| {
        r.end_txn.bump_epoch_at_prepare = false;
    }),
    ("a retry of the other verb", "end/22", |r| {
        r.end_txn.retry_needs_same_verb = false;
    }),
    ("TV1 asks for pending before identity", "end/25", |r| {
        r.end_txn.guards_tv1 = [
            EndTxnGuard::NoPendingTransition,
            EndTxnGuard::MappingExists,
            EndTxnGuard::SameProducerId,
            EndTxnGuard::CurrentEpoch,
        ];
    }),
    ("no verification", "tv2/01", |r| r.verification = false),
    ("the coordinator is not asked", "tv2/03", |r| {
        r.produce.ask_coordinator = false;
    }),
    ("TV2 markers at the same epoch", "markers/05", |r| {
        r.strict_marker_epoch = false;
    }),
    ("no repeated markers", "markers/08", |r| {
        r.produce.repeated_marker_ok = false;
    }),
    ("any coordinator epoch", "markers/09", |r| {
        r.produce.check_coordinator_epoch = false;
    }),
    ("a window of four batches", "seq/04", |r| {
        r.produce.window = 4
    }),
    ("plain batches inside a transaction", "tv2/14", |r| {
        r.produce.refuse_plain_in_txn = false;
    }),
    ("any generation", "offsets/08", |r| {
        r.group.check_generation = false;
    }),
];

fn faults_of_the_oracle(bootstrap: SocketAddr) {
    for (fault, id, edit) in FAULTS {
        let mut rules = Rules::kafka(TransactionVersion::Tv2);
        edit(&mut rules);
        let options = Options {
            globs: vec![id.to_owned()],
            rules: Some(rules),
            ..Options::default()
        };
        let report = run(bootstrap, &options, |_| {}).expect("a broker");
        assert_eq!(
            report.cases[0].verdict,
            Verdict::Fail,
            "{fault} goes unnoticed by {id}"
        );
    }
}

/// A listener that treats each connection in the same way until the test is over.
fn peer(serve: fn(&mut TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(&mut stream));
        }
    });
    address
}

fn hasty() -> Options {
    Options {
        timeout: Duration::from_millis(200),
        case_limit: Duration::from_millis(300),
        ..Options::default()
    }
}

/// The correlation id and API key of the next request.
fn request(stream: &mut TcpStream) -> Option<([u8; 4], i16)> {
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    let length = i32::from_be_bytes([head[0], head[1], head[2], head[3]]);
    let mut rest = vec![0; usize::try_from(length - 8).ok()?];
    stream.read_exact(&mut rest).ok()?;
    let key = i16::from_be_bytes([head[4], head[5]]);
    Some(([head[8], head[9], head[10], head[11]], key))
}

fn answer(stream: &mut TcpStream, correlation: [u8; 4], body: &[u8]) {
    let length = (4 + body.len() as i32).to_be_bytes();
    // The suite may be gone by now.
    let _ = stream.write_all(&[&length[..], &correlation, body].concat());
}

/// ApiVersions v3 that offers all of 0 to 99 of every API.
fn offer(stream: &mut TcpStream, correlation: [u8; 4]) {
    let mut body = vec![0, 0, 101];
    for key in 0..100_u8 {
        body.extend([0, key, 0, 0, 0, 99, 0]);
    }
    body.extend([0, 0, 0, 0, 0]);
    answer(stream, correlation, &body);
}

#[test]
fn no_broker_at_all() {
    let silent: fn(&mut TcpStream) = |_| std::thread::sleep(Duration::from_secs(2));
    let closing: fn(&mut TcpStream) = |_| {};
    let garbage: fn(&mut TcpStream) = |stream| {
        let _ = stream.write_all(&[0x7f; 4096]);
    };
    let endless: fn(&mut TcpStream) = |stream| {
        if let Some((correlation, _)) = request(stream) {
            answer(stream, correlation, &[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        }
    };
    for serve in [silent, closing, garbage, endless] {
        let found = run(peer(serve), &hasty(), |_| {});
        assert!(matches!(found, Err(SuiteError::NoBroker(_))), "{found:?}");
    }
}

#[test]
fn a_broker_that_lies_after_its_first_answer() {
    let nonsense: fn(&mut TcpStream) = |stream| {
        while let Some((correlation, key)) = request(stream) {
            match key {
                18 => offer(stream, correlation),
                _ => answer(stream, correlation, &[0xff; 64]),
            }
        }
    };
    let wrong_correlation: fn(&mut TcpStream) = |stream| {
        while let Some((correlation, key)) = request(stream) {
            match key {
                18 => offer(stream, correlation),
                _ => answer(stream, [9; 4], &[0; 64]),
            }
        }
    };
    let mute: fn(&mut TcpStream) = |stream| {
        while let Some((correlation, key)) = request(stream) {
            if key == 18 {
                offer(stream, correlation);
            }
        }
    };
    let dripping: fn(&mut TcpStream) = |stream| {
        while let Some((correlation, key)) = request(stream) {
            if key == 18 {
                offer(stream, correlation);
                continue;
            }
            let _ = stream.write_all(&[0, 0, 1, 0]);
            while stream.write_all(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    };
    for serve in [nonsense, wrong_correlation, mute, dripping] {
        let options = Options {
            globs: vec!["init/01".to_owned()],
            ..hasty()
        };
        let begun = Instant::now();
        let report = run(peer(serve), &options, |_| {}).expect("a report");
        assert_eq!(report.passed, 0, "{}", report.render(Format::Text));
        // Whether it failed or hung, nobody may take it for a broker that keeps the rules.
        assert!(!report.ok, "{}", report.render(Format::Text));
        assert_eq!(report.cases.len(), 1);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
