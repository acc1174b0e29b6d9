//! A Mermaid sequence diagram.

use super::Chart;
use std::fmt::Write;

/// The diagram.
pub fn mermaid(chart: &Chart, story: &str) -> String {
    let mut text = String::from("sequenceDiagram\n");
    let _ = writeln!(text, "    %% {}", clean(story));
    for (i, lane) in chart.lanes.iter().enumerate() {
        let _ = writeln!(text, "    participant L{i} as {lane}");
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let from = step.sent.map_or(step.lane, |(_, lane)| lane);
        let arrow = if step.marker { "-->>" } else { "->>" };
        let label = clean(&step.label);
        let _ = writeln!(text, "    L{from}{arrow}L{}: {}. {label}", step.lane, i + 1);
        for note in &step.notes {
            let _ = writeln!(text, "    Note over L{}: {}", step.lane, clean(note));
        }
    }
    text
}

/// Without the characters that end a Mermaid statement.
fn clean(text: &str) -> String {
    text.replace(';', ",")
        .replace('#', "no. ")
        .replace('\n', " ")
}
