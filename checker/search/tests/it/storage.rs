//! Checkpoints and spilled frontiers: nothing that happens to the process changes the result.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fencepost_search::{
    Checks, Options, Outcome, Reason, Spill, Storage, StorageError, Verdict, run_bfs,
    run_bfs_stored,
};
use stateright::Model;

/// A triangle of two counters and a flag: diamonds, dead ends, violations of both kinds.
#[derive(Clone)]
struct Triangle {
    side: u16,
}

type State = (u16, u16, bool);

impl Model for Triangle {
    type State = State;
    type Action = u8;

    fn init_states(&self) -> Vec<State> {
        vec![(0, 0, false), (0, 0, false), (1, 0, true)]
    }

    fn actions(&self, _: &State, actions: &mut Vec<u8>) {
        actions.extend(0..4);
    }

    fn next_state(&self, state: &State, action: u8) -> Option<State> {
        let (x, y, flag) = *state;
        if x + y >= self.side {
            return None;
        }
        match action {
            0 => Some((x + 1, y, flag)),
            1 => Some((x, y + 1, flag)),
            2 => (x.is_multiple_of(7)).then_some((x + 1, y + 1, !flag)),
            _ => None,
        }
    }
}

fn checks() -> Checks<Triangle> {
    Checks::new(
        ["no flag far out", "no end on the edge"],
        |model: &Triangle, state: &State| u64::from(state.2 && state.0 > model.side / 2),
        |_, state| u64::from(state.1 == 0) << 1,
    )
    .and_then(|checks| {
        checks.witnesses(["high"], |model, state| u64::from(state.1 + 2 > model.side))
    })
    .unwrap()
}

fn spill(keep: usize) -> Spill<State> {
    Spill {
        keep,
        encode: |state, bytes| {
            bytes.extend_from_slice(&state.0.to_le_bytes());
            bytes.extend_from_slice(&state.1.to_le_bytes());
            bytes.push(u8::from(state.2));
        },
        decode: |bytes| {
            let [a, b, c, d, flag] = *bytes else {
                return None;
            };
            Some((
                u16::from_le_bytes([a, b]),
                u16::from_le_bytes([c, d]),
                flag == 1,
            ))
        },
    }
}

fn storage(directory: &Path, resume: bool, keep: Option<usize>) -> Storage<State> {
    Storage {
        directory: directory.to_owned(),
        label: "triangle".to_owned(),
        resume,
        spill: keep.map(spill),
    }
}

fn assert_same(found: &Outcome<State, u8>, expected: &Outcome<State, u8>) {
    let all = |outcome: &Outcome<State, u8>| {
        let traces = |hits: &[fencepost_search::Hit<State, u8>]| -> Vec<_> {
            hits.iter()
                .map(|hit| (hit.bit, hit.place, hit.trace.clone()))
                .collect()
        };
        (
            (outcome.distinct, outcome.generated, outcome.terminal),
            (outcome.levels.clone(), outcome.digest, outcome.incomplete),
            (traces(&outcome.violations), traces(&outcome.witnesses)),
        )
    };
    assert_eq!(all(found), all(expected));
}

fn threads(threads: usize) -> Options {
    Options {
        threads,
        ..Options::default()
    }
}

#[test]
fn a_spilled_frontier_changes_nothing() {
    let model = Triangle { side: 400 };
    let plain = run_bfs(&model, &checks(), &threads(1));
    assert_eq!((plain.violations.len(), plain.witnesses.len()), (2, 1));
    assert!(plain.distinct > 100_000 && plain.verdict() == Verdict::Violated);
    let directory = tempfile::tempdir().unwrap();
    for (count, keep) in [(1, 0), (1, 300), (2, 0), (2, 700), (2, usize::MAX)] {
        let storage = storage(directory.path(), false, Some(keep));
        let stored = run_bfs_stored(&model, &checks(), &threads(count), &storage).unwrap();
        assert_same(&stored, &plain);
    }
    // The spools are gone, the checkpoint stays.
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_search_that_met_a_bound_goes_on_where_it_stopped() {
    let model = Triangle { side: 120 };
    let plain = run_bfs(&model, &checks(), &threads(1));
    let directory = tempfile::tempdir().unwrap();
    let mut bound = Options {
        max_states: Some(1),
        ..Options::default()
    };
    let first = storage(directory.path(), false, None);
    let mut outcome = run_bfs_stored(&model, &checks(), &bound, &first).unwrap();
    let mut times = 0;
    while outcome.incomplete.is_some() {
        assert_eq!(outcome.incomplete, Some(Reason::MaxStates));
        bound.max_states = Some(outcome.distinct + 1000);
        bound.threads = times % 3;
        let again = storage(directory.path(), true, (times % 2 == 0).then_some(50));
        outcome = run_bfs_stored(&model, &checks(), &bound, &again).unwrap();
        times += 1;
    }
    assert!(times > 5, "{times}");
    assert_same(&outcome, &plain);
    // Resuming a finished search finds it finished.
    let again = storage(directory.path(), true, None);
    assert_same(
        &run_bfs_stored(&model, &checks(), &threads(1), &again).unwrap(),
        &plain,
    );
}

#[test]
fn a_checkpoint_cut_or_spoilt_anywhere_resumes_to_the_same_result() {
    let model = Triangle { side: 5 };
    let plain = run_bfs(&model, &checks(), &threads(1));
    let directory = tempfile::tempdir().unwrap();
    let fresh = storage(directory.path(), false, None);
    run_bfs_stored(&model, &checks(), &threads(1), &fresh).unwrap();
    let file = directory.path().join("search.checkpoint");
    let whole = fs::read(&file).unwrap();
    let header = 8 + 8 + "triangle".len() + 16;
    let again = storage(directory.path(), true, None);
    let resumes = |bytes: &[u8], position: usize| {
        fs::write(&file, bytes).unwrap();
        match run_bfs_stored(&model, &checks(), &threads(1), &again) {
            Ok(outcome) => {
                assert!(position >= header);
                assert_same(&outcome, &plain);
                // And what it leaves behind is whole again.
                assert_eq!(fs::read(&file).unwrap(), whole);
            }
            Err(StorageError::NotACheckpoint { .. }) => assert!(position < header),
            Err(other) => panic!("at {position}: {other}"),
        }
    };
    for position in (0..whole.len()).step_by(3) {
        resumes(&whole[..position], position);
        let mut spoilt = whole.clone();
        spoilt[position] ^= 0x41;
        resumes(&spoilt, position);
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let model = Triangle { side: 30 };
    let directory = tempfile::tempdir().unwrap();
    let mut storage = storage(directory.path(), true, None);
    let run = |model: &Triangle, storage: &Storage<State>| {
        run_bfs_stored(model, &checks(), &threads(1), storage).map(|outcome| outcome.distinct)
    };
    assert!(matches!(
        run(&model, &storage),
        Err(StorageError::Io { .. })
    ));
    storage.resume = false;
    run(&model, &storage).unwrap();
    storage.resume = true;
    let smaller = run(&Triangle { side: 20 }, &storage);
    assert!(
        matches!(smaller, Err(StorageError::OtherModel { level: 2.. })),
        "{smaller:?}"
    );
    storage.label = "square".to_owned();
    assert!(matches!(
        run(&model, &storage),
        Err(StorageError::OtherLabel { .. })
    ));
}

/// The name of the directory for the process that is to be killed; only set in that process.
const VICTIM: &str = "FENCEPOST_SEARCH_TEST_VICTIM";
const SIDE: u16 = 60;

/// Searches slowly, when the test below starts it in a process of its own; otherwise it has nothing to do.
#[test]
fn victim() {
    let Some(directory) = std::env::var_os(VICTIM) else {
        return;
    };
    let slow = Options {
        progress: Some(std::sync::Arc::new(|_| {
            std::thread::sleep(Duration::from_millis(10));
        })),
        ..Options::default()
    };
    let storage = storage(Path::new(&directory), true, Some(10));
    run_bfs_stored(&Triangle { side: SIDE }, &checks(), &slow, &storage).unwrap();
}

#[test]
fn kill_9_then_resume_gives_the_identical_digest() {
    let model = Triangle { side: SIDE };
    let plain = run_bfs(&model, &checks(), &threads(1));
    let directory = tempfile::tempdir().unwrap();
    let fresh = storage(directory.path(), false, None);
    let bound = Options {
        max_depth: Some(1),
        ..Options::default()
    };
    run_bfs_stored(&model, &checks(), &bound, &fresh).unwrap();
    let file = directory.path().join("search.checkpoint");
    let size = || fs::metadata(&file).unwrap().len();
    for _ in 0..6 {
        let before = size();
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "storage::victim"])
            .env(VICTIM, directory.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..1000 {
            if size() > before + 1500 {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // SIGKILL.
        victim.kill().unwrap();
        assert!(
            !victim.wait().unwrap().success(),
            "it was to be killed, not to finish"
        );
        assert!(size() > before);
    }
    let last = storage(directory.path(), true, None);
    let resumed = run_bfs_stored(&model, &checks(), &threads(2), &last).unwrap();
    assert_same(&resumed, &plain);
}
