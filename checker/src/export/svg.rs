//! An SVG sequence chart: lanes from left to right, time from top to bottom.
//!
//! It stands alone; a page that shows it may give its classes other colours.

use super::Chart;
use crate::junit::escape;
use std::fmt::Write;

/// From one lane to the next, what is left of the first and right of the last.
const LANE: usize = 172;
const LEFT: usize = 56;
const RIGHT: usize = 230;
/// The height of the lanes' names, and of a line.
const TOP: usize = 48;
const ROW: usize = 18;

/// The chart.
pub fn svg(chart: &Chart, story: &str) -> String {
    let rows = rows(chart);
    let last = rows.last().map_or(TOP, |(y, lines)| y + lines * ROW);
    let height = last + ROW;
    let width = LEFT + LANE * chart.lanes.len().max(2) - LANE + RIGHT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{}</title>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\" fill=\"context-stroke\">\
         <path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escape(story)
    );
    for i in 0..chart.lanes.len() {
        let x = lane_x(i);
        let _ = writeln!(
            text,
            "<line class=\"lane\" x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{height}\" stroke=\"#bbb\"/>"
        );
    }
    for (i, (y, _)) in rows.iter().enumerate() {
        draw_step(&mut text, chart, i, *y, &rows);
    }
    draw_names(&mut text, chart, width);
    text.push_str("</svg>\n");
    text
}

/// The names of the lanes, last: a page may move them along when it scrolls.
fn draw_names(text: &mut String, chart: &Chart, width: usize) {
    let _ = writeln!(
        text,
        "<g class=\"names\"><rect class=\"ground\" width=\"{width}\" height=\"{TOP}\" fill=\"#fff\"/>"
    );
    for (i, lane) in chart.lanes.iter().enumerate() {
        let x = lane_x(i).saturating_sub(8);
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"20\" font-weight=\"bold\" font-size=\"12\">{}</text>",
            escape(lane)
        );
        if let Some(Some(offsets)) = chart.at_end.get(i) {
            let _ = writeln!(
                text,
                "<text class=\"stable\" x=\"{x}\" y=\"36\" fill=\"#1b6e2c\">{}</text>",
                escape(offsets)
            );
        }
    }
    text.push_str("</g>\n");
}

/// Where each step stands, and how many lines it takes.
fn rows(chart: &Chart) -> Vec<(usize, usize)> {
    let mut y = TOP + ROW;
    chart
        .steps
        .iter()
        .map(|step| {
            let lines = 1 + step.notes.len() + step.breaks.len();
            let at = y;
            y += lines * ROW + 6;
            (at, lines)
        })
        .collect()
}

fn lane_x(lane: usize) -> usize {
    LEFT + LANE * lane
}

fn draw_step(text: &mut String, chart: &Chart, i: usize, y: usize, rows: &[(usize, usize)]) {
    let step = &chart.steps[i];
    let x = lane_x(step.lane);
    let (class, colour) = match step.marker {
        true => ("step marker", "#b3261e"),
        false => ("step", "#1a4b8c"),
    };
    let _ = writeln!(text, "<g class=\"{class}\" data-step=\"{}\">", i + 1);
    if let Some((sent, lane)) = step.sent {
        let (from_x, from_y) = (lane_x(lane), rows[sent].0);
        let _ = writeln!(
            text,
            "<line class=\"arrow\" x1=\"{from_x}\" y1=\"{from_y}\" x2=\"{x}\" y2=\"{y}\" \
             stroke=\"{colour}\" stroke-opacity=\"0.7\" marker-end=\"url(#head)\"/>"
        );
    }
    let _ = writeln!(
        text,
        "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>\
         <text class=\"number\" x=\"8\" y=\"{}\" fill=\"#777\">{}</text>\
         <text x=\"{}\" y=\"{}\">{}</text>",
        y + 4,
        i + 1,
        x + 9,
        y + 4,
        escape(&step.label)
    );
    let notes = step
        .notes
        .iter()
        .map(|note| match note.contains("last_stable_offset") {
            true => ("stable", "#1b6e2c", note.clone()),
            false => ("note", "#666", note.clone()),
        });
    let breaks = step.breaks.iter().map(|id| {
        let says = format!("{} is violated: {}", id.name(), id.row().name);
        ("broken", "#b3261e", says)
    });
    for (n, (class, fill, note)) in (1..).zip(notes.chain(breaks)) {
        let _ = writeln!(
            text,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" fill=\"{fill}\">{}</text>",
            x + 16,
            y + 4 + n * ROW,
            escape(&note)
        );
    }
    text.push_str("</g>\n");
}
