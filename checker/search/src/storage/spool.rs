//! A file of states that wait their turn.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{Spill, StorageError};

/// A file to which segments of states are appended, and from which each is read back once.
pub(crate) struct Spool<S> {
    path: PathBuf,
    file: File,
    spill: Spill<S>,
    end: u64,
}

/// Where a segment lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    at: u64,
    bytes: usize,
    pub(crate) states: usize,
}

impl<S> Spool<S> {
    /// Makes the file, empty.
    pub(crate) fn create(
        directory: &Path,
        name: &str,
        spill: Spill<S>,
    ) -> Result<Self, StorageError> {
        let path = directory.join(name);
        let open = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)
        };
        match fs::create_dir_all(directory).and_then(|()| open()) {
            Ok(file) => Ok(Self {
                path,
                file,
                spill,
                end: 0,
            }),
            Err(source) => Err(StorageError::Io { path, source }),
        }
    }

    /// States that may stay in memory.
    pub(crate) fn keep(&self) -> usize {
        self.spill.keep
    }

    /// Forgets all segments.
    pub(crate) fn clear(&mut self) -> Result<(), StorageError> {
        self.end = 0;
        let done = self.file.set_len(0);
        done.map_err(|source| self.failed(source))
    }

    /// Appends a segment.
    pub(crate) fn append(&mut self, states: &[S]) -> Result<Place, StorageError> {
        let mut bytes = Vec::new();
        for state in states {
            let start = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            (self.spill.encode)(state, &mut bytes);
            let length = (bytes.len() - start - 4) as u32;
            bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        let place = Place {
            at: self.end,
            bytes: bytes.len(),
            states: states.len(),
        };
        self.at(place)
            .and_then(|file| file.write_all(&bytes))
            .map_err(|source| self.failed(source))?;
        self.end += bytes.len() as u64;
        Ok(place)
    }

    /// Reads a segment back.
    pub(crate) fn read(&mut self, place: Place) -> Result<Vec<S>, StorageError> {
        let mut bytes = vec![0; place.bytes];
        self.at(place)
            .and_then(|file| file.read_exact(&mut bytes))
            .map_err(|source| self.failed(source))?;
        let mut rest = &bytes[..];
        let mut states = Vec::with_capacity(place.states);
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let (state, tail) = tail
                .split_at_checked(length)
                .ok_or(StorageError::Undecodable)?;
            states.push((self.spill.decode)(state).ok_or(StorageError::Undecodable)?);
            rest = tail;
        }
        if states.len() == place.states {
            Ok(states)
        } else {
            Err(StorageError::Undecodable)
        }
    }

    fn at(&mut self, place: Place) -> io::Result<&mut File> {
        self.file.seek(SeekFrom::Start(place.at))?;
        Ok(&mut self.file)
    }

    fn failed(&self, source: io::Error) -> StorageError {
        StorageError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

impl<S> Drop for Spool<S> {
    fn drop(&mut self) {
        // Nothing depends on it: a file that is left is overwritten by the next search.
        let _ = fs::remove_file(&self.path);
    }
}
