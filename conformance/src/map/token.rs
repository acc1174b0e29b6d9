//! The tokens by which the implementation's answers find their requests: what the model's answer will say, packed into
//! the number that the implementation hands back.

use super::Unmapped;
use fencepost::coordinator::Correlation as CoordinatorCorrelation;
use fencepost::types::RequestId;
use fencepost_spec::message::{Correlation, RequestKind};
use fencepost_spec::types::*;

/// Who waits for a coordinator's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoordinatorToken {
    /// A producer.
    Producer(RequestKind, Correlation),
    /// A partition leader, for a batch that it has parked.
    Leader {
        /// The partition.
        partition: PartitionIndex,
        /// The identity on the batch.
        identity: Identity,
        /// The batch.
        sequence: Sequence,
    },
}

/// Who waits for a partition's or a group's answer. `copy` tells identical requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartitionToken {
    /// A producer, for a batch.
    Produce {
        /// Who asks.
        correlation: Correlation,
        /// The identity on the batch.
        identity: Identity,
        /// The batch.
        sequence: Sequence,
        /// Which copy: 0 or 1.
        copy: u8,
    },
    /// A coordinator, for a marker.
    Marker {
        /// Which broker.
        broker: BrokerId,
        /// Its epoch.
        coordinator_epoch: CoordinatorEpoch,
        /// Whose transaction.
        transactional_id: TransactionalId,
        /// Which completion.
        round: u8,
        /// Which copy: 0 or 1.
        copy: u8,
    },
    /// A producer, for a staged offset.
    TxnOffsetCommit {
        /// Who asks.
        correlation: Correlation,
        /// Which copy: 0 or 1.
        copy: u8,
    },
    /// A member, for the offset to start from.
    OffsetFetch(Correlation),
}

/// Packs fields into a number, the first one highest.
#[derive(Default)]
struct Packer(u64);

impl Packer {
    fn put(&mut self, what: &'static str, value: u64, bits: u32) -> Result<(), Unmapped> {
        if value >> bits != 0 {
            return Err(Unmapped::new(what, value));
        }
        self.0 = self.0 << bits | value;
        Ok(())
    }

    fn correlation(&mut self, it: &Correlation, attempt_bits: u32) -> Result<(), Unmapped> {
        self.put("producer", u64::from(it.producer.0), 2)?;
        self.put("request number", u64::from(it.number), 8)?;
        self.put("attempt", u64::from(it.attempt), attempt_bits)
    }

    fn batch(&mut self, identity: Identity, sequence: Sequence) -> Result<(), Unmapped> {
        self.put("producer id", u64::from(identity.producer_id.0), 8)?;
        let epoch = u64::try_from(identity.producer_epoch.0);
        self.put("producer epoch", epoch.unwrap_or(u64::MAX), 15)?;
        let number = u64::try_from(sequence.0);
        self.put("sequence", number.unwrap_or(u64::MAX), 31)
    }
}

/// Takes fields out of a number, the last one first.
struct Unpacker(u64);

impl Unpacker {
    fn take(&mut self, bits: u32) -> u64 {
        let value = self.0 & ((1 << bits) - 1);
        self.0 >>= bits;
        value
    }

    fn take_u8(&mut self, bits: u32) -> u8 {
        // At most eight bits are asked for.
        self.take(bits) as u8
    }

    fn correlation(&mut self, attempt_bits: u32) -> Correlation {
        let attempt = self.take_u8(attempt_bits);
        let number = self.take_u8(8);
        let producer = ProducerIndex(self.take_u8(2));
        Correlation {
            producer,
            number,
            attempt,
        }
    }

    fn batch(&mut self) -> (Identity, Sequence) {
        let sequence = Sequence(self.take(31) as i32);
        let epoch = ProducerEpoch(self.take(15) as i16);
        let producer_id = ProducerId(self.take_u8(8));
        (Identity::new(producer_id, epoch), sequence)
    }
}

const KINDS: [RequestKind; 6] = [
    RequestKind::InitProducerId,
    RequestKind::AddPartitionsToTxn,
    RequestKind::AddOffsetsToTxn,
    RequestKind::TxnOffsetCommit,
    RequestKind::EndTxn,
    RequestKind::OffsetFetch,
];

impl CoordinatorToken {
    /// The number.
    ///
    /// # Errors
    /// [`Unmapped`] for a field too large for its bits.
    pub fn pack(self) -> Result<CoordinatorCorrelation, Unmapped> {
        let mut packer = Packer::default();
        match self {
            Self::Producer(kind, correlation) => {
                let at = KINDS.iter().position(|known| *known == kind);
                packer.put("request", at.unwrap_or(KINDS.len()) as u64, 3)?;
                packer.correlation(&correlation, 8)?;
                packer.put("tag", 0, 1)?;
            }
            Self::Leader {
                partition,
                identity,
                sequence,
            } => {
                packer.put("partition", u64::from(partition.0), 3)?;
                packer.batch(identity, sequence)?;
                packer.put("tag", 1, 1)?;
            }
        }
        Ok(CoordinatorCorrelation(packer.0))
    }

    /// What the number stands for.
    ///
    /// # Errors
    /// [`Unmapped`] for a number that was never packed.
    pub fn unpack(number: CoordinatorCorrelation) -> Result<Self, Unmapped> {
        let mut fields = Unpacker(number.0);
        if fields.take(1) == 1 {
            let (identity, sequence) = fields.batch();
            let partition = PartitionIndex(fields.take_u8(3));
            return Ok(Self::Leader {
                partition,
                identity,
                sequence,
            });
        }
        let correlation = fields.correlation(8);
        let kind = KINDS.get(fields.take(3) as usize);
        let kind = kind.ok_or_else(|| Unmapped::new("correlation", number))?;
        Ok(Self::Producer(*kind, correlation))
    }
}

impl PartitionToken {
    /// The number.
    ///
    /// # Errors
    /// [`Unmapped`] for a field too large for its bits.
    pub fn pack(self) -> Result<RequestId, Unmapped> {
        let mut packer = Packer::default();
        let tag = match self {
            Self::Produce {
                correlation,
                identity,
                sequence,
                copy,
            } => {
                packer.put("copy", u64::from(copy), 1)?;
                packer.put("producer", u64::from(correlation.producer.0), 2)?;
                packer.put("attempt", u64::from(correlation.attempt), 5)?;
                packer.batch(identity, sequence)?;
                0
            }
            Self::Marker {
                broker,
                coordinator_epoch,
                transactional_id,
                round,
                copy,
            } => {
                packer.put("copy", u64::from(copy), 1)?;
                packer.put("broker", u64::from(broker.0), 2)?;
                packer.put("coordinator epoch", u64::from(coordinator_epoch.0), 8)?;
                packer.put("transactional id", u64::from(transactional_id.0), 3)?;
                packer.put("round", u64::from(round), 8)?;
                1
            }
            Self::TxnOffsetCommit { correlation, copy } => {
                packer.put("copy", u64::from(copy), 1)?;
                packer.correlation(&correlation, 8)?;
                2
            }
            Self::OffsetFetch(correlation) => {
                packer.correlation(&correlation, 8)?;
                3
            }
        };
        packer.put("tag", tag, 2)?;
        Ok(RequestId(packer.0))
    }

    /// What the number stands for.
    pub fn unpack(number: RequestId) -> Self {
        let mut fields = Unpacker(number.0);
        match fields.take(2) {
            0 => {
                let (identity, sequence) = fields.batch();
                let attempt = fields.take_u8(5);
                let producer = ProducerIndex(fields.take_u8(2));
                Self::Produce {
                    correlation: Correlation {
                        producer,
                        number: 0,
                        attempt,
                    },
                    identity,
                    sequence,
                    copy: fields.take_u8(1),
                }
            }
            1 => {
                let round = fields.take_u8(8);
                let transactional_id = TransactionalId(fields.take_u8(3));
                let coordinator_epoch = CoordinatorEpoch(fields.take_u8(8));
                let broker = BrokerId(fields.take_u8(2));
                Self::Marker {
                    broker,
                    coordinator_epoch,
                    transactional_id,
                    round,
                    copy: fields.take_u8(1),
                }
            }
            2 => {
                let correlation = fields.correlation(8);
                Self::TxnOffsetCommit {
                    correlation,
                    copy: fields.take_u8(1),
                }
            }
            _three => Self::OffsetFetch(fields.correlation(8)),
        }
    }

    /// The same request, another copy.
    #[must_use]
    pub fn copied(self, copy: u8) -> Self {
        match self {
            Self::Produce {
                correlation,
                identity,
                sequence,
                copy: _,
            } => Self::Produce {
                correlation,
                identity,
                sequence,
                copy,
            },
            Self::Marker {
                broker,
                coordinator_epoch,
                transactional_id,
                round,
                copy: _,
            } => Self::Marker {
                broker,
                coordinator_epoch,
                transactional_id,
                round,
                copy,
            },
            Self::TxnOffsetCommit {
                correlation,
                copy: _,
            } => Self::TxnOffsetCommit { correlation, copy },
            Self::OffsetFetch(correlation) => Self::OffsetFetch(correlation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORRELATION: Correlation = Correlation {
        producer: ProducerIndex(3),
        number: 200,
        attempt: 31,
    };
    const IDENTITY: Identity = Identity {
        producer_id: ProducerId(250),
        producer_epoch: ProducerEpoch::MAX,
    };

    #[test]
    fn what_is_packed_comes_back() {
        let leader = CoordinatorToken::Leader {
            partition: PartitionIndex(7),
            identity: IDENTITY,
            sequence: Sequence(i32::MAX),
        };
        let producers = KINDS.map(|kind| CoordinatorToken::Producer(kind, CORRELATION));
        for token in producers.into_iter().chain([leader]) {
            assert_eq!(token.pack().and_then(CoordinatorToken::unpack), Ok(token));
        }
        let batches = Correlation {
            number: 0,
            ..CORRELATION
        };
        let tokens = [
            PartitionToken::Produce {
                correlation: batches,
                identity: IDENTITY,
                sequence: Sequence(i32::MAX),
                copy: 1,
            },
            PartitionToken::Marker {
                broker: BrokerId(1),
                coordinator_epoch: CoordinatorEpoch(255),
                transactional_id: TransactionalId(2),
                round: 255,
                copy: 0,
            },
            PartitionToken::TxnOffsetCommit {
                correlation: CORRELATION,
                copy: 1,
            },
            PartitionToken::OffsetFetch(CORRELATION),
        ];
        for token in tokens {
            assert_eq!(token.pack().map(PartitionToken::unpack), Ok(token));
        }
    }

    #[test]
    fn a_field_too_large_is_refused() {
        let negative = CoordinatorToken::Leader {
            partition: PartitionIndex(0),
            identity: Identity::new(ProducerId(1), ProducerEpoch(-1)),
            sequence: Sequence::FIRST,
        };
        assert!(negative.pack().is_err());
    }
}
