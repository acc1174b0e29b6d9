//! Trace files: reading one that was named, saving what a search found.

use crate::exit::Failure;
use crate::select::Run;
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties::Id;
use fencepost_spec::properties::witness::{self, Witness};
use fencepost_spec::trace::{Expect, Line, Replayed, TraceFile};
use fencepost_spec::world::Action;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads a trace.
pub fn read(path: &Path) -> Result<TraceFile, Failure> {
    let text = fs::read_to_string(path).map_err(|source| Failure::File {
        verb: "read",
        path: path.display().to_string(),
        source,
    })?;
    TraceFile::read(&text).map_err(|source| Failure::Trace {
        path: path.display().to_string(),
        source,
    })
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let wrong = |source| Failure::File {
        verb: "write",
        path: path.display().to_string(),
        source,
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(wrong)?;
    }
    fs::write(path, text).map_err(wrong)
}

/// A trace of a violation.
pub fn of_violation(
    (entry, rules): Run,
    mutant: Option<&'static Mutant>,
    property: Id,
    actions: &[Action],
) -> TraceFile {
    TraceFile {
        story: mutant.map_or(entry.says, |m| m.says).to_owned(),
        scenario: entry,
        rules,
        mutant,
        expect: Expect::Violates(vec![property]),
        lines: (1..).zip(actions.iter().map(Line::from)).collect(),
    }
}

/// A trace to a state that shows what a property talks about.
pub fn of_witness((entry, rules): Run, witness: &Witness, actions: &[Action]) -> TraceFile {
    TraceFile {
        story: witness.says.to_owned(),
        scenario: entry,
        rules,
        mutant: None,
        expect: Expect::Witness(witness.id),
        lines: (1..).zip(actions.iter().map(Line::from)).collect(),
    }
}

/// A trace of a lasso: of a property, from a step on.
pub fn of_lasso(
    run: Run,
    mutant: Option<&'static Mutant>,
    (property, from): (Id, usize),
    actions: &[Action],
) -> TraceFile {
    TraceFile {
        expect: Expect::Lasso(property, from),
        ..of_violation(run, mutant, property, actions)
    }
}

/// Whether a replayed trace shows what its header says.
pub fn shows(file: &TraceFile, run: &Replayed) -> bool {
    let broken = run.violations();
    match &file.expect {
        Expect::Holds => broken.is_empty(),
        Expect::Violates(ids) => ids.iter().all(|id| broken.contains(id)),
        Expect::Witness(id) => witness::reached(&file.world(), run.last()) & id.bit() != 0,
        Expect::Lasso(id, from) => run.lasso(&file.world(), *id, *from).is_ok(),
    }
}

/// Saves a trace of a violation as `PROPERTY_story.trace` and says where.
pub fn save(directory: &Path, trace: &TraceFile) -> Result<PathBuf, Failure> {
    let property = match &trace.expect {
        Expect::Violates(ids) => ids.first().map_or("none", |id| id.name()),
        Expect::Witness(id) | Expect::Lasso(id, _) => id.name(),
        Expect::Holds => "holds",
    };
    let mutant = trace.mutant.map_or_else(String::new, |m| {
        format!("{}_", m.id.to_lowercase().replace('+', "_"))
    });
    let kind = match &trace.expect {
        Expect::Lasso(..) => "_lasso",
        Expect::Holds | Expect::Violates(_) | Expect::Witness(_) => "",
    };
    let name = format!(
        "{property}_{mutant}{}_{}{kind}.trace",
        trace.scenario.name.replace('-', "_"),
        trace.rules.name()
    );
    let path = directory.join(name);
    write(&path, &trace.to_string())?;
    Ok(path)
}
