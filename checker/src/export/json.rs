//! Steps, what each changed, and the state after it, as JSON.

use crate::story::worth_telling;
use fencepost_spec::trace::{Line, TraceFile, facts};
use fencepost_spec::world::{Action, State};
use serde_json::{Map, Value, json};

/// The trace.
pub fn json(file: &TraceFile, actions: &[Action], states: &[State]) -> Value {
    let steps: Vec<_> = actions
        .iter()
        .zip(states.windows(2))
        .enumerate()
        .map(|(i, (action, pair))| {
            let line = Line::from(action);
            let changes: Vec<_> = worth_telling(&pair[0], &pair[1])
                .iter()
                .map(ToString::to_string)
                .collect();
            json!({
                "step": i + 1,
                "action": line.to_string(),
                "actor": line.actor,
                "verb": line.verb,
                "sentence": line.sentence(),
                "changes": changes,
                "state": state(&pair[1]),
            })
        })
        .collect();
    json!({
        "schema_version": crate::output::SCHEMA_VERSION,
        "ok": true,
        "story": file.story,
        "scenario": file.scenario.name,
        "rules": file.rules.name(),
        "mutant": file.mutant.map(|m| m.id),
        "expect": file.expect.to_string(),
        "initial": states.first().map(state),
        "steps": steps,
    })
}

fn state(state: &State) -> Value {
    let mut actors = Map::new();
    for fact in facts(state) {
        let actor = actors
            .entry(fact.actor)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(actor) = actor.as_object_mut() {
            actor.insert(fact.field, Value::String(fact.value));
        }
    }
    Value::Object(actors)
}
