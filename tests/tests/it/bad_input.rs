//! Bad input gets one clear message that names what was expected, and its exit code; never a panic.

use crate::support::{code, fencepost, stderr};
use std::fs;

fn refused(arguments: &[&str], expected: &str) {
    let output = fencepost(arguments);
    let message = stderr(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {message}");
    assert!(message.contains(expected), "{arguments:?}: {message}");
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
}

fn trace(lines: &[&str]) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new()
        .suffix(".trace")
        .tempfile()
        .expect("a temporary file");
    let header = "story: A test.\nscenario: smoke\nrules: tv2\nmutant: none\nexpect: holds\n\n";
    fs::write(file.path(), format!("{header}{}\n", lines.join("\n"))).expect("it is written");
    file
}

fn path(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().expect("a path of ASCII")
}

#[test]
fn an_unknown_command_or_flag_is_usage() {
    refused(&["chekc"], "check");
    refused(&["check", "--depht", "3"], "--depht");
    refused(&["check", "--threads", "0"], "0");
    refused(&["check", "--max-memory", "lots"], "lots");
}

#[test]
fn an_unknown_scenario_names_those_that_there_are() {
    refused(&["check", "nosuch"], "smoke");
    refused(&["coverage", "nosuch"], "smoke");
    refused(&["conform", "nosuch"], "smoke");
}

#[test]
fn an_unknown_mutant_names_those_that_there_are() {
    refused(&["check", "--mutant", "M00"], "M01a");
    refused(&["mutants", "M00"], "M01a");
}

#[test]
fn unknown_rules_name_those_that_there_are() {
    refused(&["check", "--rules", "tv3"], "tv2");
    refused(&["check", "upgrade", "--rules", "tv1"], "upgrade");
}

#[test]
fn an_unknown_table_names_those_that_there_are() {
    refused(&["table", "Nonsense"], "EndTxn");
}

#[test]
fn a_missing_trace_is_unreadable() {
    refused(&["replay", "no/such.trace"], "no/such.trace");
}

#[test]
fn an_unknown_word_in_a_trace_is_named_with_its_line() {
    let file = trace(&["P start", "P dance"]);
    refused(&["replay", path(&file)], "line 8");
    refused(&["replay", path(&file)], "dance");
    let file = trace(&["P start colour=red"]);
    refused(&["replay", path(&file)], "colour");
}

#[test]
fn a_step_that_is_not_enabled_is_a_finding_and_says_what_was() {
    let file = trace(&["P start", "P start"]);
    let output = fencepost(&["replay", path(&file)]);
    let said = format!(
        "{}{}",
        stderr(&output),
        String::from_utf8_lossy(&output.stdout)
    );
    assert_eq!(code(&output), 1, "{said}");
    assert!(said.contains("init_producer_id"), "{said}");
}

#[test]
fn a_bound_that_is_met_is_never_holds() {
    let output = fencepost(&[
        "check",
        "retry",
        "--rules",
        "tv2",
        "--max-states",
        "100",
        "--json",
    ]);
    let report = crate::support::json(&output);
    assert_eq!(report["runs"][0]["verdict"], "incomplete");
    assert_eq!(code(&output), 1);
}

#[test]
fn a_broker_that_does_not_answer_has_an_exit_code_of_its_own() {
    let output = fencepost(&["conform", "--bootstrap", "127.0.0.1:1"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let output = fencepost(&["conform", "--probe", "127.0.0.1:1"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    refused(&["conform", "--bootstrap", "nonsense"], "HOST:PORT");
    refused(&["conform", "--level", "nope"], "core");
    refused(&["conform", "--list", "--probe", "127.0.0.1:1"], "--probe");
}
