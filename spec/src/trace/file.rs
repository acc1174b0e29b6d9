//! A trace file: a header, then one action a line.
//!
//! ```text
//! story: A late copy of EndTxn commits the next transaction.
//! scenario: retry
//! rules: tv1
//! mutant: none
//! expect: violates S2
//!
//! P start
//! coordinator/0 init_producer_id from=P number=1
//! ```
//!
//! `#` begins a comment that goes to the end of the line.

use super::{Line, Unreadable};
use crate::mutants::{self, MUTANTS, Mutant};
use crate::properties::{Id, PROPERTIES};
use crate::scenario::{self, CATALOGUE, Entry, RuleSet};
use crate::world::World;
use std::fmt;

/// What a trace is expected to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No property is violated on the way.
    Holds,
    /// These properties are violated at the end.
    Violates(Vec<Id>),
    /// The last state is a witness of this property: what it talks about is reached.
    Witness(Id),
    /// A fair run that goes on from the state after this step over and over never satisfies this
    /// property again. Retriable answers are really sent.
    Lasso(Id, usize),
}

/// A trace.
#[derive(Clone, Debug)]
pub struct TraceFile {
    /// What it tells, in a sentence.
    pub story: String,
    /// Where it happens.
    pub scenario: &'static Entry,
    /// Under which rules.
    pub rules: RuleSet,
    /// With which mutant on.
    pub mutant: Option<&'static Mutant>,
    /// What it shows.
    pub expect: Expect,
    /// The actions, with the number of their line in the file (from 1).
    pub lines: Vec<(usize, Line)>,
}

impl TraceFile {
    /// Reads a trace.
    ///
    /// # Errors
    /// [`Unreadable`], with the line, for a header that is not complete or names something that
    /// there is not, and for an action with an unknown word.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let mut header = Header::default();
        let mut actions = Vec::new();
        let mut last = 0;
        for (number, text) in (1..).zip(text.lines()) {
            last = number;
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            match text
                .split_once(": ")
                .or_else(|| text.strip_suffix(':').map(|k| (k, "")))
            {
                Some((key, value)) if actions.is_empty() && !key.contains(' ') => {
                    header.set(key, value.trim(), number)?;
                }
                Some(_) | None => actions.push((number, text)),
            }
        }
        let scenario = header.scenario.ok_or_else(|| missing(last, "scenario"))?;
        let rules = header.rules.ok_or_else(|| missing(last, "rules"))?;
        if !scenario.runs.iter().any(|(r, _)| *r == rules) {
            let names: Vec<_> = scenario.runs.iter().map(|(r, _)| r.name()).collect();
            return Err(Unreadable {
                line: header.rules_line,
                what: format!(
                    "scenario {} does not run under {}",
                    scenario.name,
                    rules.name()
                ),
                expected: format!("one of {}", names.join(", ")),
            });
        }
        let built = scenario.scenario(rules);
        let lines = actions
            .into_iter()
            .map(|(number, text)| Line::read(text, number, &built).map(|line| (number, line)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            story: header.story.ok_or_else(|| missing(last, "story"))?,
            scenario,
            rules,
            mutant: header.mutant.ok_or_else(|| missing(last, "mutant"))?,
            expect: header.expect.ok_or_else(|| missing(last, "expect"))?,
            lines,
        })
    }

    /// The world in which it runs.
    pub fn world(&self) -> World {
        let mut rules = self.scenario.rules(self.rules);
        if let Some(mutant) = self.mutant {
            (mutant.edit)(&mut rules);
        }
        let scenario = self.scenario.scenario(self.rules);
        match self.expect {
            Expect::Lasso(..) => World::new(scenario.answering(), rules),
            Expect::Holds | Expect::Violates(_) | Expect::Witness(_) => World::new(scenario, rules),
        }
    }
}

#[derive(Default)]
struct Header {
    story: Option<String>,
    scenario: Option<&'static Entry>,
    rules: Option<RuleSet>,
    rules_line: usize,
    mutant: Option<Option<&'static Mutant>>,
    expect: Option<Expect>,
}

impl Header {
    fn set(&mut self, key: &str, value: &str, line: usize) -> Result<(), Unreadable> {
        let unknown = |what: &str, expected: Vec<&str>| Unreadable {
            line,
            what: format!("no {what} `{value}`"),
            expected: format!("one of {}", expected.join(", ")),
        };
        match key {
            "story" => self.story = Some(value.to_owned()),
            "scenario" => {
                let names = || CATALOGUE.iter().map(|e| e.name).collect();
                let found = scenario::find(value).ok_or_else(|| unknown("scenario", names()))?;
                self.scenario = Some(found);
            }
            "rules" => {
                let names = || RuleSet::ALL.iter().map(|r| r.name()).collect();
                let found = RuleSet::parse(value).ok_or_else(|| unknown("rules", names()))?;
                self.rules = Some(found);
                self.rules_line = line;
            }
            "mutant" if value == "none" => self.mutant = Some(None),
            "mutant" => {
                let names = || {
                    ["none"]
                        .into_iter()
                        .chain(MUTANTS.iter().map(|m| m.id))
                        .collect()
                };
                let found = mutants::find(value).ok_or_else(|| unknown("mutant", names()))?;
                self.mutant = Some(Some(found));
            }
            "expect" => self.expect = Some(expect(value, line)?),
            _ => {
                return Err(Unreadable {
                    line,
                    what: format!("no header `{key}`"),
                    expected: "one of story, scenario, rules, mutant, expect".to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn expect(value: &str, line: usize) -> Result<Expect, Unreadable> {
    let id = |name: &str| {
        Id::parse(name).ok_or_else(|| Unreadable {
            line,
            what: format!("no property `{name}`"),
            expected: format!(
                "one of {}",
                PROPERTIES
                    .iter()
                    .map(|r| r.id.name())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        })
    };
    let mut words = value.split_whitespace();
    let (verdict, rest) = (words.next(), words.collect::<Vec<_>>());
    match (verdict, rest.as_slice()) {
        (Some("holds"), []) => Ok(Expect::Holds),
        (Some("violates"), names @ [_, ..]) => Ok(Expect::Violates(
            names.iter().map(|n| id(n)).collect::<Result<_, _>>()?,
        )),
        (Some("witness"), [name]) => Ok(Expect::Witness(id(name)?)),
        (Some("lasso"), [name, "from", step]) => match step.parse() {
            Ok(step) => Ok(Expect::Lasso(id(name)?, step)),
            Err(_) => Err(Unreadable {
                line,
                what: format!("no step `{step}`"),
                expected: "a number".to_owned(),
            }),
        },
        (_, _) => Err(Unreadable {
            line,
            what: format!("no verdict `{value}`"),
            expected: "holds, violates PROPERTY.., witness PROPERTY, or lasso PROPERTY from STEP"
                .to_owned(),
        }),
    }
}

fn missing(line: usize, key: &str) -> Unreadable {
    Unreadable {
        line,
        what: format!("the header has no `{key}`"),
        expected: "story, scenario, rules, mutant and expect before the first action".to_owned(),
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::Violates(ids) => {
                f.write_str("violates")?;
                ids.iter().try_for_each(|id| write!(f, " {}", id.name()))
            }
            Self::Witness(id) => write!(f, "witness {}", id.name()),
            Self::Lasso(id, from) => write!(f, "lasso {} from {from}", id.name()),
        }
    }
}

/// The file as it is written.
impl fmt::Display for TraceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "story: {}", self.story)?;
        writeln!(f, "scenario: {}", self.scenario.name)?;
        writeln!(f, "rules: {}", self.rules.name())?;
        writeln!(f, "mutant: {}", self.mutant.map_or("none", |m| m.id))?;
        writeln!(f, "expect: {}", self.expect)?;
        writeln!(f)?;
        self.lines
            .iter()
            .try_for_each(|(_, line)| writeln!(f, "{line}"))
    }
}
