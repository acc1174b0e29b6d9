//! What a run has to say.

use super::catalogue::keeps_one_state;
use super::judge::names;
use super::{CrashPoints, Divergence, Exclusions, Judged};
use fencepost_spec::properties::Id;
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

/// One line of the crash points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CrashRow {
    /// What was being written.
    pub write: &'static str,
    /// When the process stopped: `before`, `torn` or `after`.
    pub moment: &'static str,
    /// How often.
    pub count: u64,
}

/// What the model's properties say of production's states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// States of production that were judged.
    pub states: u64,
    /// Steps that were judged.
    pub steps: u64,
    /// States that nothing can leave.
    pub terminal_states: u64,
    /// What production breaks.
    pub violated: Vec<&'static str>,
    /// What these rules are known to break in this scenario.
    pub expected: Vec<&'static str>,
    /// Whether the model breaks the same, step by step, and at the end that is what is expected: all of it where every
    /// step was taken, and no more than that where some are left out.
    pub ok: bool,
}

impl Properties {
    pub(super) fn new(judged: &Judged, expected: &[Id], complete: bool) -> Self {
        let mask = expected.iter().fold(0, |mask, id| mask | id.bit());
        let broken = judged.production;
        let as_expected = if complete {
            broken == mask
        } else {
            broken & !mask == 0
        };
        Self {
            states: judged.states,
            steps: judged.steps,
            terminal_states: judged.terminal_states,
            violated: names(broken),
            expected: names(mask),
            ok: as_expected && broken == judged.model,
        }
    }
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
    /// In what the production states of one model state differ, over a hundred of them, evenly over the run.
    pub hidden_reasons: Vec<HiddenRow>,
    /// Whether every pair was explored: false after a divergence, or where a bound was met.
    pub complete: bool,
    /// The model's properties, judged on production.
    pub properties: Properties,
    /// Crashes, each with a recovery that gave what the model's gives.
    pub crash_points: Vec<CrashRow>,
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
            return "The two sides differ, or a run was not finished or met a state in two forms: nothing is claimed."
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
    /// Whether it is complete and without a divergence, breaks exactly the properties that it should, and has one state of
    /// production for each of the model's where that is known.
    pub fn is_ok(&self) -> bool {
        self.complete && self.divergence.is_none() && self.properties.ok && !self.is_ambiguous()
    }

    /// Whether production keeps something of its own where all of it is known to follow from the model's state.
    pub fn is_ambiguous(&self) -> bool {
        self.hidden_states > 0 && keeps_one_state(&self.scenario, &self.rules)
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

/// The rows of the crash points.
pub(super) fn crash_rows(points: &CrashPoints) -> Vec<CrashRow> {
    let row =
        |((write, moment), count): ((super::WriteKind, crate::actors::Moment), u64)| CrashRow {
            write: write.name(),
            moment: moment.name(),
            count,
        };
    points.iter().map(row).collect()
}
