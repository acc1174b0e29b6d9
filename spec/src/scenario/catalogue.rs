//! The named scenarios, with what each rule set is expected to break.

use super::Scenario;
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id;
use crate::rules::Rules;
use crate::types::*;

/// Which rules a run is made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSet {
    /// `transaction.version` 0 and 1.
    Tv1,
    /// `transaction.version` 2.
    Tv2,
    /// From TV1 to TV2 inside the run.
    Upgrade,
}

/// In which set a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// `fencepost check`.
    Default,
    /// `fencepost check --profile nightly`, beside the default ones.
    Nightly,
    /// Only where a mutant or a trace names it.
    Named,
}

/// A scenario of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub says: &'static str,
    /// In which set it runs.
    pub profile: Profile,
    /// Under which rules it runs, and exactly what they break.
    pub runs: &'static [(RuleSet, &'static [Id])],
    build: fn(RuleSet) -> Scenario,
}

impl Entry {
    /// The scenario under a rule set.
    pub fn scenario(&self, rules: RuleSet) -> Scenario {
        let scenario = Scenario { name: self.name, says: self.says, ..(self.build)(rules) };
        match rules {
            RuleSet::Upgrade => scenario.fault(Fault::Upgrade, 1),
            RuleSet::Tv1 | RuleSet::Tv2 => scenario,
        }
    }

    /// The right rules for this scenario.
    pub fn rules(&self, rules: RuleSet) -> Rules {
        let version = match rules {
            RuleSet::Tv1 | RuleSet::Upgrade => TransactionVersion::Tv1,
            RuleSet::Tv2 => TransactionVersion::Tv2,
        };
        Rules {
            upgrade: rules == RuleSet::Upgrade,
            verification: self.scenario(rules).verification,
            ..Rules::kafka(version)
        }
    }
}

impl RuleSet {
    /// Every rule set.
    pub const ALL: [Self; 3] = [Self::Tv1, Self::Tv2, Self::Upgrade];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tv1 => "tv1",
            Self::Tv2 => "tv2",
            Self::Upgrade => "upgrade",
        }
    }

    /// The rule set of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// The scenario of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|e| e.name == name)
}

use Id::*;
use RuleSet::*;

/// Every scenario.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "smoke",
        says: "One producer, two transactions on two partitions, no faults.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2),
    },
    Entry {
        name: "retry",
        says: "One producer that sends requests again while their first copies may still arrive.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S3, S4]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2).fault(Fault::ResendRequest, 2)
        },
    },
];
