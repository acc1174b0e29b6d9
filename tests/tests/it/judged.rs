//! `conform --bootstrap` from outside: a broker is judged, its failures are told, and what the report says can be done.

use crate::support::{code, fencepost, json, root, stderr};
use fencepost::coordinator::{EndTxn, Input, Request};
use fencepost::types::{TransactionResult, TransactionVersion};
use fencepost_conformance::loopback::{Loopback, LoopbackConfig, Tamper};
use std::process::Output;

/// The case that this fault fails: whatever was asked for, the transaction is committed.
const FAILS: &str = "visible/02";

fn right() -> Loopback {
    Loopback::start(LoopbackConfig::new(TransactionVersion::V2)).expect("a free port of 127.0.0.1")
}

fn wrong() -> Loopback {
    let tamper = Tamper {
        coordinator_takes: |input| match input {
            Input::Request(to, Request::EndTxn(end)) => {
                let result = TransactionResult::Commit;
                Input::Request(to, Request::EndTxn(EndTxn { result, ..end }))
            }
            other => other,
        },
        ..Tamper::NONE
    };
    let config = LoopbackConfig {
        tamper,
        ..LoopbackConfig::new(TransactionVersion::V2)
    };
    Loopback::start(config).expect("a free port of 127.0.0.1")
}

fn conform(broker: &Loopback, arguments: &[&str]) -> Output {
    let bootstrap = broker.address().to_string();
    let mut all = vec!["conform", "--bootstrap", &bootstrap];
    all.extend(arguments);
    fencepost(&all)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn patterns_choose_and_every_form_of_the_report_is_written() {
    let broker = right();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |form: &str| folder.path().join(form).display().to_string();
    let forms = ["text", "json", "junit", "csv", "html"];
    let reports = forms.map(|form| format!("{form}={}", path(form)));
    let mut arguments = vec!["init/0?", "lso", "end/16"];
    for report in &reports {
        arguments.extend(["--report", report]);
    }
    let output = conform(&broker, &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told = stdout(&output);
    let ids: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("pass"))
        .filter_map(|rest| rest.split_whitespace().next())
        .collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("init/")).count(), 9);
    assert_eq!(ids.iter().filter(|id| id.starts_with("lso/")).count(), 8);
    assert_eq!(ids.len(), 18, "{told}");
    assert!(told.contains("left behind until they expire"), "{told}");
    for form in forms {
        let text = std::fs::read_to_string(path(form)).expect("the report was written");
        for id in &ids {
            assert!(text.contains(id), "{form} lacks {id}");
        }
    }
    let text = std::fs::read_to_string(path("json")).expect("the report was written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["passed"], 18);
    assert_eq!(report["ok"], true);
}

/// The one line that a failure is told with, put into a shell's hands, fails in the same way.
#[test]
fn a_failure_is_told_with_a_line_that_fails_again() {
    let broker = wrong();
    let output = conform(&broker, &["visible"]);
    let told = stdout(&output);
    assert_eq!(code(&output), 1, "{told}");
    let lines = told
        .lines()
        .filter_map(|it| it.trim().strip_prefix("again: fencepost "));
    let line = lines
        .into_iter()
        .find(|line| line.ends_with(FAILS))
        .expect("the failure's line");
    let again = fencepost(&line.split_whitespace().collect::<Vec<_>>());
    let told_again = stdout(&again);
    assert_eq!(code(&again), 1, "{told_again}");
    let verdict = |text: &str| {
        let line = text.lines().find(|it| it.contains(FAILS));
        line.map(str::to_owned).expect("a line of the case")
    };
    assert_eq!(verdict(&told), verdict(&told_again));
}

#[test]
fn a_known_failure_is_no_finding_until_it_passes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let list = folder.path().join("known");
    std::fs::write(&list, format!("# ours\n{FAILS}  # commits everything\n")).expect("a file");
    let list = list.display().to_string();
    let arguments = ["--json", "--known-failures", &list, FAILS];
    let known = conform(&wrong(), &arguments);
    assert_eq!(code(&known), 0);
    let report = json(&known);
    assert_eq!(report["known"], 1);
    assert_eq!(report["cases"][0]["verdict"], "known");
    let passes = conform(&right(), &arguments);
    assert_eq!(code(&passes), 1);
    assert_eq!(json(&passes)["cases"][0]["verdict"], "unexpected-pass");
    std::fs::write(&list, "visible/99\n").expect("a file");
    let unknown = conform(&right(), &arguments);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("line 1"), "{}", stderr(&unknown));
}

#[test]
fn levels_are_probed_and_chosen() {
    let broker = right();
    let bootstrap = broker.address().to_string();
    let probed = fencepost(&["conform", "--probe", &bootstrap, "--json"]);
    assert_eq!(code(&probed), 0, "{}", stderr(&probed));
    let probe = json(&probed);
    let rows = probe["levels"].as_array().expect("levels");
    let core = rows.iter().find(|it| it["level"] == "core").expect("core");
    assert_eq!(core["cases"], core["can_run"]);
    let admin = json(&conform(&broker, &["--json", "--level", "admin"]));
    let row = rows
        .iter()
        .find(|it| it["level"] == "admin")
        .expect("admin");
    assert_eq!(admin["passed"], row["cases"]);
    for (arguments, says) in [
        (&["--level", "corer"][..], "core, full"),
        (&["no-such-area"][..], "no case matches"),
    ] {
        let output = conform(&broker, arguments);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

/// A trace that differs is told with the line that replays it.
#[test]
fn a_trace_that_differs_is_told_with_its_own_line() {
    let trace = root().join("tests/traces/witness/S2_smoke_tv2.trace");
    let trace = trace.display().to_string();
    let bootstrap = wrong();
    let address = bootstrap.address().to_string();
    let output = fencepost(&["replay", &trace, "--bootstrap", &address]);
    let told = stdout(&output);
    assert_eq!(code(&output), 1, "{told}");
    let line = format!("again: fencepost replay {trace} --bootstrap {address}");
    assert!(told.contains(&line), "{told}");
}
