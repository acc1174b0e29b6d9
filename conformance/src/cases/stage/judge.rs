//! What only whoever started the broker can do to it: halt it, let it go on, kill it, restart it.

use std::time::Duration;

use super::{Outcome, Stage, Stop};
use crate::cases::judge::{Configuration, Judge};
use crate::cases::oracle::{Elapsed, Held};
use crate::cases::route::waited;
use crate::loopback::Order;
use crate::wire::{CoordinatorKey, ErrorCode};

/// How what a broker knows came to be what is on its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restarted {
    /// It was killed.
    Killed,
    /// It was stopped in good order.
    Stopped,
    /// Another replica has taken over.
    FailedOver,
}

impl Restarted {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Killed, Self::Stopped, Self::FailedOver];
}

/// Ids that are tried until one of them is coordinated by the first broker.
const CANDIDATES: usize = 64;

impl Stage {
    /// Nothing more of the transaction-state log is replicated, so every transition stays pending.
    pub fn hold_log(&mut self) -> Outcome {
        self.judge(Configuration::ReplicatedLog)?
            .halt()
            .map_err(unclear)?;
        self.oracle.hold(Held::Log);
        self.halted = true;
        Ok(())
    }

    /// The leader of the case's partitions answers nothing, so a decided transaction stays in
    /// Prepare*.
    pub fn hold_leader(&mut self) -> Outcome {
        self.judge(Configuration::TwoBrokers)?
            .halt()
            .map_err(unclear)?;
        self.oracle.hold(Held::Markers);
        self.halted = true;
        self.held = true;
        Ok(())
    }

    /// What was held goes on.
    pub fn let_go(&mut self) -> Outcome {
        let Some(judge) = self.judge.as_ref().filter(|_| self.halted) else {
            return Ok(());
        };
        judge.let_go().map_err(unclear)?;
        self.oracle.hold(Held::Nothing);
        self.halted = false;
        self.held = false;
        for mut aside in std::mem::take(&mut self.unanswered) {
            aside.take_late_answers()?;
        }
        Ok(())
    }

    /// The broker ends, at once or in good order, and starts again on its data: its coordinator
    /// loads the log, its partitions rebuild what they know of producers.
    pub fn restart_broker(&mut self, gently: bool) -> Outcome {
        let judge = self.judge(Configuration::OneNode)?;
        self.settle()?;
        judge.restart(gently).map_err(unclear)?;
        self.route.forget();
        self.oracle.restart();
        self.await_coordinator()
    }

    /// What only our own broker can have done to it; the case ends here on any other.
    pub fn operate(&mut self, order: Order) -> Outcome {
        let done = self.judge.as_ref().map(|judge| judge.operate(order));
        match done.transpose().map_err(unclear)? {
            Some(true) => Ok(()),
            Some(false) | None => Err(Stop::Skip(format!("{order:?} takes our own broker"))),
        }
    }

    /// So much time passes, and every sweep has run; less than that changes nothing.
    pub fn pass(&mut self, elapsed: Elapsed) -> Outcome {
        const SECOND: u64 = 1000;
        let limit = match elapsed {
            Elapsed::Minute => 60 * SECOND,
            Elapsed::Day => 24 * 3600 * SECOND,
            Elapsed::Week => 7 * 24 * 3600 * SECOND,
        };
        self.settle()?;
        self.operate(Order::Pass(Duration::from_millis(limit + 10 * SECOND)))?;
        self.oracle.pass(elapsed);
        self.settle()
    }

    /// So many milliseconds pass, and every sweep has run: what the case says of it is all that happens.
    pub fn pass_ms(&mut self, millis: u64) -> Outcome {
        self.operate(Order::Pass(Duration::from_millis(millis)))
    }

    /// So many milliseconds pass: by the clock of our own broker, which may stand still, and at any other by waiting.
    pub fn let_pass_ms(&mut self, millis: u64) -> Outcome {
        match self.pass_ms(millis) {
            Err(Stop::Skip(_)) => {
                self.route.pause(Duration::from_millis(millis));
                Ok(())
            }
            done => done,
        }
    }

    /// Less than a minute passes, and every sweep has run: nothing changes.
    pub fn pass_half_a_minute(&mut self) -> Outcome {
        self.operate(Order::Pass(Duration::from_secs(30)))
    }

    /// Followers take over from every leader: whoever coordinates loads the log, and partitions have what was replicated.
    pub fn fail_over(&mut self) -> Outcome {
        self.settle()?;
        self.operate(Order::FailOver)?;
        self.route.forget();
        self.oracle.restart();
        self.await_coordinator()
    }

    /// The broker starts again on a transaction log to which a later version has written.
    pub fn restart_beside_foreign_records(&mut self) -> Outcome {
        self.settle()?;
        self.operate(Order::ForeignRecords)?;
        self.route.forget();
        self.oracle.restart();
        self.await_coordinator()
    }

    /// The coordinator starts again on a log whose ids are all at this epoch, and so are the clients.
    pub fn raise_epochs(&mut self, epoch: i16) -> Outcome {
        self.settle()?;
        self.operate(Order::RaiseEpochs(epoch))?;
        self.route.forget();
        self.oracle.raise_epochs(epoch);
        for identity in self.identities.iter_mut().flatten() {
            identity.producer_epoch.0 = epoch;
        }
        self.await_coordinator()
    }

    /// Whether a restart takes no time worth speaking of.
    pub fn restarts_at_once(&self) -> bool {
        self.judge.as_ref().is_some_and(|judge| {
            !judge.is_kafka() && judge.configuration() == Configuration::OneNode
        })
    }

    /// The same for a case of a group without transactions: the model's group is left as it is.
    pub fn restart_for_members(&mut self, how: Restarted) -> Outcome {
        self.operate(match how {
            Restarted::Killed => Order::Restart { gently: false },
            Restarted::Stopped => Order::Restart { gently: true },
            Restarted::FailedOver => Order::FailOver,
        })
    }

    /// Waits until the active id is answered for, so that a load is not taken for an answer.
    fn await_coordinator(&mut self) -> Outcome {
        let id = self.id();
        loop {
            let key = CoordinatorKey::Transaction(&id);
            let found = match self.route.coordinator(key) {
                Ok(coordinator) => coordinator.describe_transaction(&id).map(|it| it.error),
                Err(error) => Err(error),
            };
            match found {
                Ok(error) if !super::TRANSIENT.contains(&error.0) => return Ok(()),
                Ok(_) | Err(_) => self.route.forget(),
            }
            if !self.route.pause(Duration::from_millis(20)) {
                return Err(waited("the coordinator after a restart").into());
            }
        }
    }

    /// Renames the case's ids until the first broker, which is never halted, coordinates them.
    pub(super) fn choose_ids(&mut self) -> Outcome {
        for index in 0..self.ids.len() {
            let stem = self.ids[index].clone();
            let mut found = None;
            for n in 0..CANDIDATES {
                let id = format!("{stem}{n}");
                if self.first_coordinates(&id)? {
                    found = Some(id);
                    break;
                }
            }
            match found {
                Some(id) => self.ids[index] = id,
                None => return Err(waited("an id that broker 1 coordinates").into()),
            }
        }
        Ok(())
    }

    /// Whether the first broker coordinates `id`; waits until there is a coordinator.
    fn first_coordinates(&mut self, id: &str) -> Result<bool, Stop> {
        loop {
            let found = self
                .route
                .any()?
                .find_coordinator(CoordinatorKey::Transaction(id))?;
            if found.error == ErrorCode::NONE {
                return Ok(found.node_id == 1);
            }
            if !self.route.pause(Duration::from_millis(20)) {
                return Err(waited(&format!("a coordinator: {}", found.error)).into());
            }
        }
    }

    fn judge(&self, configuration: Configuration) -> Result<Judge, Stop> {
        match &self.judge {
            Some(judge) if judge.configuration() == configuration => Ok(judge.clone()),
            Some(_) | None => Err(Stop::Skip(format!(
                "needs the judge in the configuration {}",
                configuration.name()
            ))),
        }
    }
}

pub(super) fn unclear(error: impl std::fmt::Display) -> Stop {
    Stop::Unclear(format!("the judge: {error}"))
}
