//! The saved traces: each replays, and ends as its header says.

use crate::support::{code, fencepost, root, stderr};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn traces(folder: &str) -> Vec<PathBuf> {
    let folder = root().join("tests/traces").join(folder);
    let mut found: Vec<_> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "trace"))
        .collect();
    found.sort();
    found
}

#[test]
fn every_counterexample_replays_as_its_header_says() {
    let found = traces("counterexample");
    assert!(found.len() > 100, "{} traces", found.len());
    replay_all(found);
}

#[test]
fn every_property_has_a_witness_that_replays() {
    let found = traces("witness");
    let properties = (1..=14).map(|n| format!("S{n}_"));
    for property in properties.chain((1..=4).map(|n| format!("L{n}_"))) {
        let name = |path: &PathBuf| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        let is_its = |path: &PathBuf| name(path).is_some_and(|name| name.starts_with(&property));
        assert!(found.iter().any(is_its), "no witness of {property}");
    }
    replay_all(found);
}

/// What Kafka's own rules break: every trace is named in the table of deviations, and every trace named there is saved.
#[test]
fn every_deviation_that_breaks_a_property_has_a_trace() {
    let table = fs::read_to_string(root().join("docs/DEVIATIONS.md")).expect("the table is there");
    let found = traces("kafka");
    let named: BTreeSet<String> = table
        .split('`')
        .filter(|word| word.ends_with(".trace"))
        .map(str::to_owned)
        .collect();
    let saved: BTreeSet<String> = found
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    assert_eq!(named, saved);
    assert!(found.len() >= 8, "{} traces", found.len());
    replay_all(found);
}

fn replay_all(found: Vec<PathBuf>) {
    for path in found {
        let output = fencepost(&["replay", path.to_str().expect("a path of ASCII"), "--json"]);
        assert_eq!(code(&output), 0, "{}: {}", path.display(), stderr(&output));
    }
}

/// A regression trace was saved where the model and the implementation differed: it is red until they agree again.
#[test]
fn every_regression_trace_runs_alike_on_the_model_and_on_the_implementation() {
    let found = traces("regression");
    assert!(!found.is_empty());
    for path in found {
        for on in ["spec", "impl"] {
            let output = fencepost(&[
                "replay",
                path.to_str().expect("a path of ASCII"),
                "--on",
                on,
            ]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(code(&output), 0, "{} on {on}: {said}", path.display());
        }
    }
}

#[test]
fn a_mutants_trace_parts_from_the_implementation_where_its_rule_matters() {
    let path = root().join("tests/traces/counterexample/S1_m01a_retry_tv2.trace");
    let path = path.to_str().expect("a path of ASCII").to_owned();
    let output = fencepost(&["replay", &path, "--on", "impl", "--json"]);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("a report is JSON");
    assert_eq!(code(&output), 0, "{report}");
    assert_eq!(report["on"], "impl");
    assert!(report["agreed"].as_u64() < report["steps"].as_u64());
    for list in ["states", "differences"] {
        let list = report["divergence"][list].as_array();
        assert!(list.is_some_and(|list| !list.is_empty()), "{report}");
    }
}

#[test]
fn a_trace_becomes_a_chart() {
    let path = traces("counterexample").remove(0);
    let path = path.to_str().expect("a path of ASCII").to_owned();
    for (format, expected) in [
        ("mermaid", "sequenceDiagram"),
        ("svg", "<svg"),
        ("dot", "digraph"),
        ("itf", "#meta"),
        ("json", "{"),
    ] {
        let output = fencepost(&["export", &path, "--format", format]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(code(&output), 0, "{format}: {}", stderr(&output));
        assert!(text.contains(expected), "{format}: {text}");
    }
}
