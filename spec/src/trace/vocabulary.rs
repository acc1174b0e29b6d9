//! Every word that a trace may use: the actors, what each can do, and with which values.
//!
//! The list is closed. A word outside it makes a trace unreadable, so that a slip of the pen is
//! told apart from a step that the protocol does not allow.

use super::ValueKind::{self, *};
use ActorKind::*;

/// What kind of actor a line begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActorKind {
    /// `P`, `Q`, `R`, `S`: a producer instance.
    Producer,
    /// `coordinator/N`: the transaction coordinator on a broker.
    Coordinator,
    /// `log`: the transaction-state partition.
    Log,
    /// `pN`: a partition leader; the offsets partition is the last.
    Partition,
    /// `group`: the group coordinator.
    Group,
    /// `reader/N`: a stepwise reader.
    Reader,
    /// `manager`: the external transaction manager (KIP-939).
    Manager,
    /// `cluster`: the controller.
    Cluster,
    /// `network`: what is lost in flight.
    Network,
}

/// A value that a verb takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: ValueKind,
    /// Whether it may be left out.
    pub optional: bool,
}

/// What an actor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// The word.
    pub word: &'static str,
    /// Who can do it.
    pub actor: ActorKind,
    /// The values, in their fixed order.
    pub keys: &'static [Key],
    /// What happens, as a sentence whose subject is the actor.
    pub says: &'static str,
}

const fn must(name: &'static str, kind: ValueKind) -> Key {
    Key {
        name,
        kind,
        optional: false,
    }
}

const fn may(name: &'static str, kind: ValueKind) -> Key {
    Key {
        name,
        kind,
        optional: true,
    }
}

const fn verb(
    actor: ActorKind,
    word: &'static str,
    says: &'static str,
    keys: &'static [Key],
) -> Verb {
    Verb {
        word,
        actor,
        keys,
        says,
    }
}

const FROM: Key = must("from", ProducerName);
const NUMBER: Key = may("number", Number);
const ATTEMPT: Key = may("attempt", Number);
const IDENTITY: Key = must("identity", IdentityPair);
const PARTITION: Key = must("partition", PartitionName);
const SEQUENCE: Key = must("sequence", Number);
const RESULT: Key = must("result", ResultWord);
const VERSION: Key = must("version", VersionWord);
const TXN: Key = may("txn", TxnName);
const ERROR: Key = must("error", ErrorName);
const BROKER: Key = must("broker", Number);
const EPOCH: Key = must("epoch", Number);
const ID: Key = must("id", Number);
const ROUND: Key = must("round", Number);

/// Somebody who is no producer of the scenario sends it.
const STRANGER: Key = may("stranger", True);

const ADD: &[Key] = &[FROM, NUMBER, ATTEMPT, IDENTITY, PARTITION, TXN, STRANGER];
const VERIFY: &[Key] = &[PARTITION, IDENTITY, SEQUENCE, TXN, STRANGER];
const VERDICT: &[Key] = &[IDENTITY, SEQUENCE, ERROR, EPOCH];
const MARKER: &[Key] = &[
    BROKER, EPOCH, ID, ROUND, PARTITION, IDENTITY, RESULT, VERSION, TXN, STRANGER,
];
const MARKER_ANSWER: &[Key] = &[EPOCH, ID, ROUND, PARTITION, ERROR];
/// A record of the transaction-state log; a tombstone has only the first four.
const RECORD: &[Key] = &[
    BROKER,
    EPOCH,
    ID,
    must("state", StateName),
    may("identity", IdentityPair),
    may("last_producer_epoch", Number),
    may("prev_producer_id", Number),
    may("next", IdentityPair),
    may("partitions", PartitionNames),
    may("two_phase", True),
    may("version", VersionWord),
    TXN,
];
const PRODUCE: &[Key] = &[
    FROM,
    NUMBER,
    ATTEMPT,
    IDENTITY,
    SEQUENCE,
    must("payload", Number),
    may("plain", True),
    VERSION,
    TXN,
    STRANGER,
];
const INIT: &[Key] = &[
    FROM,
    NUMBER,
    ATTEMPT,
    may("expected", IdentityPair),
    may("enable_2pc", True),
    may("keep_prepared_txn", True),
    may("timeout_out_of_range", True),
    may("unauthorized", True),
    STRANGER,
];
const STAGE: &[Key] = &[
    FROM,
    NUMBER,
    ATTEMPT,
    IDENTITY,
    may("member", ProducerName),
    may("generation", Number),
    must("offset", Number),
    VERSION,
    TXN,
    STRANGER,
];
const COORDINATOR_ANSWER: &[Key] = &[
    NUMBER,
    ATTEMPT,
    must("request", RequestWord),
    ERROR,
    may("identity", IdentityPair),
    may("ongoing", IdentityPair),
    may("epoch", Number),
];
const AT: &[Key] = &[must("at", Number)];

/// Every verb.
pub const VERBS: &[Verb] = &[
    verb(Producer, "start", "starts, and asks for an identity", &[]),
    verb(Producer, "end", "ends its transaction", &[RESULT]),
    verb(
        Producer,
        "prepare",
        "flushes and prepares its transaction (KIP-939)",
        &[],
    ),
    verb(
        Producer,
        "decided",
        "learns what the external manager decided (KIP-939)",
        &[],
    ),
    verb(
        Producer,
        "resend_request",
        "sends its request again, while the first copy may still arrive",
        &[],
    ),
    verb(
        Producer,
        "resend_batch",
        "sends a batch again, while the first copy may still arrive",
        AT,
    ),
    verb(
        Producer,
        "give_up",
        "gives up a batch whose fate is open",
        AT,
    ),
    verb(Producer, "crash", "stops for good", &[]),
    verb(
        Producer,
        "coordinator_answer",
        "gets the coordinator's answer",
        COORDINATOR_ANSWER,
    ),
    verb(
        Producer,
        "produce_answer",
        "gets the answer to a batch",
        &[NUMBER, ATTEMPT, PARTITION, IDENTITY, SEQUENCE, ERROR],
    ),
    verb(
        Producer,
        "txn_offset_commit_answer",
        "gets the answer to TxnOffsetCommit",
        &[NUMBER, ATTEMPT, ERROR],
    ),
    verb(
        Producer,
        "offset_fetch_answer",
        "gets the answer to OffsetFetch",
        &[
            NUMBER,
            ATTEMPT,
            ERROR,
            must("offset", Number),
            must("generation", Number),
        ],
    ),
    verb(
        Coordinator,
        "init_producer_id",
        "takes InitProducerId",
        INIT,
    ),
    verb(
        Coordinator,
        "add_partitions_to_txn",
        "takes AddPartitionsToTxn",
        ADD,
    ),
    verb(
        Coordinator,
        "add_offsets_to_txn",
        "takes AddOffsetsToTxn",
        ADD,
    ),
    verb(
        Coordinator,
        "end_txn",
        "takes EndTxn",
        &[
            FROM, NUMBER, ATTEMPT, IDENTITY, RESULT, VERSION, TXN, STRANGER,
        ],
    ),
    verb(
        Coordinator,
        "verify_partition",
        "is asked by a partition leader whether the partition is in the transaction",
        VERIFY,
    ),
    verb(
        Coordinator,
        "add_partition_by_broker",
        "is asked by a partition leader to add the partition to the transaction",
        VERIFY,
    ),
    verb(
        Coordinator,
        "write_txn_markers_answer",
        "gets the acknowledgement of a marker",
        MARKER_ANSWER,
    ),
    verb(
        Coordinator,
        "skip_completion_test",
        "counts the acknowledgement of a marker and misses the completion test",
        MARKER_ANSWER,
    ),
    verb(
        Coordinator,
        "append_txn_record_answer",
        "learns how its append to the transaction-state log ended",
        &[EPOCH, ID, ERROR],
    ),
    verb(
        Coordinator,
        "send_marker",
        "sends a marker",
        &[ID, PARTITION],
    ),
    verb(
        Coordinator,
        "resend_marker",
        "sends a marker again, while the first copy may still arrive",
        &[ID, PARTITION],
    ),
    verb(
        Coordinator,
        "timeout",
        "finds a transaction timed out",
        &[ID],
    ),
    verb(
        Coordinator,
        "expire_id",
        "expires a transactional id",
        &[ID],
    ),
    verb(
        Coordinator,
        "learn_elected",
        "learns that it leads the transaction-state partition",
        &[],
    ),
    verb(
        Coordinator,
        "load",
        "has read the transaction-state log",
        &[],
    ),
    verb(Coordinator, "resign", "learns that it no longer leads", &[]),
    verb(Coordinator, "crash", "stops and starts again", &[]),
    verb(
        Coordinator,
        "step_clock_back",
        "has its clock step back",
        &[],
    ),
    verb(
        Log,
        "append_txn_record",
        "appends a record of the coordinator",
        RECORD,
    ),
    verb(
        Log,
        "fail_append",
        "cannot append a record of the coordinator",
        RECORD,
    ),
    verb(
        Log,
        "commit_record",
        "has its oldest appended record replicated",
        &[],
    ),
    verb(Partition, "produce", "takes a batch", PRODUCE),
    verb(Partition, "write_txn_markers", "takes a marker", MARKER),
    verb(
        Partition,
        "verify_answer",
        "gets the coordinator's verdict on a waiting batch",
        VERDICT,
    ),
    verb(
        Partition,
        "fail_verification",
        "waits in vain for the coordinator's verdict on a waiting batch",
        VERDICT,
    ),
    verb(
        Partition,
        "replicate",
        "has its next record replicated",
        &[],
    ),
    verb(Partition, "apply_record", "applies its next record", &[]),
    verb(
        Partition,
        "fail_over",
        "gets a new leader, without what was not replicated",
        &[],
    ),
    verb(Partition, "restart", "restarts with its whole log", &[]),
    verb(Partition, "recover", "rebuilds its producer state", &[]),
    verb(
        Partition,
        "take_snapshot",
        "writes a snapshot of its producer state",
        &[],
    ),
    verb(
        Partition,
        "evict",
        "forgets an idle producer",
        &[must("producer_id", Number)],
    ),
    verb(Partition, "compact", "is cleaned", &[]),
    verb(
        Partition,
        "follower_fetch",
        "is fetched from by a replica that was away",
        &[],
    ),
    verb(
        Partition,
        "promote",
        "is led by a replica that was away",
        &[],
    ),
    verb(Partition, "delete_topic", "is deleted with its topic", &[]),
    verb(
        Partition,
        "operator_marker",
        "takes an operator's abort marker",
        &[],
    ),
    verb(Group, "txn_offset_commit", "takes TxnOffsetCommit", STAGE),
    verb(
        Group,
        "offset_fetch",
        "takes OffsetFetch",
        &[FROM, NUMBER, ATTEMPT],
    ),
    verb(
        Group,
        "materialise",
        "applies a marker to the staged offsets",
        &[],
    ),
    verb(Group, "prepare_rebalance", "begins a rebalance", &[]),
    verb(
        Group,
        "complete_rebalance",
        "ends the rebalance: a member owns the input",
        &[must("member", ProducerName)],
    ),
    verb(
        Group,
        "expire_member",
        "ends the session of the member that owns the input",
        &[],
    ),
    verb(
        Group,
        "replace_static_member",
        "gives the instance id of the member that owns the input to another one",
        &[must("member", ProducerName)],
    ),
    verb(Group, "expire_offsets", "expires the group's offsets", &[]),
    verb(
        Reader,
        "take_bound",
        "has the bound of its fetch taken",
        &[],
    ),
    verb(Reader, "take_data", "has the data of its fetch taken", &[]),
    verb(
        Reader,
        "take_aborted",
        "gets its fetch with the aborted list, and delivers",
        &[],
    ),
    verb(
        Manager,
        "decide",
        "decides the prepared transaction (KIP-939)",
        &[RESULT],
    ),
    verb(
        Cluster,
        "elect",
        "elects another leader of the transaction-state partition; the old one does not know",
        &[BROKER],
    ),
    verb(Cluster, "upgrade", "finalizes transaction.version 2", &[]),
    verb(
        Network,
        "lose_marker",
        "loses a marker with its connection",
        MARKER,
    ),
    verb(
        Network,
        "find_no_leader",
        "finds no leader for a partition that is owed a marker",
        MARKER,
    ),
    verb(
        Network,
        "lose_marker_answer",
        "loses the acknowledgement of a marker that was written",
        MARKER,
    ),
];

impl ActorKind {
    /// What such an actor is called, without its number.
    pub fn name(self) -> &'static str {
        match self {
            Producer => "producer",
            Coordinator => "coordinator",
            Log => "log",
            Partition => "partition",
            Group => "group",
            Reader => "reader",
            Manager => "manager",
            Cluster => "cluster",
            Network => "network",
        }
    }

    /// The kind of the actor of this name, whether a scenario has it or not.
    pub fn of(name: &str) -> Option<Self> {
        let (stem, number) = match name.split_once('/') {
            Some((stem, number)) => (stem, Some(number)),
            None => (name, None),
        };
        match (stem, number) {
            ("P" | "Q" | "R" | "S", None) => Some(Producer),
            ("coordinator", Some(_)) => Some(Coordinator),
            ("log", None) => Some(Log),
            ("group", None) => Some(Group),
            ("reader", Some(_)) => Some(Reader),
            ("manager", None) => Some(Manager),
            ("cluster", None) => Some(Cluster),
            ("network", None) => Some(Network),
            (_, None) if name.starts_with('p') => Some(Partition),
            (_, _) => None,
        }
    }
}

/// The verb of this word for this kind of actor.
pub fn find_verb(actor: ActorKind, word: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|v| v.actor == actor && v.word == word)
}
