//! Decisions whose markers are not written yet.

use std::time::{Duration, Instant};

use super::{Outcome, Stage};
use crate::cases::oracle::Held;
use crate::loopback::Order;
use crate::wire::CoordinatorKey;

/// How long a decision may stay undone: the broker tries again ten times a second.
const COMPLETE_WITHIN: Duration = Duration::from_secs(2);

impl Stage {
    /// Our own broker sends no marker from here on.
    pub fn send_no_markers(&mut self) -> Outcome {
        self.operate(Order::HoldMarkers)?;
        self.oracle.hold(Held::Markers);
        self.held = true;
        Ok(())
    }

    /// It sends them again, and those that it has not sent.
    pub fn send_markers(&mut self) -> Outcome {
        self.operate(Order::LetGo)?;
        self.go_on();
        Ok(())
    }

    /// It is killed and starts again from its records, and sends what its records ask for.
    pub fn restart_undone(&mut self) -> Outcome {
        self.restart_broker(false)?;
        self.go_on();
        Ok(())
    }

    fn go_on(&mut self) {
        self.oracle.hold(Held::Nothing);
        self.held = false;
    }

    /// What the active id has decided is complete, soon.
    pub fn completes(&mut self) -> Outcome {
        let id = self.id();
        let deadline = Instant::now() + COMPLETE_WITHIN;
        loop {
            let coordinator = self.route.coordinator(CoordinatorKey::Transaction(&id))?;
            let state = coordinator.describe_transaction(&id)?.state;
            if !state.starts_with("Prepare") || Instant::now() >= deadline {
                let complete = ["CompleteCommit", "CompleteAbort"];
                self.expect("DescribeTransactions", &state, &complete, "KIP-98")?;
                break;
            }
            self.route.pause(Duration::from_millis(5));
        }
        self.settle()
    }
}
