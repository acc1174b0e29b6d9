//! Searches that outlive their process or their memory: checkpoints, and frontiers that spill to disk.

mod journal;
mod spool;

pub(crate) use journal::{Journal, LevelRecord};
pub(crate) use spool::{Place, Spool};

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Where a search keeps what must outlive its process or its memory.
#[derive(Clone, Debug)]
pub struct Storage<S> {
    /// A directory for this search alone. It is made if it does not exist.
    pub directory: PathBuf,
    /// What is searched, in the caller's words: a checkpoint is resumed only under the label that it was made with.
    pub label: String,
    /// True to go on from the checkpoint in the directory, false to begin anew and overwrite it.
    pub resume: bool,
    /// How the frontier spills to disk; `None` to keep all of it in memory.
    pub spill: Option<Spill<S>>,
}

/// How a frontier spills to disk.
#[derive(Clone, Debug)]
pub struct Spill<S> {
    /// States that each of two levels keeps in memory; what is beyond goes to disk until its turn comes.
    pub keep: usize,
    /// Appends the bytes of a state.
    pub encode: fn(&S, &mut Vec<u8>),
    /// The state of these bytes; `None` if they are no state's.
    pub decode: fn(&[u8]) -> Option<S>,
}

/// Why a search cannot be stored or resumed.
#[derive(Debug, Error)]
pub enum StorageError {
    /// A file could not be made, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no checkpoint of this version.
    #[error("{path} is not a checkpoint, or one of another version")]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// The checkpoint is of something else.
    #[error("the checkpoint is of {found:?}, not of {expected:?}")]
    OtherLabel {
        /// The label in the checkpoint.
        found: String,
        /// The label asked for.
        expected: String,
    },
    /// The checkpoint's steps do not lead to the checkpoint's states: the model, its bounds or its symmetry changed.
    #[error("level {level} of the checkpoint is not what this model gives")]
    OtherModel {
        /// The first level that differs; the initial states are level 1.
        level: usize,
    },
    /// A spilled state could not be decoded.
    #[error("a state spilled to disk cannot be read back")]
    Undecodable,
}
