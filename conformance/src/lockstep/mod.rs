//! The product run: every step of the model's graph taken on production too.
//!
//! Both sides are explored together, breadth first, as pairs of a model state and a production state. For every enabled
//! action both sides take it, and what they send and what they then are is compared. For every request that the model
//! leaves waiting, production must give exactly the answer that the model predicts, and stay as it is.

mod catalogue;
mod client;
mod compare;
mod crash;
mod divergence;
mod edge;
mod exclusion;
mod hidden;
mod judge;
mod known;
mod product;
mod refused;
mod replay;
mod report;
mod tally;
mod tamper;
mod walk;

pub use catalogue::{Case, DEFAULT, MUTATION};
pub use crash::{CrashPoints, WriteKind};
pub use divergence::{Divergence, Mismatch, Side};
pub use edge::{After, Edge, Lockstep};
pub use exclusion::{Exclusion, Exclusions};
pub use judge::Judged;
pub use product::{Options, run, run_all, run_case};
pub use replay::{ReplayError, out_of_sight, replay};
pub use report::{CrashRow, ExclusionRow, HiddenRow, Properties, Report, Run};
pub use tally::Tally;
pub use tamper::Tamper;
pub use walk::{CROWDS, Walk, walk_crowds};
