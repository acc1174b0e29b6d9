use super::vocabulary::{VERBS, find_verb};
use super::*;
use crate::scenario::{CATALOGUE, Profile, RuleSet};
use crate::world::World;
use fencepost_search::{Checks, Observer, Options, run_bfs_observed};
use std::collections::BTreeSet;

/// Reads every action's text back, and notes the verbs.
struct Reads {
    verbs: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Observer<World> for Reads {
    fn fork(&self) -> Self {
        Self {
            verbs: BTreeSet::new(),
            wrong: Vec::new(),
        }
    }

    fn join(&mut self, other: Self) {
        self.verbs.extend(other.verbs);
        self.wrong.extend(other.wrong);
    }

    fn edge(
        &mut self,
        world: &World,
        _from: &crate::world::State,
        action: &crate::world::Action,
        _to: &crate::world::State,
        _is_new: bool,
    ) {
        let line = Line::from(action);
        match Line::read(&line.to_string(), 1, &world.scenario) {
            Ok(read) if read == line => {}
            Ok(read) => self.wrong.push(format!("{line} was read as {read}")),
            Err(e) => self.wrong.push(format!("{line}: {e}")),
        }
        self.verbs.insert(line.verb);
    }
}

/// Each scenario's first states under each of its rule sets.
fn seen() -> Reads {
    let mut reads = Reads {
        verbs: BTreeSet::new(),
        wrong: Vec::new(),
    };
    for entry in CATALOGUE {
        for (rules, _) in entry.runs {
            let world = World::new(entry.scenario(*rules), entry.rules(*rules));
            let options = Options {
                max_states: Some(2_000),
                ..Options::default()
            };
            reads = run_bfs_observed(&world, &Checks::none(), &options, reads).1;
        }
    }
    reads
}

#[test]
fn every_action_is_read_back_as_it_was_written() {
    let reads = seen();
    assert_eq!(reads.wrong.first(), None);
    assert!(reads.verbs.len() > 10, "{:?}", reads.verbs);
}

#[test]
fn each_word_stands_once_for_an_actor() {
    for verb in VERBS {
        assert_eq!(find_verb(verb.actor, verb.word), Some(verb));
        assert!(verb.keys.iter().filter(|k| k.name == "error").count() <= 1);
        assert!(!verb.says.ends_with('.'), "{}", verb.says);
    }
}

#[test]
fn every_actor_of_every_scenario_is_of_its_kind() {
    for entry in CATALOGUE {
        for (rules, _) in entry.runs {
            for (name, kind) in actors(&entry.scenario(*rules)) {
                assert_eq!(vocabulary::ActorKind::of(&name), Some(kind), "{name}");
            }
        }
    }
    assert_eq!(vocabulary::ActorKind::of("coordinator"), None);
    assert_eq!(vocabulary::ActorKind::of("somebody"), None);
}

#[test]
fn actions_of_one_state_have_different_texts() {
    for entry in CATALOGUE.iter().filter(|e| e.profile == Profile::Default) {
        for (rules, _) in entry.runs {
            let world = World::new(entry.scenario(*rules), entry.rules(*rules));
            let mut state = world.initial();
            // Always the last action: the faults stand behind the deliveries.
            for _ in 0..60 {
                let enabled = world.enabled(&state);
                let texts: BTreeSet<_> = enabled
                    .iter()
                    .map(|(a, _)| Line::from(a).to_string())
                    .collect();
                assert_eq!(texts.len(), enabled.len(), "{} {texts:?}", entry.name);
                match enabled.into_iter().next_back() {
                    Some((_, next)) => state = next,
                    None => break,
                }
            }
        }
    }
}

const HEADER: &str = "story: A start.\nscenario: smoke\nrules: tv2\nmutant: none\nexpect: holds\n";

#[test]
fn a_trace_is_read_written_and_replayed() -> Result<(), Unreadable> {
    let text = format!("{HEADER}\nP start\ncoordinator/0 init_producer_id from=P number=1\n");
    let file = TraceFile::read(&text)?;
    assert_eq!(file.rules, RuleSet::Tv2);
    assert_eq!(file.to_string(), text);
    let run = file.replay().map_err(|e| e.to_string());
    assert_eq!(run.as_ref().map(|r| r.states.len()), Ok(3));
    assert_eq!(run.map(|r| r.violations()), Ok(Vec::new()));
    Ok(())
}

#[test]
fn an_unknown_word_is_unreadable_and_the_message_names_what_was_expected() {
    let cases = [
        ("X start", "no actor `X`", "P, coordinator/0"),
        ("Q start", "no actor `Q`", "P, coordinator/0"),
        ("P jump", "P has no action `jump`", "start, end"),
        ("P start now", "`now` is not KEY=VALUE", "takes no values"),
        ("P start at=1", "`start` has no key `at`", "takes no values"),
        (
            "P end result=maybe",
            "`maybe` is no value for `result`",
            "commit or abort",
        ),
        ("P end", "`end` needs `result`", "commit or abort"),
    ];
    for (line, what, expected) in cases {
        let error = TraceFile::read(&format!("{HEADER}{line}\n")).err();
        let error = error.map(|e| (e.line, e.to_string()));
        assert!(
            error
                .as_ref()
                .is_some_and(|(n, e)| *n == 6 && e.contains(what) && e.contains(expected)),
            "{line}: {error:?}"
        );
    }
}

#[test]
fn a_bad_header_is_unreadable() {
    let cases = [
        ("scenario: smoke", "scenario: smok", "no scenario `smok`"),
        ("rules: tv2", "rules: tv3", "no rules `tv3`"),
        ("mutant: none", "mutant: M99", "no mutant `M99`"),
        ("expect: holds", "expect: violates S99", "no property `S99`"),
        ("expect: holds", "expect: perhaps", "no verdict `perhaps`"),
        ("story: A start.", "tale: A start.", "no header `tale`"),
        ("story: A start.\n", "", "the header has no `story`"),
    ];
    for (good, bad, what) in cases {
        let error = TraceFile::read(&HEADER.replace(good, bad))
            .err()
            .map(|e| e.to_string());
        assert!(
            error.as_ref().is_some_and(|e| e.contains(what)),
            "{bad}: {error:?}"
        );
    }
}

#[test]
fn a_step_that_is_not_enabled_says_what_was() {
    let file = TraceFile::read(&format!("{HEADER}P start\nP start\n"));
    let error = file.map(|f| f.replay().err());
    assert!(matches!(
        error,
        Ok(Some(NotEnabled { line: 7, step: 2, enabled, .. })) if enabled.iter().any(|l| l.verb == "init_producer_id")
    ));
}

#[test]
fn a_step_changes_what_its_actor_and_the_network_hold() {
    let file = TraceFile::read(&format!("{HEADER}P start\n"));
    let changed = file.ok().and_then(|f| {
        let run = f.replay().ok()?;
        let lists: Vec<_> = run.states.iter().map(facts).collect();
        Some(
            changes(&lists[0], &lists[1])
                .iter()
                .map(Change::to_string)
                .collect::<Vec<_>>(),
        )
    });
    let changed = changed.unwrap_or_default();
    assert!(
        changed.contains(&"P phase: Unstarted -> Initializing".to_owned()),
        "{changed:?}"
    );
    assert!(
        changed
            .iter()
            .any(|c| c.starts_with("in flight: coordinator init_producer_id from=P")),
        "{changed:?}"
    );
}
