//! The saved ways, as cases.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fencepost_spec::coverage::Cell;
use fencepost_spec::types::TransactionVersion;

use super::cell_id::cell_id;
use super::command::{Command, UnreadableCommand};
use super::trouble;
use crate::cases::case::{Body, Case, Level, Need, Requirement};
use crate::cases::judge::Configuration;
use crate::cases::stage::{Manner, Outcome, Stage, Stop};

const TV1: &str = include_str!("tv1.txt");
const TV2: &str = include_str!("tv2.txt");

/// A cell of the tour, and the way to it under each level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tour {
    id: String,
    name: String,
    title: String,
    tv1: Vec<Command>,
    tv2: Vec<Command>,
    needs: Vec<Need>,
}

static TOURS: LazyLock<Vec<Tour>> = LazyLock::new(read_tours);

/// The cases of the tour, by id.
pub fn cases() -> Vec<Case> {
    TOURS.iter().map(case).collect()
}

/// Whether the tour of a level comes to a cell.
#[must_use]
pub fn is_toured(version: TransactionVersion, cell: &Cell) -> bool {
    let id = cell_id(cell);
    TOURS
        .iter()
        .any(|tour| tour.id == id && !tour.way(version).is_empty())
}

fn case(tour: &'static Tour) -> Case {
    let level = match tour.ways().map(trouble).max() {
        Some(0) | None => Level::Full,
        Some(_) => Level::Fault,
    };
    Case {
        id: &tour.id,
        name: &tour.name,
        requirement: Requirement::Should,
        level,
        needs: &tour.needs,
        source: "the model's decision tables",
        title: &tour.title,
        body: Body::Toured(tour),
    }
}

impl Tour {
    fn way(&self, version: TransactionVersion) -> &[Command] {
        match version {
            TransactionVersion::Tv1 => &self.tv1,
            TransactionVersion::Tv2 => &self.tv2,
        }
    }

    fn ways(&self) -> impl Iterator<Item = &[Command]> {
        [self.tv1.as_slice(), self.tv2.as_slice()]
            .into_iter()
            .filter(|way| !way.is_empty())
    }

    /// Goes the way on a stage; the last answer must come from the cell.
    pub fn play(&self, stage: &mut Stage) -> Outcome {
        let version = if stage.is_tv2() {
            TransactionVersion::Tv2
        } else {
            TransactionVersion::Tv1
        };
        let way = self.way(version);
        let Some((last, before)) = way.split_last() else {
            return Err(Stop::Skip(
                "the model does not come there at the cluster's transaction.version".to_owned(),
            ));
        };
        for command in before {
            stage.drive(*command)?;
            stage.settle_if_busy()?;
            self.one_request_only(stage, *command);
        }
        stage.drive(*last)?;
        let met = stage.cells().iter().any(|cell| cell_id(cell) == self.id);
        if *last != Command::FetchOffset && !met {
            return Err(Stop::Unclear(
                "the way does not come to the cell".to_owned(),
            ));
        }
        stage.put(Manner::Insisting);
        stage.let_go()?;
        stage.settle_if_busy()?;
        let gone = way.contains(&Command::DeleteTopic);
        if gone { Ok(()) } else { stage.compare_all() }
    }

    /// `unanswered` holds for the next request alone.
    fn one_request_only(&self, stage: &mut Stage, command: Command) {
        if !matches!(command, Command::Unanswered | Command::Elsewhere) {
            stage.put(Manner::Insisting);
        }
    }
}

fn read_tours() -> Vec<Tour> {
    let (mut tv1, mut tv2) = (read_or_empty(TV1), read_or_empty(TV2));
    let mut ids: Vec<String> = tv1.keys().chain(tv2.keys()).cloned().collect();
    ids.sort();
    ids.dedup();
    ids.into_iter()
        .map(|id| {
            let (tv1, tv2) = (
                tv1.remove(&id).unwrap_or_default(),
                tv2.remove(&id).unwrap_or_default(),
            );
            let words: Vec<&str> = id.split('/').skip(1).collect();
            let name = words.join("-").replace('_', "-");
            let title = match words.as_slice() {
                [request, state, answer] => {
                    format!("{request} in {state}: {}.", answer.to_ascii_uppercase())
                }
                _ => String::new(),
            };
            let needs = needs(&tv1, &tv2);
            Tour {
                id,
                name,
                title,
                tv1,
                tv2,
                needs,
            }
        })
        .collect()
}

/// The test below reads both files whole; a broken one leaves its tour empty.
fn read_or_empty(text: &str) -> BTreeMap<String, Vec<Command>> {
    read(text).unwrap_or_default()
}

/// `cell ID`, then its steps, indented.
fn read(text: &str) -> Result<BTreeMap<String, Vec<Command>>, UnreadableCommand> {
    let mut ways: BTreeMap<String, Vec<Command>> = BTreeMap::new();
    let mut cell = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix("cell "), &cell) {
            (Some(id), _) => cell = Some(id.to_owned()),
            (None, Some(id)) => ways.entry(id.clone()).or_default().push(line.parse()?),
            (None, None) => return Err(UnreadableCommand(line.to_owned())),
        }
    }
    Ok(ways)
}

/// What the broker must speak for the steps of either way.
fn needs(tv1: &[Command], tv2: &[Command]) -> Vec<Need> {
    let mut needs = Vec::new();
    if tv1.is_empty() {
        needs.push(Need::TransactionVersion(2));
    }
    let steps = || tv1.iter().chain(tv2);
    for command in steps() {
        if let Some(need) = need(command)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    let v5 = steps().any(|it| {
        matches!(
            it,
            Command::End(TransactionVersion::Tv2, ..)
                | Command::Produce(TransactionVersion::Tv2, ..)
                | Command::Stage(TransactionVersion::Tv2, ..)
                | Command::AddByBroker(_)
        )
    });
    if v5 && !tv1.is_empty() {
        needs.push(Need::TransactionVersion(1));
    }
    needs
}

fn need(command: &Command) -> Option<Need> {
    let api = |key, name, version| Some(Need::Api { key, name, version });
    let version = |version: &TransactionVersion, tv1, tv2| match version {
        TransactionVersion::Tv1 => tv1,
        TransactionVersion::Tv2 => tv2,
    };
    match command {
        Command::Init(_) | Command::InitIdempotent | Command::InitTooLong => {
            api(22, "InitProducerId", 4)
        }
        Command::Add(_) => api(24, "AddPartitionsToTxn", 3),
        Command::AddOffsets(_) => api(25, "AddOffsetsToTxn", 3),
        Command::Verify(_) | Command::AddByBroker(_) => api(24, "AddPartitionsToTxn", 4),
        Command::End(v, ..) => api(26, "EndTxn", version(v, 4, 5)),
        Command::Produce(v, ..) => api(0, "Produce", version(v, 11, 12)),
        Command::ProducePlain(..) => api(0, "Produce", 11),
        Command::Stage(v, ..) => api(28, "TxnOffsetCommit", version(v, 4, 5)),
        Command::FetchOffset => api(9, "OffsetFetch", 7),
        Command::Marker(v, ..) => api(27, "WriteTxnMarkers", version(v, 1, 2)),
        Command::Join | Command::Rebalance => api(11, "JoinGroup", 5),
        Command::DeleteTopic => api(20, "DeleteTopics", 4),
        Command::HoldLog => Some(Need::Judge(Configuration::ReplicatedLog)),
        Command::Elsewhere => Some(Need::SecondBroker),
        Command::Switch | Command::Unanswered => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::stage::rules_of;
    use crate::cases::tour::generate::{Ways, generate, met};
    use std::fmt::Write;

    fn written(level: i16, ways: &Ways) -> String {
        let mut text = format!(
            "# The shortest way to each cell at transaction.version {level}, generated from the model:\n\
             # FENCEPOST_RECORD=1 cargo test --release -p fencepost-conformance the_tour\n"
        );
        for (id, way) in ways {
            let _ = writeln!(text, "cell {id}");
            for command in way {
                let _ = writeln!(text, "  {command}");
            }
        }
        text
    }

    /// Every saved way comes to its cell in the model. `FENCEPOST_RECORD=1` writes both files anew.
    #[test]
    fn the_tour_comes_to_its_cells() {
        for (level, saved) in [(1, TV1), (2, TV2)] {
            let rules = rules_of(level);
            if std::env::var_os("FENCEPOST_RECORD").is_some_and(|it| it == "1") {
                let made = written(level, &generate(&rules));
                let file = format!(
                    "{}/src/cases/tour/tv{level}.txt",
                    env!("CARGO_MANIFEST_DIR")
                );
                std::fs::write(file, &made).expect("the tour's file");
                continue;
            }
            let ways = read(saved).expect("steps");
            assert!(ways.len() > 250, "{}", ways.len());
            for (id, way) in &ways {
                assert_eq!(met(&rules, way).as_ref(), Some(id), "tv{level}");
            }
        }
    }
}
