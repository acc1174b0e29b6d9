//! What a run has to say.

use super::{Divergence, Exclusions};
use serde::Serialize;

/// One line of the exclusions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExclusionRow {
    /// What was left out.
    pub what: String,
    /// How often it was met.
    pub count: u64,
    /// Why.
    pub reason: String,
}

/// Why model states were met with more than one production state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenRow {
    /// In what the production states differ.
    pub what: String,
    /// In how many of the model states that were looked at.
    pub count: u64,
}

/// One scenario under one rule set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The scenario.
    pub scenario: String,
    /// The rule set: `tv1`, `tv2` or `upgrade`.
    pub rules: String,
    /// Distinct states of the model.
    pub model_states: u64,
    /// Steps that both sides took, every pair's enabled actions.
    pub edges: u64,
    /// Requests that the model leaves waiting, and that production answered as predicted.
    pub refused_actions: u64,
    /// Distinct states of production.
    pub impl_states: u64,
    /// States of the model that were met with more than one state of production; each such pair was explored.
    pub hidden_states: u64,
    /// In what the production states of one model state differ, over the first hundred of them.
    pub hidden_reasons: Vec<HiddenRow>,
    /// Whether every pair was explored: false after a divergence, or where a bound was met.
    pub complete: bool,
    /// What was left out.
    pub exclusions: Vec<ExclusionRow>,
    /// Wall time of the exploration.
    pub seconds: f64,
    /// The first step on which the sides differ.
    pub divergence: Option<Divergence>,
}

/// Every run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Whether every run was complete and without a divergence.
    pub ok: bool,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Report {
    /// The report of these runs.
    pub fn of(runs: Vec<Run>) -> Self {
        Self {
            ok: runs.iter().all(Run::is_ok),
            runs,
        }
    }

    /// What may be claimed, in a sentence.
    pub fn claim(&self) -> String {
        let edges: u64 = self.runs.iter().map(|run| run.edges).sum();
        let hidden: u64 = self.runs.iter().map(|run| run.hidden_states).sum();
        if !self.ok {
            return "The two sides differ, or a run was not finished: nothing is claimed."
                .to_owned();
        }
        let proviso = if hidden == 0 {
            "each model state was met with one production state".to_owned()
        } else {
            format!(
                "{hidden} model states were met with several production states, each of them explored"
            )
        };
        format!(
            "Within the bounds of these scenarios, and but for the exclusions, model and production cores are \
             bisimilar: {edges} steps compared; {proviso}."
        )
    }
}

impl Run {
    /// Whether it is complete and without a divergence.
    pub fn is_ok(&self) -> bool {
        self.complete && self.divergence.is_none()
    }
}

/// The rows of the exclusions.
pub(super) fn rows(exclusions: &Exclusions) -> Vec<ExclusionRow> {
    exclusions
        .iter()
        .map(|(exclusion, count)| ExclusionRow {
            what: exclusion.what().to_owned(),
            count,
            reason: exclusion.reason().to_owned(),
        })
        .collect()
}
