//! Each opened model is a process; it ends when idle, when there are too many, and with its
//! parent.

use super::server::Explorer;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// The processes that this one started and that have not ended.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("Linux has /proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| stat(*id).is_some_and(|(state, of)| of == parent && state != "Z"))
        .collect()
}

/// The state of a process, and its parent.
fn stat(id: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn open(explorer: &Explorer, scenario: &str) {
    let answer = explorer.get(&format!("/explore/{scenario}/tv2/none/.states/0"));
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[test]
fn an_idle_model_is_closed_and_opens_again() {
    let explorer = Explorer::start(&["--idle", "1s"]);
    assert!(children(explorer.child.id()).is_empty());
    for _ in 0..2 {
        open(&explorer, "smoke");
        until("it is closed", || children(explorer.child.id()).is_empty());
    }
}

#[test]
fn as_many_models_are_open_as_were_allowed() {
    let explorer = Explorer::start(&["--models", "2"]);
    for scenario in ["smoke", "retry", "late", "smoke"] {
        open(&explorer, scenario);
    }
    until("two are open", || children(explorer.child.id()).len() == 2);
}

#[test]
fn a_model_whose_process_is_lost_opens_again() {
    let explorer = Explorer::start(&[]);
    open(&explorer, "smoke");
    let lost = children(explorer.child.id());
    assert_eq!(lost.len(), 1);
    send("KILL", lost[0]);
    open(&explorer, "smoke");
    let now = children(explorer.child.id());
    assert!(now.len() == 1 && now != lost);
}

#[test]
fn no_process_outlives_its_parent() {
    for (signal, code) in [("KILL", None), ("TERM", None), ("INT", Some(0))] {
        let mut explorer = Explorer::start(&[]);
        open(&explorer, "smoke");
        open(&explorer, "retry");
        let opened = children(explorer.child.id());
        assert_eq!(opened.len(), 2);
        send(signal, explorer.child.id());
        let ended = explorer.child.wait().expect("it has ended");
        assert_eq!(ended.code(), code, "{signal}");
        until_ended(&opened);
    }
}

fn until_ended(processes: &[u32]) {
    let ended = |id: &u32| stat(*id).is_none_or(|(state, _)| state == "Z");
    until("they end", || processes.iter().all(ended));
}

fn send(signal: &str, id: u32) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{signal} {id}")])
        .status();
    assert!(sent.expect("a shell runs").success());
}
