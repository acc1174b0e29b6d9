//! Two-phase commit, as in Gray and Lamport, "Consensus on Transaction Commit" (2004), section 3, and its TLA+ module.
//!
//! Distinct / generated / levels by TLC, without symmetry: 5 resource managers 8,832 / 58,146 / 17;
//! 7: 296,448 / 2,744,706 / 23; 8: 1,745,408 / 18,507,778 / 26; 9: 10,340,352 / 123,558,402 / 29.

use stateright::{Model, Property};

/// Resource managers that fit the state.
const MAX_RMS: usize = 16;

/// Two-phase commit with a fixed number of resource managers.
#[derive(Clone, Debug)]
pub struct TwoPhase {
    rms: u8,
}

impl TwoPhase {
    /// The protocol with this many resource managers, 1 to 16; other numbers are taken to the nearest of these.
    pub fn new(rms: usize) -> Self {
        Self {
            rms: rms.clamp(1, MAX_RMS) as u8,
        }
    }

    fn all(&self) -> u16 {
        u16::MAX >> (MAX_RMS as u32 - u32::from(self.rms))
    }
}

/// What a resource manager has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RmState {
    /// Neither prepared nor decided.
    Working,
    /// Ready to commit, and bound to.
    Prepared,
    /// Committed.
    Committed,
    /// Aborted.
    Aborted,
}

/// What the transaction manager has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TmState {
    /// Undecided.
    Init,
    /// Told everyone to commit.
    Committed,
    /// Told everyone to abort.
    Aborted,
}

/// The whole system. Sets of resource managers are bits; messages stay in their set for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TwoPhaseState {
    /// Who has prepared, or committed. Who has aborted is in both, who is working in neither.
    rm_prepared: u16,
    rm_committed: u16,
    tm: TmState,
    /// From whom the transaction manager has received "prepared".
    tm_prepared: u16,
    /// Who has sent "prepared".
    prepared: u16,
}

impl TwoPhaseState {
    fn rm(&self, rm: u8) -> RmState {
        match (self.rm_committed >> rm & 1, self.rm_prepared >> rm & 1) {
            (0, 0) => RmState::Working,
            (0, _) => RmState::Prepared,
            (_, 0) => RmState::Committed,
            (_, _) => RmState::Aborted,
        }
    }

    fn set_rm(&mut self, rm: u8, state: RmState) {
        let bit = 1 << rm;
        let (prepared, committed) = match state {
            RmState::Working => (0, 0),
            RmState::Prepared => (bit, 0),
            RmState::Committed => (0, bit),
            RmState::Aborted => (bit, bit),
        };
        self.rm_prepared = self.rm_prepared & !bit | prepared;
        self.rm_committed = self.rm_committed & !bit | committed;
    }

    /// The same system with the resource managers in another order: the one canonical order of all.
    #[must_use]
    pub fn canonical(&self, model: &TwoPhase) -> Self {
        let mut rms: Vec<_> = (0..model.rms)
            .map(|rm| {
                let of = |bits: u16| bits >> rm & 1;
                (self.rm(rm), of(self.tm_prepared), of(self.prepared))
            })
            .collect();
        rms.sort_unstable();
        let mut canonical = Self {
            tm_prepared: 0,
            prepared: 0,
            ..self.clone()
        };
        for (rm, (state, tm_prepared, prepared)) in (0..).zip(rms) {
            canonical.set_rm(rm, state);
            canonical.tm_prepared |= tm_prepared << rm;
            canonical.prepared |= prepared << rm;
        }
        canonical
    }
}

/// A step; the number is the resource manager's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TwoPhaseAction {
    /// The transaction manager receives "prepared".
    TmRcvPrepared(u8),
    /// The transaction manager commits: all are prepared.
    TmCommit,
    /// The transaction manager aborts.
    TmAbort,
    /// A resource manager prepares.
    RmPrepare(u8),
    /// A resource manager aborts of itself.
    RmChooseToAbort(u8),
    /// A resource manager learns that all commit.
    RmRcvCommit(u8),
    /// A resource manager learns that all abort.
    RmRcvAbort(u8),
}

impl Model for TwoPhase {
    type State = TwoPhaseState;
    type Action = TwoPhaseAction;

    fn init_states(&self) -> Vec<Self::State> {
        vec![TwoPhaseState {
            rm_prepared: 0,
            rm_committed: 0,
            tm: TmState::Init,
            tm_prepared: 0,
            prepared: 0,
        }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        if state.tm == TmState::Init {
            if state.tm_prepared == self.all() {
                actions.push(TwoPhaseAction::TmCommit);
            }
            actions.push(TwoPhaseAction::TmAbort);
        }
        for rm in 0..self.rms {
            if state.tm == TmState::Init && state.prepared >> rm & 1 == 1 {
                actions.push(TwoPhaseAction::TmRcvPrepared(rm));
            }
            if state.rm(rm) == RmState::Working {
                actions.push(TwoPhaseAction::RmPrepare(rm));
                actions.push(TwoPhaseAction::RmChooseToAbort(rm));
            }
            match state.tm {
                TmState::Init => {}
                TmState::Committed => actions.push(TwoPhaseAction::RmRcvCommit(rm)),
                TmState::Aborted => actions.push(TwoPhaseAction::RmRcvAbort(rm)),
            }
        }
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        let mut next = state.clone();
        match action {
            TwoPhaseAction::TmRcvPrepared(rm) => next.tm_prepared |= 1 << rm,
            TwoPhaseAction::TmCommit => next.tm = TmState::Committed,
            TwoPhaseAction::TmAbort => next.tm = TmState::Aborted,
            TwoPhaseAction::RmPrepare(rm) => {
                next.set_rm(rm, RmState::Prepared);
                next.prepared |= 1 << rm;
            }
            TwoPhaseAction::RmChooseToAbort(rm) | TwoPhaseAction::RmRcvAbort(rm) => {
                next.set_rm(rm, RmState::Aborted);
            }
            TwoPhaseAction::RmRcvCommit(rm) => next.set_rm(rm, RmState::Committed),
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("consistent", |_, state: &TwoPhaseState| {
                let aborted = state.rm_committed & state.rm_prepared;
                let committed = state.rm_committed & !state.rm_prepared;
                aborted == 0 || committed == 0
            }),
            Property::sometimes("all committed", |model: &TwoPhase, state| {
                all_are(model, state, RmState::Committed)
            }),
            Property::sometimes("all aborted", |model: &TwoPhase, state| {
                all_are(model, state, RmState::Aborted)
            }),
        ]
    }
}

fn all_are(model: &TwoPhase, state: &TwoPhaseState, wanted: RmState) -> bool {
    (0..model.rms).all(|rm| state.rm(rm) == wanted)
}
