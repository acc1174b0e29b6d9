//! The bounds that a verdict holds for.

use fencepost_spec::client::{Item, Workload};
use fencepost_spec::scenario::{Granularity, Scenario};
use fencepost_spec::types::ProducerIndex;
use fencepost_spec::world::Seed;
use serde::Serialize;
use std::collections::BTreeMap;

/// The bounds of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Bounds {
    /// The same in one sentence.
    pub text: String,
    /// What each producer instance does.
    pub producers: Vec<String>,
    /// How many transactional ids.
    pub transactional_ids: usize,
    /// How many brokers can coordinate.
    pub brokers: u8,
    /// How many data partitions.
    pub partitions: u8,
    /// Whether there is an offsets partition with a group.
    pub group: bool,
    /// What each stepwise reader reads.
    pub readers: Vec<String>,
    /// The total of each fault.
    pub faults: BTreeMap<&'static str, u8>,
    /// Which deliveries are steps of their own: E0 all, E2 all but answers.
    pub granularity: &'static str,
    /// Whether retriable answers are really sent.
    pub retriable_answers: bool,
}

impl Bounds {
    /// The bounds of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let producers: Vec<_> = scenario
            .workloads
            .iter()
            .enumerate()
            .map(producer)
            .collect();
        let readers: Vec<_> = scenario
            .readers
            .iter()
            .map(|(p, level)| format!("p{} {level:?}", p.0))
            .collect();
        let granularity = match scenario.granularity {
            Granularity::E0 => "E0",
            Granularity::E2 => "E2",
        };
        let mut parts = producers.clone();
        parts.push(count(scenario.brokers, "broker"));
        parts.push(count(scenario.partitions, "data partition"));
        if scenario.offsets {
            parts.push("a group with its offsets partition".to_owned());
        }
        if !readers.is_empty() {
            parts.push(format!("readers of {}", readers.join(", ")));
        }
        match scenario.seed {
            Seed::Fresh => {}
            Seed::Logged { .. } | Seed::SequenceAt(_) | Seed::TakenOver { .. } => {
                parts.push(format!("from {:?}", scenario.seed));
            }
        }
        if scenario.brokers > 1 && !scenario.stale_routing {
            parts.push("client and leader know the same coordinator".to_owned());
        }
        if !scenario.verification {
            parts.push("verification off".to_owned());
        }
        if scenario.follower {
            parts.push("a replica that may be out of sync".to_owned());
        }
        parts.push(format!("faults: {}", scenario.budgets));
        parts.push(match scenario.granularity {
            Granularity::E0 => "every delivery a step (E0)".to_owned(),
            Granularity::E2 => "answers delivered at once (E2)".to_owned(),
        });
        Self {
            text: parts.join("; "),
            producers,
            transactional_ids: scenario.ids,
            brokers: scenario.brokers,
            partitions: scenario.partitions,
            group: scenario.offsets,
            readers,
            faults: scenario
                .budgets
                .iter()
                .map(|(f, n)| (f.name(), n))
                .collect(),
            granularity,
            retriable_answers: !scenario.blocking,
        }
    }
}

fn producer((i, workload): (usize, &Workload)) -> String {
    let name = ProducerIndex(i as u8);
    let items: Vec<_> = workload
        .items
        .iter()
        .map(|item| match item {
            Item::Send(p) => format!("send to p{}", p.0),
            Item::FetchOffset => "fetch the offset".to_owned(),
            Item::CommitOffset => "stage an offset".to_owned(),
        })
        .collect();
    let what = match workload.transactional_id {
        Some(id) => format!(
            "{} of id {}",
            count(workload.transactions, "transaction"),
            id.0
        ),
        None => "idempotent".to_owned(),
    };
    let mut text = format!("{name}: {what} ({})", items.join(", "));
    if workload.two_phase {
        text.push_str(", two-phase");
    }
    if workload.max_in_flight > 1 {
        text.push_str(&format!(
            ", up to {} batches in flight",
            workload.max_in_flight
        ));
    }
    if let Some(earlier) = workload.takes_over {
        text.push_str(&format!(", takes over what {earlier} has prepared"));
    }
    if let Some(earlier) = workload.starts_after_crash_of {
        text.push_str(&format!(", starts after {earlier} crashed"));
    }
    text
}

fn count(n: u8, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
