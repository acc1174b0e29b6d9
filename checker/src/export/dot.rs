//! A run as a path in Graphviz's language.

use crate::story::worth_telling;
use fencepost_spec::trace::Line;
use fencepost_spec::world::{Action, State};
use std::fmt::Write;

/// The path: a node for each state with what changed, an edge for each step.
pub fn dot(actions: &[Action], states: &[State], story: &str) -> String {
    let mut text = String::from("digraph trace {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    let _ = writeln!(text, "  label=\"{}\";", quote(story));
    text.push_str("  s0 [label=\"start\"];\n");
    for (i, (action, pair)) in actions.iter().zip(states.windows(2)).enumerate() {
        let changes: Vec<_> = worth_telling(&pair[0], &pair[1])
            .iter()
            .map(|change| quote(&change.to_string()))
            .collect();
        let to = i + 1;
        let _ = writeln!(text, "  s{to} [label=\"{}\"];", changes.join("\\l") + "\\l");
        let _ = writeln!(
            text,
            "  s{i} -> s{to} [label=\"{to}. {}\"];",
            quote(&Line::from(action).to_string())
        );
    }
    text.push_str("}\n");
    text
}

fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
