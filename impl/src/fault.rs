//! Faults that a test puts into the cores, to show that the comparison with the model finds them.
//!
//! Every one is a fault that some public implementation has had. A hook is one line: [`seeded!`] names the fault, what is
//! right and what is wrong, [`seed!`] a statement that only the fault makes. Without the feature `seeded-faults` a hook
//! *is* what is right: neither the wrong value nor anything else in this file is compiled. Only the twin of this crate
//! in `impl/faulty`, which nothing but a test of `conformance/faulty` uses, has the feature, so that building the whole
//! workspace at once does not turn it on for anybody else.

#[cfg(not(feature = "seeded-faults"))]
macro_rules! seeded {
    ($fault:ident, $right:expr, $wrong:expr) => {
        $right
    };
}

#[cfg(feature = "seeded-faults")]
macro_rules! seeded {
    ($fault:ident, $right:expr, $wrong:expr) => {
        if $crate::fault::is_on($crate::fault::Fault::$fault) {
            $wrong
        } else {
            $right
        }
    };
}

#[cfg(not(feature = "seeded-faults"))]
macro_rules! seed {
    ($fault:ident, $wrong:expr) => {};
}

#[cfg(feature = "seeded-faults")]
macro_rules! seed {
    ($fault:ident, $wrong:expr) => {
        if $crate::fault::is_on($crate::fault::Fault::$fault) {
            $wrong
        }
    };
}

#[cfg(feature = "seeded-faults")]
pub use table::{Fault, is_on, set};

#[cfg(feature = "seeded-faults")]
mod table {
    use std::cell::Cell;

    macro_rules! faults {
        ($($(#[doc = $says:literal])+ $fault:ident $bug:literal $kind:literal),+ $(,)?) => {
            /// A fault.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum Fault { $($(#[doc = $says])+ $fault),+ }

            impl Fault {
                /// Every fault.
                pub const ALL: &[Self] = &[$(Self::$fault),+];

                /// What is wrong.
                #[must_use]
                pub fn says(self) -> &'static str {
                    match self { $(Self::$fault => concat!($($says),+).trim_ascii_start()),+ }
                }

                /// The row of the catalogue of public bugs.
                #[must_use]
                pub fn bug(self) -> &'static str {
                    match self { $(Self::$fault => $bug),+ }
                }

                /// The kind of fault, as the catalogue sorts them: K1 to K14.
                #[must_use]
                pub fn kind(self) -> &'static str {
                    match self { $(Self::$fault => $kind),+ }
                }
            }
        };
    }

    faults! {
        /// TV2's decision does not raise the epoch.
        DecisionKeepsEpoch "B01" "K1",
        /// TV2's EndTxn of an older epoch counts in an open transaction.
        OlderEpochEnds "B01" "K1",
        /// A retried EndTxn is recognised whichever way it decides.
        RetryIgnoresDirection "B01" "K1",
        /// Partitions survive the completion.
        PartitionsSurviveCompletion "B09" "K1",
        /// An open transaction is anybody's with the same producer id.
        OpenByIdOnly "B04" "K1",
        /// A TV2 marker may have the epoch of the data.
        MarkerOfSameEpoch "B05" "K1",
        /// The fence of a new session does not raise the epoch.
        FenceKeepsEpoch "B07" "K2",
        /// The fence of the timer does not raise the epoch.
        TimerKeepsEpoch "B08" "K2",
        /// A marker of a deposed coordinator counts.
        ZombieCoordinatorWrites "B32" "K2",
        /// A batch of an older epoch is appended.
        OlderEpochAppends "B51" "K2",
        /// A retried commit of a committed transaction is refused.
        RetriedCommitRefused "B17" "K3",
        /// A marker that comes again is refused.
        RepeatedMarkerRefused "B06" "K3",
        /// A marker for a producer without a state is refused.
        UnknownProducerRefused "B31" "K3",
        /// The first batch of a transaction is appended without asking the coordinator.
        NobodyIsAsked "B02" "K4",
        /// The coordinator's word counts although a marker came in between.
        GuardNotCompared "B03" "K4",
        /// A commit is answered as successful when an abort was decided.
        AbortAnswersCommit "B16" "K5",
        /// Added partitions are answered before their record is durable.
        AnsweredBeforeDurable "B14" "K5",
        /// A batch is answered before it is replicated.
        AnsweredBeforeReplicated "B14" "K5",
        /// What is prepared is not taken up again after an election.
        PreparedNotResumed "B85" "K6",
        /// Of two records of an id the first counts.
        FirstRecordCounts "B57" "K6",
        /// A replica that recovers begins with an empty index of aborted transactions.
        RecoveryForgetsAborted "B35" "K6",
        /// Recovery takes a batch whose checksum does not fit.
        TornBatchAccepted "B59" "K6",
        /// The first acknowledged marker completes the transaction.
        FirstMarkerCompletes "B29" "K7",
        /// A marker whose answer was lost is not sent again.
        LostMarkerForgotten "B61" "K7",
        /// A deleted partition is waited for.
        DeletedPartitionBlocks "B62" "K7",
        /// A change stays pending when its record could not be written.
        PendingSurvivesFailure "B13" "K7",
        /// Offsets are staged without asking the coordinator.
        StagedUnasked "B24" "K8",
        /// Staged offsets do not hold a stable fetch back.
        UnstableAnswered "B25" "K8",
        /// A member of an earlier generation stages offsets.
        AnyGenerationStages "B26" "K8",
        /// A marker is not applied while the group rebalances.
        MarkerIgnoredInRebalance "B28" "K8",
        /// AddOffsetsToTxn is answered and adds nothing.
        OffsetsAddNothing "B55" "K8",
        /// The last stable offset is the high watermark.
        StableIsReplicated "B36" "K9",
        /// No aborted transaction is listed for a reader.
        AbortedListEmpty "B37" "K9",
        /// A marker leaves the transaction open.
        MarkerLeavesOpen "B91" "K9",
        /// A snapshot forgets open transactions.
        SnapshotForgetsOpen "B35" "K10",
        /// Whatever sequence comes is the next one.
        AnySequence "B40" "K11",
        /// Only the last batch is remembered.
        WindowOfOne "B72" "K11",
        /// The answer to the last decision of an epoch space is the old identity.
        OldIdentityAnswered "B19" "K11",
        /// Epochs are not exhausted before the last one.
        NeverRotates "B19" "K11",
        /// A fence that could not be logged raises the epoch each time.
        FailedFenceRaisesAgain "B20" "K11",
        /// A fenced producer is told PRODUCER_FENCED by a partition.
        FencedByPartition "B73" "K13",
        /// An unknown transactional id is told PRODUCER_FENCED.
        UnknownIdIsFenced "B74" "K13",
        /// A change is refused when the clock has stepped back.
        ClockBackRefused "B60" "K14",
        /// A client commits although a send of the transaction failed.
        FailedSendForgotten "B44" "K12",
        /// A client sends a batch again under another number.
        BatchNumberedAgain "B82" "K12",
        /// A client takes a refused EndTxn for a success.
        FailedEndIsSuccess "B46" "K12",
        /// A client keeps its epoch although the fate of a batch is open.
        GivenUpWithoutBump "B41" "K12",
        /// A client's sequences go on over a new epoch.
        SequencesSurviveEpoch "B41" "K11",
        /// A client turns to TV2 without a new epoch.
        UpgradeWithoutBump "B50" "K1",
        /// A client goes on after its transactional id was forgotten.
        MappingErrorAborts "B22" "K13",
        /// A fenced client goes on.
        FencedAborts "B74" "K13",
        /// A client of TV1 stages offsets that it has not registered.
        OffsetsUnregistered "B55" "K8",
    }

    thread_local! {
        static CURRENT: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Whether this thread's cores have the fault.
    #[must_use]
    pub fn is_on(fault: Fault) -> bool {
        CURRENT.get() == Some(fault)
    }

    /// Gives this thread's cores a fault, or none, which is how every thread begins.
    pub fn set(fault: Option<Fault>) {
        CURRENT.set(fault);
    }
}
