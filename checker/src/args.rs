//! The command line, as clap reads it.

mod limits;

pub use limits::Limits;
use limits::time;

use crate::commands::conform_broker::{self, ReportFile};
use crate::explorer::DEFAULT_ADDRESS;
use clap::{Args, Parser, Subcommand, ValueEnum};
use fencepost_conformance::cases::{Configuration, Level};
use fencepost_spec::scenario::RuleSet;
use std::path::PathBuf;
use std::time::Duration;

/// Kafka transactions with a proof beside them.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 everything as expected, 1 a finding, 2 usage or unreadable input, \
                  3 no broker answers, 4 internal error.\nResults go to stdout, progress to stderr."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// Show progress on stderr even where it is no terminal.
    #[arg(long, global = true)]
    pub progress: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search the scenarios exhaustively and judge every property.
    Check(Check),
    /// List the scenarios, with their bounds.
    Scenarios,
    /// List the properties, with their sources, witnesses and mutants.
    Properties(Properties),
    /// Judge the ledger of mutants.
    Mutants(Mutants),
    /// Print a decision table, as the model has it.
    Table(Table),
    /// Say which cells of the decision tables the scenarios reach.
    Coverage(Coverage),
    /// Open scenarios, mutants and traces in stateright's Explorer.
    Explore(Explore),
    /// Serve one model to `explore`.
    #[command(hide = true)]
    ServeModel(ServeModel),
    /// Replay a trace.
    Replay(Replay),
    /// Record what clients and a broker say to each other, as a proxy between them.
    Record(Record),
    /// Say whether a recorded run is a behaviour of the model.
    Validate(Validate),
    /// Turn a trace into a chart or into another tool's format.
    Export(Export),
    /// Run the production cores in lockstep with the model, or judge a broker case by case.
    Conform(Conform),
    /// Measure.
    Bench(Bench),
}

/// Which rules to run under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RulesArg {
    /// `transaction.version` 0 and 1.
    Tv1,
    /// `transaction.version` 2.
    Tv2,
    /// From TV1 to TV2 inside the run.
    Upgrade,
    /// All of them.
    All,
}

impl RulesArg {
    /// The rule sets meant.
    pub fn sets(self) -> Vec<RuleSet> {
        match self {
            Self::Tv1 => vec![RuleSet::Tv1],
            Self::Tv2 => vec![RuleSet::Tv2],
            Self::Upgrade => vec![RuleSet::Upgrade],
            Self::All => RuleSet::ALL.to_vec(),
        }
    }
}

/// Which scenarios to run where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileArg {
    /// The set of about two minutes.
    Default,
    /// The large set.
    Nightly,
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Breadth first: every state, shortest counterexamples.
    Bfs,
    /// Depth first: every state, in less memory; counterexamples are minimised, not the shortest.
    Dfs,
    /// Random walks: nothing is ever shown to hold; counterexamples are minimised.
    Simulate,
}

impl Mode {
    /// Its word on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfs => "bfs",
            Self::Dfs => "dfs",
            Self::Simulate => "simulate",
        }
    }
}

/// Whether to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Do it.
    On,
    /// Do not.
    Off,
}

/// `fencepost check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Scenarios by name; by default those of the profile.
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<String>,
    /// Under which rules.
    #[arg(long, default_value = "all")]
    pub rules: RulesArg,
    /// With this mutant on.
    #[arg(long, value_name = "ID")]
    pub mutant: Option<String>,
    /// Which set of scenarios.
    #[arg(long, default_value = "default")]
    pub profile: ProfileArg,
    /// How to search.
    #[arg(long, default_value = "bfs")]
    pub mode: Mode,
    /// With --mode simulate: the seed of the walks; 0 if it is not given.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// With --mode simulate: how many walks each run takes; 2000 if it is not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub walks: Option<u64>,
    /// Take states that differ only in who is who for one.
    #[arg(long, default_value = "off")]
    pub symmetry: Switch,
    /// The bounds.
    #[command(flatten)]
    pub limits: Limits,
    /// With --mode bfs: keep what was searched here, level by level, so that a run that is killed can be resumed.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub checkpoint: Option<PathBuf>,
    /// With --mode bfs: go on from the checkpoints in this folder, and keep them up.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// With --mode bfs: keep at most N states of each of two levels in memory; the others wait on disk, in the folder of
    /// the checkpoint or a temporary one.
    #[arg(long, value_name = "N")]
    pub spill: Option<usize>,
    /// Write a JUnit report.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Save the shortest counterexamples as traces.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
}

/// `fencepost properties`.
#[derive(Debug, Args)]
pub struct Properties {
    /// Save the shortest witness of each as a trace.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
}

/// `fencepost mutants`.
#[derive(Debug, Args)]
pub struct Mutants {
    /// Mutants by id; by default all of them.
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Only list them.
    #[arg(long)]
    pub list: bool,
    /// The bounds.
    #[command(flatten)]
    pub limits: Limits,
    /// Save the shortest counterexamples as traces.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
}

/// `fencepost table`.
#[derive(Debug, Args)]
pub struct Table {
    /// The request, by Kafka's name.
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Under which rules.
    #[arg(long, default_value = "all")]
    pub rules: RulesArg,
}

/// `fencepost coverage`.
#[derive(Debug, Args)]
pub struct Coverage {
    /// Scenarios by name; by default those of the default profile and those that mutants name.
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<String>,
    /// The bounds.
    #[command(flatten)]
    pub limits: Limits,
}

/// Which scenarios `conform` takes where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConformProfile {
    /// The named list.
    Default,
    /// A few small scenarios that meet every kind of step, walks through large ones, and the cases of `--list` and more
    /// against our own cores.
    Mutation,
    /// Every scenario of `check`.
    Nightly,
}

/// `fencepost conform`.
#[derive(Debug, Args)]
pub struct Conform {
    /// Scenarios by name; with --bootstrap or --list, case ids or patterns.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Under which rules, in process.
    #[arg(long, default_value = "all")]
    pub rules: RulesArg,
    /// Which set of scenarios, in process.
    #[arg(long, default_value = "default")]
    pub profile: ConformProfile,
    /// Write a JUnit report of the runs in process.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Save the trace of each divergence of the runs in process here, as a regression trace.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Judge this broker, case by case.
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["list", "probe"])]
    pub bootstrap: Option<String>,
    /// Start Apache Kafka (java and Maven) and judge it: one-node, two-brokers or replicated-log.
    #[arg(long, value_name = "CONFIGURATION", value_parser = conform_broker::configuration,
          conflicts_with_all = ["bootstrap", "list", "probe"])]
    pub kafka: Option<Configuration>,
    /// The `transaction.version` of the Kafka that --kafka starts.
    #[arg(long, value_name = "N", default_value = "2", requires = "kafka",
          value_parser = clap::value_parser!(i16).range(0..=2))]
    pub transaction_version: i16,
    /// Walk the model at random against the broker, for at least this many exchanges.
    #[arg(long, value_name = "EXCHANGES")]
    pub walk: Option<u32>,
    /// The first walk's seed; the next ones follow it.
    #[arg(long, value_name = "N", default_value = "1", requires = "walk")]
    pub seed: u64,
    /// Walks at the same time.
    #[arg(long, value_name = "N", default_value = "4", requires = "walk",
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pub parallel: u16,
    /// Which cases to run against the broker: core, full, admin, fault, 2pc or slow.
    #[arg(long, value_name = "LEVEL", value_parser = conform_broker::level)]
    pub level: Option<Level>,
    /// Failures that are known: `ID  # reason`, one a line.
    #[arg(long, value_name = "FILE")]
    pub known_failures: Option<PathBuf>,
    /// Write a report of the cases: junit, json, csv, html or text.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = conform_broker::report_file)]
    pub report: Vec<ReportFile>,
    /// List the cases.
    #[arg(long, conflicts_with = "probe")]
    pub list: bool,
    /// Say which levels this broker can run, and why not.
    #[arg(long, value_name = "HOST:PORT")]
    pub probe: Option<String>,
}

/// `fencepost explore`.
#[derive(Debug, Args)]
pub struct Explore {
    /// A scenario by name, or a trace file, which opens at its last step; without one, the start
    /// page with all there is.
    #[arg(value_name = "SCENARIO|TRACE")]
    pub target: Option<String>,
    /// Under which rules; by default the scenario's last rule set.
    #[arg(long)]
    pub rules: Option<RulesArg>,
    /// With this mutant on, at the end of its counterexample where the ledger has one.
    #[arg(long, value_name = "ID")]
    pub mutant: Option<String>,
    /// Search the shortest counterexample of this property and open it.
    #[arg(long, value_name = "PROPERTY")]
    pub at: Option<String>,
    /// Where to listen; loopback only. Port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_ADDRESS)]
    pub address: String,
    /// List the traces under this folder, in place of the current one.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// How many models are open at a time, each in a process of its own.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub models: u16,
    /// Close a model that was not asked for this long, as in 90s, 5m or 1h. It opens again by itself.
    #[arg(long, value_name = "T", default_value = "5m", value_parser = time)]
    pub idle: Duration,
}

/// `fencepost serve-model`.
#[derive(Debug, Args)]
pub struct ServeModel {
    /// The scenario.
    pub scenario: String,
    /// The rules.
    pub rules: String,
    /// The mutant, or `none`.
    pub mutant: String,
}

/// On what to replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// The model.
    Spec,
    /// The implementation.
    Impl,
}

/// `fencepost replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The trace file.
    pub trace: PathBuf,
    /// On what.
    #[arg(long, default_value = "spec")]
    pub on: On,
    /// Drive its requests over the wire and judge the answers of this broker.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "on")]
    pub bootstrap: Option<String>,
}

/// `fencepost record`.
#[derive(Debug, Args)]
pub struct Record {
    /// The broker.
    #[arg(long, value_name = "HOST:PORT")]
    pub bootstrap: String,
    /// Where clients connect. Port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub listen: String,
    /// The recording: one event a line, as JSON.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// `fencepost validate`.
#[derive(Debug, Args)]
pub struct Validate {
    /// A file of `fencepost record`.
    pub recording: PathBuf,
    /// The cluster's finalized `transaction.version`.
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub transaction_version: u8,
}

/// What to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A Mermaid sequence diagram.
    Mermaid,
    /// An SVG sequence chart.
    Svg,
    /// Apalache's Informal Trace Format.
    Itf,
    /// Graphviz.
    Dot,
    /// Steps, states and changes as JSON.
    Json,
}

/// `fencepost export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The trace file.
    pub trace: PathBuf,
    /// To what.
    #[arg(long)]
    pub format: Format,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Subject {
    /// The search engine.
    Search,
    /// Model against production cores: steps compared a second.
    Conform,
    /// The coordinator core: decisions a second with 100,000 ids, and the memory of an idle one.
    Core,
}

/// `fencepost bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure.
    pub subject: Subject,
    /// How often each measurement is repeated; the fastest counts.
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub repeats: u16,
    /// Also the models of ten million states; for `conform`, the default cases.
    #[arg(long)]
    pub large: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
