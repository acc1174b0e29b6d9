//! A counterexample as a story: the property, its source, then each step with what it changed.

use crate::output::bold;
use fencepost_spec::properties::Row;
use fencepost_spec::trace::{Change, Line, changes, facts};
use fencepost_spec::world::{Action, State};
use std::fmt::Write;
use std::ops::Range;

/// The head of a violation: the property with its sentence and its source.
pub fn headline(row: &Row, steps: usize) -> String {
    format!(
        "{}\n  {}\n  Source: {}\n",
        bold(&format!(
            "{} {}: violated in {steps} steps",
            row.id.name(),
            row.name
        )),
        row.says,
        row.source
    )
}

/// Each step as `actor: what happened`, with what it changed. `states` is one longer.
pub fn steps(actions: &[Action], states: &[State]) -> String {
    told(actions, states, 0..actions.len())
}

/// A lasso: the steps to the cycle, which begins after step `from`, then those that go on for ever.
pub fn lasso(actions: &[Action], states: &[State], from: usize) -> String {
    let mut text = told(actions, states, 0..from);
    if from == actions.len() {
        text.push_str("  Then nothing has to happen any more, and it stays so for ever.\n");
    } else {
        text.push_str("  Then, again and again:\n");
        text.push_str(&told(actions, states, from..actions.len()));
    }
    text
}

fn told(actions: &[Action], states: &[State], range: Range<usize>) -> String {
    let mut text = String::new();
    for i in range {
        let _ = writeln!(
            text,
            "  {:>3}. {}",
            i + 1,
            Line::from(&actions[i]).sentence()
        );
        for change in worth_telling(&states[i], &states[i + 1]) {
            let _ = writeln!(text, "         {change}");
        }
    }
    text
}

/// What a step changed, without the message that it took and the fault that it spent: the step
/// itself says those.
pub fn worth_telling(before: &State, after: &State) -> Vec<Change> {
    let mut list = changes(&facts(before), &facts(after));
    list.retain(|change| {
        let taken = change.is_message() && change.after.is_none();
        !taken && !change.field.starts_with("faults left")
    });
    list
}
