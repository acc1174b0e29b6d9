//! The Informal Trace Format of Apalache: each state a record of its variables. Each actor is a
//! variable, whose value is the record of its facts; `action` is the step that led to the state.

use fencepost_spec::trace::{Line, TraceFile, facts};
use fencepost_spec::world::{Action, State};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The trace.
pub fn itf(file: &TraceFile, actions: &[Action], states: &[State]) -> Value {
    let mut variables = BTreeSet::from(["action".to_owned()]);
    variables.extend(states.iter().flat_map(facts).map(|fact| name(&fact.actor)));
    let states: Vec<_> = states
        .iter()
        .enumerate()
        .map(|(i, state)| {
            let action = i.checked_sub(1).and_then(|before| actions.get(before));
            let action = action.map_or_else(|| "init".to_owned(), |a| Line::from(a).to_string());
            one(i, state, &action, &variables)
        })
        .collect();
    json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": file.story,
            "scenario": file.scenario.name,
            "rules": file.rules.name(),
            "mutant": file.mutant.map(|m| m.id),
        },
        "vars": variables,
        "states": states,
    })
}

fn one(i: usize, state: &State, action: &str, variables: &BTreeSet<String>) -> Value {
    let mut record = Map::new();
    record.insert("#meta".to_owned(), json!({ "index": i }));
    for variable in variables {
        // ITF writes a function as a list of pairs: an actor's facts are one.
        record.insert(variable.clone(), json!({ "#map": [] }));
    }
    record.insert("action".to_owned(), json!(action));
    for fact in facts(state) {
        let pairs = record
            .get_mut(&name(&fact.actor))
            .and_then(|map| map.get_mut("#map"))
            .and_then(Value::as_array_mut);
        if let Some(pairs) = pairs {
            pairs.push(json!([fact.field, fact.value]));
        }
    }
    Value::Object(record)
}

/// An actor's name as a variable: TLA+ identifiers have no slash.
fn name(actor: &str) -> String {
    actor.replace('/', "_")
}
