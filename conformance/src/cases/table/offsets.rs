//! TxnOffsetCommit and what OffsetFetch sees of it.

use super::*;
use crate::cases::stage::{Abort, Commit, Outcome, Stage};
use crate::wire::GroupMember;
use fencepost_spec::types::TransactionResult;

const KIP_447: &str = "KIP-447: group metadata in TxnOffsetCommit";

/// Staged over a committed offset, then ended: what both kinds of OffsetFetch see on the way.
fn staged_then(s: &mut Stage, result: TransactionResult) -> Outcome {
    s.empty(1)?;
    s.commit_plainly(3)?;
    s.add_offsets(3, s.me())?;
    s.fetch_offset(true)?;
    s.stage_offset(3, s.me(), 7)?;
    s.fetch_offset(true)?;
    s.fetch_offset(false)?;
    s.stage_offset(3, s.me(), 8)?;
    s.end(s.end_version(), s.me(), result)?;
    s.settle()?;
    s.fetch_offset(true)?;
    s.fetch_offset(false)
}

fn member(generation_id: i32, member_id: &str, instance_id: Option<&str>) -> GroupMember {
    GroupMember {
        generation_id,
        member_id: member_id.to_owned(),
        instance_id: instance_id.map(str::to_owned),
    }
}

/// Right and wrong generations of the only member.
fn generations(s: &mut Stage, version: i16) -> Outcome {
    s.empty(1)?;
    s.add_offsets(3, s.me())?;
    let generation = s.join()?;
    s.stage_offset_in(version, s.me(), 7, generation)?;
    s.stage_offset_in(version, s.me(), 8, generation.wrapping_sub(1))?;
    s.stage_offset_in(version, s.me(), 9, generation.wrapping_add(1))?;
    s.end(s.end_version(), s.me(), Commit)?;
    s.settle()?;
    s.fetch_offset(true)
}

/// Wrong and right producer identities.
fn identities(s: &mut Stage, version: i16) -> Outcome {
    s.empty(1)?;
    s.add_offsets(3, s.me())?;
    s.stage_offset(version, s.at(0), 5)?;
    s.stage_offset(version, s.at(2), 5)?;
    s.stage_offset(version, s.stranger(), 5)?;
    s.stage_offset(version, s.me(), 7)?;
    s.stage_offset(version, s.at(0), 6)?;
    s.end(s.end_version(), s.me(), Commit)?;
    s.settle()?;
    s.fetch_offset(true)
}

const CLASSIC: &[Need] = &[INIT_4, OFFSETS_3, STAGE_3, END_4];
const V5: &[Need] = &[INIT_4, OFFSETS_3, STAGE_5, TV1];

pub(super) const CASES: &[Case] = &[
    core(
        "offsets/01",
        "commit-publishes",
        CLASSIC,
        "KIP-98: TxnOffsetCommit",
        "A staged offset is invisible until the commit, and then the committed one.",
        |s| staged_then(s, Commit),
    ),
    core(
        "offsets/02",
        "abort-drops",
        CLASSIC,
        "KIP-98: TxnOffsetCommit",
        "A staged offset of an aborted transaction is never seen.",
        |s| staged_then(s, Abort),
    ),
    core(
        "offsets/03",
        "not-added-v3",
        &[INIT_4, STAGE_3],
        "KIP-890 part 1: verification",
        "Without AddOffsetsToTxn a TxnOffsetCommit below v4 is INVALID_TXN_STATE and stages nothing.",
        |s| {
            s.empty(1)?;
            s.commit_plainly(3)?;
            s.stage_offset(3, s.me(), 7)?;
            s.fetch_offset(true)
        },
    ),
    core(
        "offsets/04",
        "not-added-v4",
        &[INIT_4, api(28, "TxnOffsetCommit", 4)],
        "KIP-890 part 1: verification",
        "Without AddOffsetsToTxn a TxnOffsetCommit v4 is TRANSACTION_ABORTABLE and stages nothing.",
        |s| {
            s.empty(1)?;
            s.commit_plainly(3)?;
            s.stage_offset(4, s.me(), 7)?;
            s.fetch_offset(true)
        },
    ),
    core(
        "offsets/05",
        "v5-adds-by-itself",
        V5,
        "KIP-890 part 2: implicit add",
        "TxnOffsetCommit v5 begins the transaction and stages.",
        |s| {
            s.empty(1)?;
            s.commit_plainly(3)?;
            s.stage_offset(5, s.me(), 7)?;
            s.describe()?;
            s.fetch_offset(true)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)
        },
    ),
    core(
        "offsets/06",
        "v3-identities",
        CLASSIC,
        "KIP-98, KIP-890",
        "Other epochs are INVALID_PRODUCER_EPOCH, another producer id INVALID_PRODUCER_ID_MAPPING.",
        |s| identities(s, 3),
    ),
    core(
        "offsets/07",
        "v5-identities",
        V5,
        "KIP-98, KIP-890",
        "The same for v5.",
        |s| identities(s, 5),
    ),
    core(
        "offsets/08",
        "v3-generations",
        CLASSIC,
        KIP_447,
        "The member's own generation is accepted, the one before and after are ILLEGAL_GENERATION.",
        |s| generations(s, 3),
    ),
    core(
        "offsets/09",
        "v5-generations",
        V5,
        KIP_447,
        "The same for v5.",
        |s| generations(s, 5),
    ),
    core(
        "offsets/10",
        "old-form-without-generation",
        &[INIT_4, OFFSETS_3, api(28, "TxnOffsetCommit", 0), END_4],
        "KIP-447: v0 to v2 carry no group metadata",
        "A commit without group metadata is accepted although the group has members.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            s.join()?;
            s.stage_offset(0, s.me(), 7)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(false)
        },
    ),
    core(
        "offsets/11",
        "unknown-member",
        CLASSIC,
        KIP_447,
        "A member that the group does not know is UNKNOWN_MEMBER_ID, with or without a name.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            let generation = i32::from(s.join()?);
            s.stage_refused(
                3,
                member(generation, "nobody", None),
                &["UNKNOWN_MEMBER_ID"],
                KIP_447,
            )?;
            s.stage_refused(
                3,
                member(generation, "", None),
                &["UNKNOWN_MEMBER_ID"],
                KIP_447,
            )?;
            s.fetch_offset(true)
        },
    ),
    core(
        "offsets/12",
        "unknown-instance",
        CLASSIC,
        "KIP-345, KIP-447",
        "A static member that the group does not know is UNKNOWN_MEMBER_ID.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            let generation = i32::from(s.join()?);
            let nobody = member(generation, "nobody", Some("nobody"));
            s.stage_refused(3, nobody, &["UNKNOWN_MEMBER_ID"], "KIP-345, KIP-447")
        },
    ),
    core(
        "offsets/13",
        "missing-group-with-generation",
        CLASSIC,
        KIP_447,
        "A generation of a group that does not exist is ILLEGAL_GENERATION.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            s.stage_refused(3, member(0, "", None), &["ILLEGAL_GENERATION"], KIP_447)?;
            s.stage_refused(
                3,
                member(1, "nobody", None),
                &["ILLEGAL_GENERATION"],
                KIP_447,
            )
        },
    ),
    core(
        "offsets/14",
        "member-that-left",
        CLASSIC,
        KIP_447,
        "After the only member left, the empty group takes commits without group metadata.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            s.join()?;
            s.leave()?;
            s.stage_offset(3, s.me(), 8)?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.fetch_offset(true)
        },
    ),
    core(
        "offsets/15",
        "with-data-one-verdict",
        &[INIT_4, ADD_3, PRODUCE_11, OFFSETS_3, STAGE_3, END_4],
        "KIP-98: offsets and records share the verdict",
        "Records and offsets of one transaction are decided together.",
        |s| {
            s.ongoing(0)?;
            s.commit_plainly(3)?;
            s.add_offsets(3, s.me())?;
            s.stage_offset(3, s.me(), 7)?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.read()?;
            s.fetch_offset(true)
        },
    ),
    core(
        "offsets/16",
        "fenced-member-stages-nothing",
        CLASSIC,
        "KIP-98: zombie fencing",
        "After InitProducerId of a newer instance the older one stages nothing.",
        |s| {
            s.empty(1)?;
            s.add_offsets(3, s.me())?;
            let zombie = s.me();
            s.stage_offset(3, zombie, 7)?;
            s.init()?;
            s.settle()?;
            s.stage_offset(3, zombie, 8)?;
            s.fetch_offset(true)
        },
    ),
];
