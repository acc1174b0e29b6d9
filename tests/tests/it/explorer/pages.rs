//! What the pages show, and that an address leads to the same step in another process.

use super::server::Explorer;
use crate::support::{code, fencepost, json, root};
use serde_json::Value;

fn names(arguments: &[&str], list: &str, field: &str) -> Vec<String> {
    let report = json(&fencepost(arguments));
    let rows = report[list].as_array().expect("a list");
    let names = rows.iter().map(|row| row[field].as_str().expect("a name"));
    names.map(str::to_owned).collect()
}

#[test]
fn the_start_page_lists_every_scenario_mutant_and_trace() {
    let explorer = Explorer::start(&["--traces", "tests/traces"]);
    assert!(
        explorer.opened["url"]
            .as_str()
            .is_some_and(|url| url.ends_with("/"))
    );
    let start = explorer.get("/");
    assert_eq!(start.status, 200);
    let scenarios = names(&["scenarios", "--json"], "scenarios", "name");
    assert!(scenarios.len() > 30);
    for name in scenarios {
        assert!(start.body.contains(&format!("/explore/{name}/")), "{name}");
    }
    for id in names(&["mutants", "--list", "--json"], "mutants", "id") {
        assert!(start.body.contains(&format!("/{id}/")), "{id}");
    }
    let folder = root().join("tests/traces/counterexample");
    let mut traces = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("a name of ASCII");
        assert!(
            start
                .body
                .contains(&format!("/trace/counterexample/{name}")),
            "{name}"
        );
        traces += 1;
    }
    assert!(traces > 100);
    for file in ["style.css", "start.js", "model.js"] {
        assert_eq!(
            explorer.get(&format!("/assets/{file}")).status,
            200,
            "{file}"
        );
    }
}

#[test]
fn a_mutant_opens_at_the_last_step_of_its_counterexample_in_every_process() {
    let url = |explorer: &Explorer| {
        let url = explorer.opened["url"]
            .as_str()
            .expect("an address")
            .to_owned();
        url.replace(&explorer.address.to_string(), "HOST")
    };
    let explorer = Explorer::start(&["--mutant", "M08", "--traces", "tests/traces"]);
    let steps = explorer.opened["steps"].as_u64().expect("a number");
    let opened = url(&explorer);
    let (page, places) = opened.split_once("#/steps").expect("it names the steps");
    assert_eq!(page, "http://HOST/explore/late/tv1/M08/");
    assert_eq!(places.split('/').count() as u64, steps + 2);

    let (before, last) = places.rsplit_once('/').expect("more than one place");
    let folder = page.trim_start_matches("http://HOST");
    let choices = explorer.get(&format!("{folder}.states{before}"));
    let choices: Value = serde_json::from_str(&choices.body).expect("it is JSON");
    let choices = choices.as_array().expect("a list");
    let index: u64 = last.parse().expect("a place is a number");
    let chosen = choices.iter().find(|choice| choice["actionIndex"] == index);
    let chosen = chosen.expect("the last step is a choice of the state before");
    assert!(
        chosen["outcome"]
            .as_str()
            .is_some_and(|o| o.contains("S1 is violated"))
    );
    assert!(
        chosen["state"]
            .as_str()
            .is_some_and(|s| s.starts_with("violated\n    S1 = "))
    );
    let chart = chosen["svg"].as_str().expect("a chart");
    assert_eq!(chart.matches("data-step=").count() as u64, steps);
    assert!(chart.contains("last_stable_offset") && chart.contains("class=\"step marker\""));

    let again = Explorer::start(&["late", "--rules", "tv1", "--mutant", "M08", "--at", "S1"]);
    assert_eq!(url(&again), opened);
    let redirected = again.get("/at/late/tv1/M08/S1");
    assert_eq!(redirected.status, 303);
    assert_eq!(
        redirected.location(),
        format!("{folder}?at=S1#/steps{places}")
    );
}

#[test]
fn a_saved_trace_opens_at_any_step() {
    let name = "counterexample/S1_m08_late_tv1.trace";
    let explorer = Explorer::start(&["--traces", "tests/traces"]);
    let end = explorer.get(&format!("/trace/{name}"));
    assert_eq!(end.status, 303);
    let end = end.location().to_owned();
    assert!(
        end.starts_with(&format!("/explore/late/tv1/M08/?trace={name}#/steps/0/")),
        "{end}"
    );
    let steps = end
        .split("#/steps")
        .nth(1)
        .expect("steps")
        .split('/')
        .count()
        - 2;
    let third = explorer.get(&format!("/trace/{name}?step=3"));
    assert_eq!(third.location(), format!("{end}?offset={}", steps - 3));
    let named = Explorer::start(&[&format!("tests/traces/{name}")]);
    assert_eq!(named.opened["steps"], steps);
    let page = explorer.get(end.split('#').next().expect("a page"));
    assert!(page.status == 200 && page.body.contains("The timer aborts at the current epoch."));
}

#[test]
fn every_saved_trace_opens() {
    let explorer = Explorer::start(&["--traces", "tests/traces/counterexample"]);
    for entry in std::fs::read_dir(root().join("tests/traces/counterexample")).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("a name of ASCII");
        let answer = explorer.get(&format!("/trace/{name}"));
        assert_eq!(answer.status, 303, "{name}: {}", answer.body);
    }
}

#[test]
fn check_says_the_address_that_opens_a_violation() {
    let output = fencepost(&[
        "check", "smoke", "--rules", "tv2", "--mutant", "M04", "--json",
    ]);
    assert_eq!(code(&output), 1);
    let report = json(&output);
    let violations = report["runs"][0]["violations"].as_array().expect("a list");
    let url = violations[0]["url"].as_str().expect("an address");
    let path = url
        .strip_prefix("http://127.0.0.1:3000")
        .expect("the default address");
    let opened = Explorer::start(&[]).get(path);
    assert_eq!(opened.status, 303);
    let steps = opened
        .location()
        .split("#/steps")
        .nth(1)
        .expect("steps")
        .split('/')
        .count()
        - 2;
    assert_eq!(violations[0]["steps"], steps);
}

#[test]
fn what_there_is_not_has_a_page_that_says_so() {
    let explorer = Explorer::start(&["--traces", "tests/traces"]);
    for (path, expected) in [
        ("/nosuch", "There is no such page"),
        ("/assets/none.css", "There is no such file"),
        ("/explore/nosuch/tv1/none/", "no scenario `nosuch`"),
        ("/explore/smoke/tv9/none/", "tv2"),
        ("/explore/smoke/tv2/M00/", "no mutant `M00`"),
        ("/explore/smoke/tv2/none/index.htm", "no such page"),
        ("/explore/smoke/tv2/none/.states/x", "no such page"),
        (
            "/explore/smoke/tv2/none/.states/0/99",
            "Unable to find state",
        ),
        ("/at/smoke/tv2/none/S1", "S1 is not violated in smoke tv2"),
        ("/at/smoke/tv2/none/S99", "no property `S99`"),
        ("/trace/none.trace", "There is no trace"),
        ("/trace/..%2F..%2FREADME.md", "There is no trace"),
        ("/trace/%2Fetc%2Fpasswd", "There is no trace"),
        ("/trace/%3Cscript%3E", "There is no trace"),
    ] {
        let answer = explorer.get(path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert!(answer.body.contains(expected), "{path}: {}", answer.body);
        assert!(!answer.body.contains("<script>"), "{path}");
    }
    let folder = explorer.get("/explore/smoke/tv2/none");
    assert_eq!(folder.location(), "/explore/smoke/tv2/none/");
}
