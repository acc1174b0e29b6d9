//! Makes the tours: a walk over the model from a fresh broker, breadth first, that keeps the
//! shortest way to each cell. Ways that leave a trace behind or need a held broker count as longer.

mod moves;
mod node;
mod request;

use std::collections::{BTreeMap, HashSet};

use fencepost_spec::coverage::Cell;
use fencepost_spec::rules::Rules;

use super::cell_id::cell_id;
use super::command::Command;
use node::Node;

/// Requests before the one that meets the cell.
const MAX_PREFIX: usize = 6;
/// Places on the way that are looked at.
const MAX_NODES: usize = 3_000;

/// How a cell is reached, the cell's own request last.
pub type Ways = BTreeMap<String, Vec<Command>>;

/// The shortest way to each cell under `rules`.
pub fn generate(rules: &Rules) -> Ways {
    let mut ways = Ways::new();
    let mut seen = HashSet::new();
    let mut level = vec![Node::start(rules)];
    let mut nodes = 0;
    for _ in 0..=MAX_PREFIX {
        let mut next = Vec::new();
        for node in level {
            nodes += 1;
            if nodes > MAX_NODES {
                return ways;
            }
            for probe in node.probes() {
                if let Some((_, cell)) = node.take(&probe) {
                    keep(&mut ways, &cell, &node.path, &probe);
                }
            }
            for step in node.steps() {
                let Some((after, _)) = node.take(&step) else {
                    continue;
                };
                if seen.insert(after.fingerprint()) {
                    next.push(after);
                }
            }
        }
        level = next;
    }
    ways
}

fn keep(ways: &mut Ways, cell: &Cell, path: &[Command], probe: &[Command]) {
    let way = [path, probe].concat();
    let cost = |way: &[Command]| (super::trouble(way), way.len());
    let known = ways.entry(cell_id(cell)).or_insert_with(|| way.clone());
    if cost(&way) < cost(known) {
        *known = way;
    }
}

/// The cell that the last request of a way meets; none where the model does not go that way.
pub fn met(rules: &Rules, way: &[Command]) -> Option<String> {
    let mut node = Node::start(rules);
    let mut together = Vec::new();
    let mut cell = None;
    for command in way {
        together.push(*command);
        let alone = !matches!(
            command,
            Command::HoldLog | Command::Unanswered | Command::Elsewhere
        );
        if alone {
            let (after, met) = node.take(&together)?;
            node = after;
            cell = Some(met);
            together.clear();
        }
    }
    cell.map(|cell| cell_id(&cell))
}
