//! Messages without the numbers that no actor knows.

use fencepost_spec::message::*;
use fencepost_spec::types::Ghost;

/// The message with every ghost number taken out: what an implementation can say.
pub fn without_ghost(message: Message) -> Message {
    let ghost = Ghost::NONE;
    match message {
        Message::AddPartitionsToTxn(m) => {
            Message::AddPartitionsToTxn(AddPartitionsToTxn { ghost, ..m })
        }
        Message::AddOffsetsToTxn(m) => Message::AddOffsetsToTxn(AddPartitionsToTxn { ghost, ..m }),
        Message::EndTxn(m) => Message::EndTxn(EndTxn { ghost, ..m }),
        Message::Produce(m) => Message::Produce(Produce { ghost, ..m }),
        Message::TxnOffsetCommit(m) => Message::TxnOffsetCommit(TxnOffsetCommit { ghost, ..m }),
        Message::VerifyPartition(m) => Message::VerifyPartition(VerifyPartition { ghost, ..m }),
        Message::WriteTxnMarkers(m) => Message::WriteTxnMarkers(WriteTxnMarkers { ghost, ..m }),
        Message::AppendTxnRecord(mut m) => {
            if let Some(value) = m.value.as_mut() {
                value.ghost = ghost;
            }
            Message::AppendTxnRecord(m)
        }
        Message::InitProducerId(_)
        | Message::OffsetFetch(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => message,
    }
}
