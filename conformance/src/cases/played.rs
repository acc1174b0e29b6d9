//! Plays one case on a thread of its own, and waits for it no longer than it may take.

use std::sync::mpsc;
use std::time::Duration;

use super::case::{Case, Level};
use super::stage::{Exchange, Setting, Stage, Stop};

/// What playing a case gave.
pub(super) struct Played {
    pub(super) stop: Option<Stop>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) left: Vec<String>,
}

impl Played {
    /// Not a single exchange.
    pub(super) fn not(stop: Stop) -> Self {
        Self {
            stop: Some(stop),
            exchanges: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Nobody knows what became of it.
    fn out_of_sight(setting: &Setting, case: &Case, why: String) -> Self {
        Self {
            left: vec![format!(
                "whatever {} has created: {why}",
                setting.name(case.id)
            )],
            ..Self::not(Stop::Unclear(why))
        }
    }
}

/// Plays a case on a thread of its own. A case that outlives its time is left to its socket's
/// timeout; its verdict is given without it.
pub(super) fn played(case: Case, setting: &Setting, time: Duration) -> Played {
    let patience = match case.level {
        Level::Slow => 5,
        // A broker that is killed inside the case starts again: half a minute where others work too.
        Level::Fault if setting.judge.is_some() => 4,
        Level::Core | Level::Full | Level::Admin | Level::Fault | Level::TwoPhase => 1,
    };
    let case_limit = (setting.case_limit * patience).min(time);
    let on_stage = Setting {
        case_limit,
        ..setting.clone()
    };
    // The stage's own deadline comes first; this one is for a broker that drips bytes.
    let grace = case_limit + setting.timeout * 4;
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .name(case.id.to_owned())
        .spawn(move || {
            let mut stage = Stage::new(&on_stage, case.id);
            let outcome = stage.open().and_then(|()| case.body.play(&mut stage));
            let left = stage.clear();
            // The receiver is gone where the case took too long: then nobody asks any more.
            let _ = sender.send(Played {
                stop: outcome.err(),
                exchanges: stage.into_exchanges(),
                left,
            });
        });
    if let Err(error) = thread {
        return Played::not(Stop::Unclear(format!("no thread: {error}")));
    }
    match receiver.recv_timeout(grace) {
        Ok(played) => played,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let why = format!("not finished within {} s", grace.as_secs());
            Played::out_of_sight(setting, &case, why)
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let why = "the suite's own error: the case's thread ended without a verdict";
            Played::out_of_sight(setting, &case, why.to_owned())
        }
    }
}
