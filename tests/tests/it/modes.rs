//! The modes of `check`: they agree where they must, say "incomplete" where they must, and survive `kill -9`.

use crate::support::{code, command, fencepost, json, stderr};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The first run that the program reports for these arguments of `check`.
fn check(arguments: &[&str]) -> Value {
    let arguments = [&["check", "--json"], arguments].concat();
    let output = fencepost(&arguments);
    assert!(code(&output) < 2, "{arguments:?}: {}", stderr(&output));
    json(&output)["runs"][0].clone()
}

fn refused(arguments: &[&str], expected: &str) {
    let output = fencepost(arguments);
    let message = stderr(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {message}");
    assert!(message.contains(expected), "{arguments:?}: {message}");
}

/// What must be the same however the whole was searched.
fn whole(run: &Value) -> [&Value; 6] {
    [
        "distinct",
        "generated",
        "digest",
        "terminal",
        "deadlocks",
        "verdict",
    ]
    .map(|key| &run[key])
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ASCII")
}

#[test]
fn depth_first_sees_what_breadth_first_sees() {
    for (scenario, rules) in [("timer", "tv1"), ("late", "tv2"), ("hanging", "tv1")] {
        let broad = check(&[scenario, "--rules", rules]);
        let deep = check(&[scenario, "--rules", rules, "--mode", "dfs"]);
        assert_eq!(whole(&deep), whole(&broad), "{scenario} under {rules}");
        let names = |run: &Value| -> Vec<Value> {
            let rows = run["violations"].as_array().expect("a list");
            rows.iter().map(|row| row["property"].clone()).collect()
        };
        assert_eq!(names(&deep), names(&broad));
        assert_eq!(
            (&deep["mode"], &broad["mode"]),
            (&"dfs".into(), &"bfs".into())
        );
    }
}

#[test]
fn minimised_counterexamples_replay() {
    let mutant = ["smoke", "--rules", "tv2", "--mutant", "M04"];
    let broad = check(&mutant);
    let directory = tempfile::tempdir().expect("a temporary folder");
    for mode in ["dfs", "simulate"] {
        let folder = directory.path().join(mode);
        let flags = ["--mode", mode, "--traces", text(&folder)];
        let run = check(&[&mutant[..], &flags].concat());
        assert_eq!(run["verdict"], "violated", "{mode}");
        let mut saved = 0;
        for entry in fs::read_dir(&folder).expect("traces were saved") {
            let path = entry.expect("an entry").path();
            let output = fencepost(&["replay", text(&path)]);
            assert_eq!(code(&output), 0, "{}: {}", path.display(), stderr(&output));
            saved += 1;
        }
        let violations = run["violations"].as_array().expect("a list");
        assert_eq!(saved, violations.len());
        // Whatever was walked, what is left are the steps that matter.
        for row in violations {
            let steps = |row: &Value| row["steps"].as_u64().expect("a number");
            let shortest = steps(find(&broad, &row["property"]).expect("it is violated"));
            let bound = shortest..=shortest + 25;
            assert!(
                bound.contains(&steps(row)),
                "{mode}: {shortest} steps do for {row}"
            );
        }
    }
}

fn find<'a>(run: &'a Value, property: &Value) -> Option<&'a Value> {
    let rows = run["violations"].as_array().expect("a list");
    rows.iter().find(|row| row["property"] == *property)
}

#[test]
fn walks_are_told_by_their_seed_and_show_nothing_to_hold() {
    let walk = |seed: &str| {
        check(&[
            "smoke", "--rules", "tv2", "--mode", "simulate", "--seed", seed, "--walks", "50",
        ])
    };
    let (one, again, other) = (walk("1"), walk("1"), walk("2"));
    assert_eq!(whole(&one), whole(&again));
    assert_ne!(one["digest"], other["digest"]);
    assert_eq!(
        (&one["verdict"], &one["expected"]),
        (&"incomplete".into(), &"incomplete".into())
    );
    assert_eq!((&one["seed"], &one["ok"]), (&1.into(), &true.into()));
    // A walk that meets what nobody expects is a finding all the same.
    let arguments = [
        "check", "smoke", "--rules", "tv2", "--mutant", "M04", "--mode", "simulate",
    ];
    assert_eq!(code(&fencepost(&arguments)), 1);
}

#[test]
fn a_bound_is_incomplete_in_every_mode() {
    for mode in ["bfs", "dfs", "simulate"] {
        let run = check(&[
            "retry",
            "--rules",
            "tv2",
            "--mode",
            mode,
            "--max-states",
            "100",
        ]);
        assert_eq!(run["verdict"], "incomplete", "{mode}");
        assert!(
            run["incomplete"]
                .as_str()
                .is_some_and(|why| why.contains("states")),
            "{run}"
        );
    }
    let run = check(&["retry", "--rules", "tv2", "--max-memory", "1KB"]);
    assert_eq!(run["verdict"], "incomplete");
    assert!(
        run["incomplete"]
            .as_str()
            .is_some_and(|why| why.contains("memory")),
        "{run}"
    );
}

#[test]
fn states_that_wait_on_disk_change_nothing() {
    let run = ["retry", "--rules", "tv1"];
    let expected = check(&run);
    let directory = tempfile::tempdir().expect("a temporary folder");
    for (threads, keep) in [("1", "0"), ("1", "500"), ("2", "0"), ("2", "3000")] {
        let flags = ["--spill", keep, "--threads", threads];
        let spilled = check(&[&run[..], &flags].concat());
        assert_eq!(whole(&spilled), whole(&expected), "{flags:?}");
        assert_eq!(spilled["violations"], expected["violations"], "{flags:?}");
    }
    // With a checkpoint they wait in its folder, and are gone at the end.
    let flags = ["--spill", "0", "--checkpoint", text(directory.path())];
    let kept = check(&[&run[..], &flags].concat());
    assert_eq!(whole(&kept), whole(&expected));
    let left = fs::read_dir(directory.path().join("retry-tv1")).expect("the checkpoint's folder");
    assert_eq!(left.count(), 1);
}

#[test]
fn symmetry_changes_no_verdict_and_says_what_it_spared() {
    for (scenario, rules, mutant, spares) in [
        ("failed-fence", "tv2", None, true),
        ("timer", "tv1", None, false),
        ("failed-append", "tv1", Some("M13b"), true),
    ] {
        let mut run = vec![scenario, "--rules", rules];
        run.extend(mutant.into_iter().flat_map(|id| ["--mutant", id]));
        let off = check(&[&run[..], &["--symmetry", "off"]].concat());
        assert!(off["symmetry"].is_null(), "{off}");
        for threads in ["1", "2"] {
            let flags = ["--symmetry", "on", "--threads", threads];
            let on = check(&[&run[..], &flags].concat());
            assert_eq!(on["verdict"], off["verdict"], "{run:?}");
            let broken = |run: &Value| -> Vec<Value> {
                let rows = run["violations"].as_array().expect("a list").iter();
                rows.map(|row| row["property"].clone()).collect()
            };
            assert_eq!(broken(&on), broken(&off), "{run:?}");
            let states = |run: &Value| run["distinct"].as_f64().expect("a number");
            let factor = on["symmetry"]["factor"].as_f64().expect("a number");
            // The orbits of what was visited are all that there is.
            assert!(
                (states(&on) * factor - states(&off)).abs() < 0.5,
                "{run:?}: {factor}"
            );
            assert_eq!(factor > 1.0, spares, "{run:?}: {factor}");
            let names = on["symmetry"]["renamings"].as_array().expect("a list");
            assert_eq!(!names.is_empty(), spares);
        }
    }
}

#[test]
fn flags_that_do_not_fit_together_are_usage() {
    refused(&["check", "smoke", "--seed", "1"], "--mode simulate");
    refused(
        &["check", "smoke", "--mode", "dfs", "--seed", "1"],
        "--mode simulate",
    );
    refused(&["check", "smoke", "--walks", "9"], "--mode simulate");
    refused(
        &["check", "smoke", "--mode", "dfs", "--threads", "2"],
        "--mode bfs",
    );
    refused(
        &["check", "smoke", "--mode", "simulate", "--checkpoint", "x"],
        "--mode bfs",
    );
    refused(
        &["check", "smoke", "--mode", "dfs", "--resume", "x"],
        "--mode bfs",
    );
    refused(
        &["check", "smoke", "--mode", "dfs", "--spill", "9"],
        "--mode bfs",
    );
    refused(
        &["check", "smoke", "--checkpoint", "x", "--resume", "x"],
        "--resume",
    );
    refused(&["check", "smoke", "--mode", "sideways"], "simulate");
}

#[test]
fn a_checkpoint_that_cannot_be_used_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let folder = text(directory.path());
    refused(
        &["check", "smoke", "--resume", folder],
        "no checkpoint of these runs",
    );
    check(&["smoke", "--rules", "tv1", "--checkpoint", folder]);
    refused(
        &["check", "late", "--resume", folder],
        "no checkpoint of these runs",
    );
    // Of something else.
    let (mine, other) = (
        directory.path().join("smoke-tv1"),
        directory.path().join("smoke-tv2"),
    );
    fs::rename(&mine, &other).expect("it is renamed");
    refused(
        &["check", "smoke", "--rules", "tv2", "--resume", folder],
        "smoke tv1",
    );
    // Spoilt.
    fs::rename(&other, &mine).expect("it is renamed");
    let file = fs::read_dir(&mine).expect("the folder is there").next();
    let file = file.expect("a checkpoint").expect("an entry").path();
    fs::write(&file, "nothing of the kind").expect("it is written");
    let message = "not a checkpoint";
    refused(
        &["check", "smoke", "--rules", "tv1", "--resume", folder],
        message,
    );
    // Where no folder can be made.
    let arguments = ["check", "smoke", "--checkpoint", text(&file)];
    assert_eq!(code(&fencepost(&arguments)), 4);
}

/// The bytes of a folder's files.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|m| m.len())
        .sum()
}

/// Runs until the folder holds so many bytes, then kills the process; false when it ended before.
fn killed_at(mut command: Command, folder: &Path, bytes: u64) -> bool {
    let mut victim = command
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    for _ in 0..60_000 {
        if size(folder) >= bytes || victim.try_wait().expect("it can be asked").is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL; of a process that has ended it is an error, or nothing.
    let _ = victim.kill();
    !victim.wait().expect("it ends").success()
}

#[test]
fn kill_9_then_resume_gives_the_identical_report() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let (whole_at, parts_at) = (
        directory.path().join("whole"),
        directory.path().join("parts"),
    );
    let run = ["retry", "--rules", "tv1", "--checkpoint", text(&whole_at)];
    let expected = check(&run);
    let last = size(&whole_at.join("retry-tv1"));
    let mut kills = 0;
    for (at, percent) in [1, 10, 30, 50, 70].into_iter().enumerate() {
        let flag = if at == 0 { "--checkpoint" } else { "--resume" };
        let arguments = ["check", "retry", "--rules", "tv1", flag, text(&parts_at)];
        let folder = parts_at.join("retry-tv1");
        kills += u32::from(killed_at(
            command(&arguments),
            &folder,
            last * percent / 100,
        ));
    }
    assert!(kills > 1, "it was to be killed, not to finish");
    for threads in ["1", "2"] {
        let arguments = [
            "retry",
            "--rules",
            "tv1",
            "--resume",
            text(&parts_at),
            "--threads",
            threads,
        ];
        let resumed = check(&arguments);
        assert_eq!(whole(&resumed), whole(&expected));
        assert_eq!(resumed["depth"], expected["depth"]);
        let traces = |run: &Value| -> Vec<Value> {
            let rows = run["violations"].as_array().expect("a list");
            rows.iter().map(|row| row["ways"].clone()).collect()
        };
        assert_eq!(traces(&resumed), traces(&expected));
    }
}

#[test]
fn violations_are_told_by_their_last_action() {
    let run = check(&["timer", "--rules", "tv1"]);
    for row in run["violations"].as_array().expect("a list") {
        let ways = row["ways"].as_array().expect("a list");
        let mut last: Vec<_> = ways
            .iter()
            .map(|way| way["last_action"].to_string())
            .collect();
        let shortest = ways.iter().map(|way| way["steps"].as_u64()).min().flatten();
        assert_eq!(shortest, row["steps"].as_u64(), "{row}");
        let count = last.len();
        last.sort();
        last.dedup();
        assert_eq!(last.len(), count, "{row}");
    }
}

#[test]
fn a_report_names_what_never_happened() {
    let report = json(&fencepost(&["check", "smoke", "--rules", "tv2", "--json"]));
    let actions = report["never"]["actions"].as_array().expect("a list");
    assert!(
        actions.contains(&"cluster elect".into()) && !actions.contains(&"producer start".into())
    );
    let cells = report["never"]["cells"].as_array().expect("a list");
    assert!(cells.len() > 20 && cells[0].get("request").is_some());
    assert!(report["runs"][0]["cells"].as_u64().is_some_and(|n| n > 5));
    // No deadlock, and every fault of this run happened.
    assert_eq!(report["runs"][0]["deadlocks"], 0);
    let run = check(&["lost-marker", "--rules", "tv2"]);
    let never = run["never"].as_array().expect("a list");
    assert!(!never.contains(&"network lose_marker".into()), "{never:?}");
}
