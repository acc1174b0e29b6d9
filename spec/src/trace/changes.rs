//! What a step changed.

use super::Fact;
use std::fmt;

/// A fact that is new, gone or different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose, as in [`Fact::actor`].
    pub actor: String,
    /// Which.
    pub field: String,
    /// What it was; `None` for what is new.
    pub before: Option<String>,
    /// What it is; `None` for what is gone.
    pub after: Option<String>,
}

/// What differs between the facts of two states: first what is gone or different, in the order of
/// the first, then what is new.
pub fn changes(before: &[Fact], after: &[Fact]) -> Vec<Change> {
    let mut changes = Vec::new();
    for old in before {
        let new = find(after, old);
        if new.is_none_or(|new| new.value != old.value) {
            changes.push(Change {
                actor: old.actor.clone(),
                field: old.field.clone(),
                before: Some(old.value.clone()),
                after: new.map(|new| new.value.clone()),
            });
        }
    }
    let new = after.iter().filter(|new| find(before, new).is_none());
    changes.extend(new.map(|new| Change {
        actor: new.actor.clone(),
        field: new.field.clone(),
        before: None,
        after: Some(new.value.clone()),
    }));
    changes
}

fn find<'a>(facts: &'a [Fact], wanted: &Fact) -> Option<&'a Fact> {
    facts
        .iter()
        .find(|f| f.actor == wanted.actor && f.field == wanted.field)
}

impl Change {
    /// Whether it is a message that was sent or taken.
    pub fn is_message(&self) -> bool {
        self.actor == "network"
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            actor,
            field,
            before,
            after,
        } = self;
        match (before, after) {
            (None, Some(_)) if self.is_message() => write!(f, "in flight: {field}"),
            (Some(_), None) if self.is_message() => write!(f, "no longer in flight: {field}"),
            (Some(before), Some(after)) => write!(f, "{actor} {field}: {before} -> {after}"),
            (None, Some(after)) => write!(f, "{actor} {field}: {after}"),
            (Some(before), None) => write!(f, "{actor} {field}: no longer {before}"),
            (None, None) => Ok(()),
        }
    }
}
