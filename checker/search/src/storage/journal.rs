//! The checkpoint: a file to which each completed level is appended.
//!
//! A level is kept as the steps that first reached its states, six bytes a state; the states themselves are derived
//! again by replay on resuming, which also proves that the model is the same. Each record ends with a checksum: what a
//! killed process left half-written is cut off.

use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::StorageError;
use crate::bfs::Ways;
use crate::fingerprint::StateHasher;
use crate::links::Link;
use crate::outcome::HitPlace;

const FILE: &str = "search.checkpoint";
/// The last byte is the version of the format.
const MAGIC: [u8; 8] = *b"FPSRCH\0\x02";
const CHECKSUM: usize = 16;
/// Small levels follow each other faster than a disk can sync.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A level that was completely found but not yet expanded, and the totals at that time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LevelRecord {
    pub(crate) generated: u64,
    pub(crate) terminal: u64,
    pub(crate) deadlocks: u64,
    pub(crate) outside_boundary: u64,
    pub(crate) peak_frontier: u64,
    pub(crate) too_many_actions: bool,
    /// Of all states up to this level.
    pub(crate) digest: u128,
    /// Bit, state and place of each first hit so far.
    pub(crate) violated: Vec<(u32, u32, HitPlace)>,
    pub(crate) reached: Vec<(u32, u32, HitPlace)>,
    /// The ways in which properties were broken so far.
    pub(crate) ways: Ways,
    /// How each state of the level was first reached, in order.
    pub(crate) links: Vec<Link>,
}

/// The open checkpoint of a search.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Levels in the file.
    levels: usize,
    synced: Instant,
}

impl Journal {
    /// Begins an empty checkpoint.
    pub(crate) fn begin(directory: &Path, label: &str) -> Result<Self, StorageError> {
        let path = directory.join(FILE);
        let header = header(label);
        fs::create_dir_all(directory)
            .and_then(|()| File::create(&path))
            .and_then(|mut file| file.write_all(&header).map(|()| file))
            .map(|file| Self {
                path: path.clone(),
                file,
                levels: 0,
                synced: Instant::now(),
            })
            .map_err(|source| StorageError::Io { path, source })
    }

    /// Opens a checkpoint and reads its complete levels.
    pub(crate) fn resume(
        directory: &Path,
        label: &str,
    ) -> Result<(Self, Vec<LevelRecord>), StorageError> {
        let path = directory.join(FILE);
        let failed = |source| StorageError::Io {
            path: path.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let mut rest = Bytes(&bytes);
        let Some(found) = read_header(&mut rest) else {
            return Err(StorageError::NotACheckpoint { path });
        };
        if found != label {
            return Err(StorageError::OtherLabel {
                found,
                expected: label.to_owned(),
            });
        }
        let mut records = Vec::new();
        let mut end = bytes.len() - rest.0.len();
        while let Some(record) = read_frame(&mut rest).and_then(|payload| parse(Bytes(payload))) {
            records.push(record);
            end = bytes.len() - rest.0.len();
        }
        let mut cut = |end: u64| -> io::Result<()> {
            file.set_len(end)?;
            file.seek(io::SeekFrom::Start(end))?;
            Ok(())
        };
        cut(end as u64).map_err(failed)?;
        let levels = records.len();
        let journal = Self {
            path,
            file,
            levels,
            synced: Instant::now(),
        };
        Ok((journal, records))
    }

    /// Levels in the file.
    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// Appends a level. It outlives the process at once, and a loss of power after a second or so.
    pub(crate) fn append(&mut self, record: &LevelRecord) -> Result<(), StorageError> {
        let payload = format(record);
        let mut frame = (payload.len() as u64).to_le_bytes().to_vec();
        frame.extend_from_slice(&payload);
        frame.extend_from_slice(&checksum(&payload));
        let sync = self.synced.elapsed() >= SYNC_EVERY;
        if sync {
            self.synced = Instant::now();
        }
        self.file
            .write_all(&frame)
            .and_then(|()| if sync { self.file.sync_data() } else { Ok(()) })
            .map_err(|source| StorageError::Io {
                path: self.path.clone(),
                source,
            })?;
        self.levels += 1;
        Ok(())
    }
}

fn header(label: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&(label.len() as u64).to_le_bytes());
    bytes.extend_from_slice(label.as_bytes());
    bytes.extend_from_slice(&checksum(label.as_bytes()));
    bytes
}

fn read_header(rest: &mut Bytes<'_>) -> Option<String> {
    (rest.take(MAGIC.len())? == MAGIC).then_some(())?;
    let label = read_frame(rest)?;
    String::from_utf8(label.to_vec()).ok()
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = StateHasher::new();
    hasher.write(bytes);
    hasher.fingerprint().bits().to_le_bytes()
}

/// A length, that many bytes, and their checksum.
fn read_frame<'a>(rest: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(rest.u64()?).ok()?;
    let payload = rest.take(length)?;
    (rest.take(CHECKSUM)? == checksum(payload)).then_some(payload)
}

fn format(record: &LevelRecord) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(record.links.len() * 6 + 2048);
    for count in [
        record.generated,
        record.terminal,
        record.deadlocks,
        record.outside_boundary,
        record.peak_frontier,
        u64::from(record.too_many_actions),
    ] {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes.extend_from_slice(&record.digest.to_le_bytes());
    for hits in [&record.violated, &record.reached] {
        bytes.extend_from_slice(&(hits.len() as u64).to_le_bytes());
        for (bit, state, place) in hits {
            let place = match place {
                HitPlace::State => 0u32,
                HitPlace::Terminal => 1,
            };
            for number in [*bit, *state, place] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
    }
    format_ways(&record.ways, &mut bytes);
    bytes.extend_from_slice(&(record.links.len() as u64).to_le_bytes());
    for link in &record.links {
        bytes.extend_from_slice(&link.parent.to_le_bytes());
        bytes.extend_from_slice(&link.action.to_le_bytes());
    }
    bytes
}

fn format_ways(ways: &Ways, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(ways.first().count() as u64).to_le_bytes());
    for (bit, way, state) in ways.first() {
        for number in [bit, u32::from(way), state] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    bytes.extend_from_slice(&(ways.terminal().len() as u64).to_le_bytes());
    for (state, bits) in ways.terminal() {
        bytes.extend_from_slice(&state.to_le_bytes());
        bytes.extend_from_slice(&bits.to_le_bytes());
    }
}

fn parse(mut bytes: Bytes<'_>) -> Option<LevelRecord> {
    let bytes = &mut bytes;
    let record = LevelRecord {
        generated: bytes.u64()?,
        terminal: bytes.u64()?,
        deadlocks: bytes.u64()?,
        outside_boundary: bytes.u64()?,
        peak_frontier: bytes.u64()?,
        too_many_actions: bytes.u64()? != 0,
        digest: u128::from_le_bytes(bytes.array()?),
        violated: parse_hits(bytes)?,
        reached: parse_hits(bytes)?,
        ways: parse_ways(bytes)?,
        links: (0..bytes.u64()?)
            .map(|_| {
                Some(Link {
                    parent: bytes.u32()?,
                    action: u16::from_le_bytes(bytes.array()?),
                })
            })
            .collect::<Option<_>>()?,
    };
    bytes.0.is_empty().then_some(record)
}

fn parse_hits(bytes: &mut Bytes<'_>) -> Option<Vec<(u32, u32, HitPlace)>> {
    (0..bytes.u64()?)
        .map(|_| {
            let (bit, state) = (bytes.u32().filter(|bit| *bit < 64)?, bytes.u32()?);
            match bytes.u32()? {
                0 => Some((bit, state, HitPlace::State)),
                1 => Some((bit, state, HitPlace::Terminal)),
                _ => None,
            }
        })
        .collect()
}

fn parse_ways(bytes: &mut Bytes<'_>) -> Option<Ways> {
    let mut ways = Ways::default();
    for _ in 0..bytes.u64()? {
        let bit = bytes.u32().filter(|bit| *bit < 64)?;
        let (way, state) = (u16::try_from(bytes.u32()?).ok()?, bytes.u32()?);
        ways.record(1 << bit, way, state);
    }
    for _ in 0..bytes.u64()? {
        let (state, bits) = (bytes.u32()?, bytes.u64()?);
        ways.record_terminal(bits, state);
    }
    Some(ways)
}

/// Bytes still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}
