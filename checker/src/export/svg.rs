//! An SVG sequence chart: lanes from left to right, time from top to bottom.

use super::Chart;
use crate::junit::escape;
use std::fmt::Write;

const LANE: usize = 190;
const LEFT: usize = 110;
const TOP: usize = 56;
const ROW: usize = 20;

/// The chart.
pub fn svg(chart: &Chart, story: &str) -> String {
    let rows = rows(chart);
    let height = rows.last().map_or(TOP, |(y, _)| *y) + 3 * ROW;
    let width = LEFT * 2 + LANE * chart.lanes.len().max(2);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{}</title>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escape(story)
    );
    for (i, lane) in chart.lanes.iter().enumerate() {
        let x = lane_x(i);
        let _ = writeln!(
            text,
            "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\" stroke=\"#bbb\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>",
            height - ROW,
            TOP - 12,
            escape(lane)
        );
    }
    for (i, (y, _)) in rows.iter().enumerate() {
        draw_step(&mut text, chart, i, *y, &rows);
    }
    text.push_str("</svg>\n");
    text
}

/// Where each step stands, and how many lines it takes.
fn rows(chart: &Chart) -> Vec<(usize, usize)> {
    let mut y = TOP + ROW;
    chart
        .steps
        .iter()
        .map(|step| {
            let lines = 1 + step.notes.len();
            let at = y;
            y += lines * ROW + 6;
            (at, lines)
        })
        .collect()
}

fn lane_x(lane: usize) -> usize {
    LEFT + LANE * lane + LANE / 2
}

fn draw_step(text: &mut String, chart: &Chart, i: usize, y: usize, rows: &[(usize, usize)]) {
    let step = &chart.steps[i];
    let x = lane_x(step.lane);
    let colour = if step.marker { "#b3261e" } else { "#1a4b8c" };
    if let Some((sent, lane)) = step.sent {
        let (from_x, from_y) = (lane_x(lane), rows[sent].0);
        let _ = writeln!(
            text,
            "<line x1=\"{from_x}\" y1=\"{from_y}\" x2=\"{x}\" y2=\"{y}\" stroke=\"{colour}\" \
             stroke-opacity=\"0.7\" marker-end=\"url(#head)\"/>"
        );
    }
    let _ = writeln!(
        text,
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>\
         <text x=\"8\" y=\"{}\" fill=\"#777\">{}</text>\
         <text x=\"{}\" y=\"{}\">{}</text>",
        y + 4,
        i + 1,
        x + 9,
        y + 4,
        escape(&step.label)
    );
    for (n, note) in (1..).zip(&step.notes) {
        let stable = note.contains("last_stable_offset");
        let fill = if stable { "#1b6e2c" } else { "#666" };
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" fill=\"{fill}\" font-style=\"italic\">{}</text>",
            x + 16,
            y + 4 + n * ROW,
            escape(note)
        );
    }
}
