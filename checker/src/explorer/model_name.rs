//! What the Explorer opens, by name: its addresses say nothing else, so a bookmark outlives the
//! process and its ports.

use crate::exit::Failure;
use crate::select::{self, Run};
use crate::{fair, run};
use fencepost_spec::mutants::{Expect, Mutant};
use fencepost_spec::properties::Id;
use fencepost_spec::scenario::RuleSet;
use fencepost_spec::world::World;

/// Where `fencepost explore` listens unless it is told otherwise.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:3000";

/// What follows the rules in an address where every retriable answer is really sent.
const ANSWERS: &str = "+answers";

/// The word for the right rules where an address or a trace names a mutant.
const NO_MUTANT: &str = "none";

/// A scenario under rules, with a mutant on or none.
#[derive(Clone, Copy, Debug)]
pub struct ModelName {
    /// The scenario and the rules.
    pub run: Run,
    /// The mutant.
    pub mutant: Option<&'static Mutant>,
    /// Whether every retriable answer is really sent, as where liveness is judged.
    pub answering: bool,
}

impl ModelName {
    /// The model of a run, in which retriable answers are sent where the scenario says so.
    pub fn of(run: Run, mutant: Option<&'static Mutant>) -> Self {
        Self {
            run,
            mutant,
            answering: false,
        }
    }

    /// The model of these names; the mutant may be `none`, and the rules may end with `+answers`.
    ///
    /// # Errors
    /// A name that there is not, or a scenario that does not run under the rules.
    pub fn find(scenario: &str, rules: &str, mutant: &str) -> Result<Self, Failure> {
        let entry = select::scenario(scenario)?;
        let (rules, answering) = match rules.strip_suffix(ANSWERS) {
            Some(rules) => (rules, true),
            None => (rules, false),
        };
        let known = || entry.runs.iter().map(|(set, _)| set.name());
        let rules = RuleSet::parse(rules)
            .filter(|asked| entry.runs.iter().any(|(set, _)| set == asked))
            .ok_or_else(|| Failure::unknown("rules of this scenario", rules, known()))?;
        let mutant = match mutant {
            NO_MUTANT => None,
            id => Some(select::mutant(id)?),
        };
        Ok(Self {
            run: (entry, rules),
            mutant,
            answering,
        })
    }

    /// The scenario's, the rules' and the mutant's name.
    pub fn words(self) -> [&'static str; 3] {
        let (entry, rules) = self.run;
        let mutant = self.mutant.map_or(NO_MUTANT, |mutant| mutant.id);
        let rules = match (rules, self.answering) {
            (rules, false) => rules.name(),
            (RuleSet::Tv1, true) => "tv1+answers",
            (RuleSet::Tv2, true) => "tv2+answers",
            (RuleSet::Upgrade, true) => "upgrade+answers",
        };
        [entry.name, rules, mutant]
    }

    /// The model.
    pub fn world(self) -> World {
        if self.answering {
            fair::world(self.run, self.mutant)
        } else {
            run::world(self.run, self.mutant)
        }
    }

    /// The name in titles.
    pub fn title(self) -> String {
        run::name(self.run, self.mutant)
    }

    /// The arguments that name it on the command line.
    pub fn arguments(self) -> String {
        let (entry, rules) = self.run;
        let mutant = self.mutant.map(|mutant| format!(" --mutant {}", mutant.id));
        let mutant = mutant.unwrap_or_default();
        format!("{} --rules {}{mutant}", entry.name, rules.name())
    }

    /// The path of its page.
    pub fn page(self) -> String {
        format!("/explore/{}/", self.words().join("/"))
    }

    /// The address of its page while `fencepost explore` runs where it listens by default.
    pub fn url(self) -> String {
        format!("http://{DEFAULT_ADDRESS}{}", self.page())
    }

    /// The path that opens the shortest counterexample of a property.
    pub fn at(self, property: Id) -> String {
        format!("/at/{}/{}", self.words().join("/"), property.name())
    }

    /// What is known to be broken here: by the mutant where a plan of the ledger judges it here,
    /// else by the right rules.
    pub fn known_broken(self) -> Vec<Id> {
        let (entry, rules) = self.run;
        let Some(mutant) = self.mutant else {
            return select::known_broken(self.run).to_vec();
        };
        let plans = mutant.plans.iter();
        plans
            .filter(|plan| plan.scenario == entry.name && plan.rules == rules)
            .filter_map(|plan| match &plan.expect {
                Expect::Killed(id) => Some(*id),
                Expect::Expected { breaks, .. } => Some(*breaks),
                Expect::Equivalent { .. } | Expect::Pending { .. } => None,
            })
            .collect()
    }
}

/// The address that opens the shortest counterexample of a property while `fencepost explore`
/// runs where it listens by default.
pub fn explorer_url(run: Run, mutant: Option<&'static Mutant>, property: Id) -> String {
    let page = ModelName::of(run, mutant).at(property);
    format!("http://{DEFAULT_ADDRESS}{page}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_its_own_words() {
        for words in [
            ["late", "tv1", "M08"],
            ["smoke", "tv2", "none"],
            ["smoke", "tv2+answers", "M04"],
        ] {
            let found = ModelName::find(words[0], words[1], words[2]).map(ModelName::words);
            assert_eq!(found.ok(), Some(words));
        }
        assert!(ModelName::find("nosuch", "tv1", "none").is_err());
        assert!(ModelName::find("smoke", "upgrade", "none").is_err());
        assert!(ModelName::find("smoke", "tv1", "M00").is_err());
    }

    #[test]
    fn an_address_names_what_it_opens() {
        let Ok(model) = ModelName::find("late", "tv1", "M08") else {
            panic!("the ledger has M08");
        };
        assert_eq!(model.page(), "/explore/late/tv1/M08/");
        assert_eq!(model.arguments(), "late --rules tv1 --mutant M08");
        assert_eq!(model.known_broken(), [Id::S1, Id::S3]);
        assert_eq!(
            explorer_url(model.run, model.mutant, Id::S1),
            "http://127.0.0.1:3000/at/late/tv1/M08/S1"
        );
    }
}
