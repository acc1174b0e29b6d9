//! The product run: every step of the model's graph taken on production too.
//!
//! Both sides are explored together, breadth first, as pairs of a model state and a production state. For every enabled
//! action both sides take it, and what they send and what they then are is compared. For every request that the model
//! leaves waiting, production must give exactly the answer that the model predicts, and stay as it is.

mod catalogue;
mod compare;
mod divergence;
mod edge;
mod exclusion;
mod hidden;
mod known;
mod product;
mod refused;
mod replay;
mod report;
mod tamper;

pub use catalogue::{Case, DEFAULT, MUTATION};
pub use divergence::{Divergence, Mismatch};
pub use edge::{Edge, Lockstep};
pub use exclusion::{Exclusion, Exclusions};
pub use product::{Options, run, run_case};
pub use replay::{ReplayError, replay};
pub use report::{ExclusionRow, HiddenRow, Report, Run};
pub use tamper::Tamper;
