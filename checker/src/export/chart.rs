//! A run as a sequence chart: a lane for each actor, an arrow for each message from where it was
//! sent to where it was taken, and what each step changed in the logs and stable offsets.

use crate::story::worth_telling;
use fencepost_spec::partition::Partition;
use fencepost_spec::properties::{self, Id};
use fencepost_spec::trace::{Change, Line, actors, violated_at_end};
use fencepost_spec::world::{Action, State, World};

/// A chart.
pub struct Chart {
    /// The actors, from left to right.
    pub lanes: Vec<String>,
    /// What stands at the end of each lane: of a partition, its offsets.
    pub at_end: Vec<Option<String>>,
    /// The steps, from top to bottom.
    pub steps: Vec<Step>,
}

/// A step of a chart.
pub struct Step {
    /// The lane where it happens.
    pub lane: usize,
    /// What happens: the verb, with the values that tell most.
    pub label: String,
    /// The step and the lane that sent the message that is taken here.
    pub sent: Option<(usize, usize)>,
    /// Changes to logs, stable offsets and decisions.
    pub notes: Vec<String>,
    /// Whether a marker is written or sent here.
    pub marker: bool,
    /// The properties that this step breaks.
    pub breaks: Vec<Id>,
}

/// The values that a label shows.
const SHOWN: [&str; 6] = [
    "identity",
    "result",
    "error",
    "partition",
    "sequence",
    "state",
];

impl Chart {
    /// The chart of a run. `states` is one longer than `actions`.
    pub fn of(world: &World, actions: &[Action], states: &[State]) -> Self {
        let mut lanes: Vec<String> = actors(&world.scenario)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let lines: Vec<_> = actions.iter().map(Line::from).collect();
        if !lines.is_empty() {
            lanes.retain(|lane| lines.iter().any(|line| line.actor == *lane));
        }
        let changes: Vec<_> = states
            .windows(2)
            .map(|pair| worth_telling(&pair[0], &pair[1]))
            .collect();
        let steps = lines
            .iter()
            .enumerate()
            .map(|(i, line)| Step {
                lane: lane_of(&lanes, &line.actor),
                label: label(line),
                sent: sender(&lines, &changes, i).map(|at| (at, lane_of(&lanes, &lines[at].actor))),
                notes: changes.get(i).map_or_else(Vec::new, |list| notes(list)),
                marker: line.verb.contains("marker"),
                breaks: states
                    .get(i..i + 2)
                    .map_or_else(Vec::new, |pair| breaks(world, pair)),
            })
            .collect();
        let at_end = states.last().map_or_else(Vec::new, |last| {
            lanes.iter().map(|lane| offsets(last, lane)).collect()
        });
        Self {
            lanes,
            at_end,
            steps,
        }
    }
}

/// The properties that hold in the first of two states and are violated in the second.
fn breaks(world: &World, pair: &[State]) -> Vec<Id> {
    let before = properties::violated(world, &pair[0]);
    let after = violated_at_end(world, &pair[1]);
    Id::in_mask(after & !before).collect()
}

fn offsets(state: &State, lane: &str) -> Option<String> {
    let named = |partition: &Partition| format!("p{}", partition.index.0) == lane;
    let partition = state.partitions.iter().find(|part| named(part))?;
    let (stable, high) = (partition.last_stable_offset(), partition.high_watermark);
    Some(format!(
        "last stable {}, high watermark {}",
        stable.0, high.0
    ))
}

fn lane_of(lanes: &[String], actor: &str) -> usize {
    lanes.iter().position(|lane| lane == actor).unwrap_or(0)
}

fn label(line: &Line) -> String {
    let values = SHOWN.iter().filter_map(|key| line.field(key));
    let mut label = line.verb.clone();
    for value in values {
        label.push(' ');
        label.push_str(value);
    }
    label
}

/// The last step before `at` after which the message that `at` takes was in flight anew. A request
/// to the coordinator role is in flight to no broker in particular.
fn sender(lines: &[Line], changes: &[Vec<Change>], at: usize) -> Option<usize> {
    let text = lines[at].to_string();
    let to_role = lines[at]
        .actor
        .starts_with("coordinator/")
        .then(|| text.replacen(&lines[at].actor, "coordinator", 1));
    let is_it = |change: &Change| {
        change.is_message() && (change.field == text || to_role.as_ref() == Some(&change.field))
    };
    (0..at).rev().find(|i| changes[*i].iter().any(is_it))
}

/// What a chart shows of a step's changes.
fn notes(changes: &[Change]) -> Vec<String> {
    const TELLING: [&str; 5] = [
        "offset ",
        "last_stable_offset",
        "high_watermark",
        "state",
        "transaction ",
    ];
    changes
        .iter()
        .filter(|c| !c.is_message() && TELLING.iter().any(|t| c.field.contains(t)))
        .map(Change::to_string)
        .collect()
}
