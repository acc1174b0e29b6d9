//! Disk: writes that fail.

use super::{Case, ours};
use crate::cases::stage::{Abort, Commit};

const DISK: &str = "what is not written is not there";

pub(super) const CASES: &[Case] = &[
    ours(
        "disk/01",
        "a-failed-batch",
        DISK,
        "A batch that the disk does not take is refused and leaves no trace; the same batch follows later.",
        |s| {
            s.ongoing(1)?;
            s.produce_to_a_failing_disk(1)?;
            s.compare_all()?;
            s.partition = 0;
            s.produce(11, s.me(), 1)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "disk/02",
        "a-failed-first-batch",
        DISK,
        "A transaction whose first batch fails is not open at the partition.",
        |s| {
            s.empty(1)?;
            s.add(3, s.me())?;
            s.produce_to_a_failing_disk(0)?;
            s.read()?;
            s.describe_producers()?;
            s.produce(11, s.me(), 0)?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.compare_all()
        },
    ),
    ours(
        "disk/03",
        "a-failed-offset",
        DISK,
        "An offset that the disk does not take is refused and not staged.",
        |s| {
            s.empty(1)?;
            s.commit_plainly(3)?;
            s.add_offsets(3, s.me())?;
            s.stage_on_a_failing_disk(3, "NOT_COORDINATOR")?;
            s.fetch_offset(true)?;
            s.stage_offset(3, s.me(), 7)?;
            s.end(4, s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)
        },
    ),
];
