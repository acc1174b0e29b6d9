//! Reading a line: every word is looked up before anything is run.

use super::vocabulary::{ActorKind, VERBS, Verb, find_verb};
use super::{Line, Unreadable};
use crate::scenario::Scenario;
use crate::types::{PartitionIndex, ProducerIndex};

impl Line {
    /// Reads a line for a scenario. `number` counts lines of the file from 1.
    ///
    /// # Errors
    /// [`Unreadable`] for an actor that the scenario does not have, a verb that the actor does not
    /// have, a key or a value that the verb does not have.
    pub fn read(text: &str, number: usize, scenario: &Scenario) -> Result<Self, Unreadable> {
        let wrong = |what: String, expected: String| Unreadable {
            line: number,
            what,
            expected,
        };
        let mut words = text.split_whitespace();
        let actor = words.next().unwrap_or_default();
        let Some((_, kind)) = actors(scenario).into_iter().find(|(name, _)| name == actor) else {
            let names: Vec<_> = actors(scenario).into_iter().map(|(name, _)| name).collect();
            return Err(wrong(
                format!("no actor `{actor}` in scenario {}", scenario.name),
                format!("one of {}", names.join(", ")),
            ));
        };
        let word = words.next().unwrap_or_default();
        let Some(verb) = find_verb(kind, word) else {
            let known = VERBS.iter().filter(|v| v.actor == kind).map(|v| v.word);
            return Err(wrong(
                format!("{actor} has no action `{word}`"),
                format!("one of {}", known.collect::<Vec<_>>().join(", ")),
            ));
        };
        let mut fields = Vec::new();
        for word in words {
            fields.push(field(word, verb).map_err(|(what, expected)| wrong(what, expected))?);
        }
        let line = Self {
            actor: actor.to_owned(),
            verb: verb.word.to_owned(),
            fields,
        };
        match verb
            .keys
            .iter()
            .find(|k| !k.optional && line.field(k.name).is_none())
        {
            None => Ok(line),
            Some(key) => Err(wrong(
                format!("`{}` needs `{}`", verb.word, key.name),
                format!("{}={}", key.name, key.kind.expected()),
            )),
        }
    }
}

impl Line {
    /// What happens, as a sentence whose subject is the actor, with the values.
    pub fn sentence(&self) -> String {
        let verb = ActorKind::of(&self.actor).and_then(|kind| find_verb(kind, &self.verb));
        let says = verb.map_or(self.verb.as_str(), |verb| verb.says);
        let values: Vec<_> = self
            .fields
            .iter()
            .map(|(k, v)| format!("{k} {v}"))
            .collect();
        if values.is_empty() {
            format!("{}: {says}", self.actor)
        } else {
            format!("{}: {says} ({})", self.actor, values.join(", "))
        }
    }
}

fn field(word: &str, verb: &Verb) -> Result<(String, String), (String, String)> {
    let keys = || {
        verb.keys
            .iter()
            .map(|k| k.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let known = || match verb.keys {
        [] => format!("`{}` takes no values", verb.word),
        _ => format!("KEY=VALUE with one of the keys {}", keys()),
    };
    let Some((name, value)) = word.split_once('=') else {
        return Err((format!("`{word}` is not KEY=VALUE"), known()));
    };
    let Some(key) = verb.keys.iter().find(|k| k.name == name) else {
        return Err((format!("`{}` has no key `{name}`", verb.word), known()));
    };
    if !key.kind.accepts(value) {
        return Err((
            format!("`{value}` is no value for `{name}`"),
            key.kind.expected(),
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// The actors of a scenario, by name.
pub fn actors(scenario: &Scenario) -> Vec<(String, ActorKind)> {
    let mut actors = Vec::new();
    for i in 0..scenario.workloads.len() as u8 {
        actors.push((ProducerIndex(i).to_string(), ActorKind::Producer));
    }
    for broker in 0..scenario.brokers {
        actors.push((format!("coordinator/{broker}"), ActorKind::Coordinator));
    }
    actors.push(("log".to_owned(), ActorKind::Log));
    for p in 0..scenario.partitions + u8::from(scenario.offsets) {
        actors.push((format!("p{}", PartitionIndex(p).0), ActorKind::Partition));
    }
    if scenario.offsets {
        actors.push(("group".to_owned(), ActorKind::Group));
    }
    for i in 0..scenario.readers.len() {
        actors.push((format!("reader/{i}"), ActorKind::Reader));
    }
    if scenario.workloads.iter().any(|w| w.two_phase) {
        actors.push(("manager".to_owned(), ActorKind::Manager));
    }
    actors.push(("cluster".to_owned(), ActorKind::Cluster));
    actors.push(("network".to_owned(), ActorKind::Network));
    actors
}
