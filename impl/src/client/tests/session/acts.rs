//! What the application does, what goes wrong, and what must hold in the end.

use super::*;

impl World {
    pub(super) fn call(&mut self, call: Call) {
        self.tell_client(Input::Call(call));
    }

    pub(super) fn begin(&mut self) {
        let before = self.client.state();
        self.call(Call::BeginTransaction);
        if self.client.state() != before {
            self.txns.push(Txn {
                outcome: Outcome::Open,
                batches: Vec::new(),
                has_offsets: false,
            });
        }
    }

    pub(super) fn send(&mut self, index: i32) {
        if self.client.state() == State::InTransaction && self.client.operation().is_none() {
            let batch = self.fresh();
            self.txns.last_mut().unwrap().batches.push((index, batch));
            self.call(Call::Send {
                partition: partition(index),
                batch: BatchId(batch),
                count: 1,
            });
        }
    }

    /// The offset is the number of the transaction.
    pub(super) fn send_offsets(&mut self) {
        if self.client.state() == State::InTransaction && self.client.operation().is_none() {
            let txn = self.txns.last_mut().unwrap();
            txn.has_offsets = true;
            let offset = OffsetAndMetadata {
                offset: Offset::new(i64::try_from(self.txns.len()).unwrap()),
                leader_epoch: None,
                metadata: String::new(),
            };
            self.call(Call::SendOffsetsToTransaction {
                member: ConsumerGroupMetadata {
                    group: GroupId::new("g"),
                    generation: None,
                    member_id: MemberId::new(""),
                    instance_id: None,
                },
                offsets: [(partition(0), offset)].into(),
            });
        }
    }

    pub(super) fn restart(&mut self) {
        if let Some(txn) = self.txns.last_mut()
            && txn.outcome == Outcome::Open
        {
            txn.outcome = Outcome::Unknown;
        }
        self.connection = self.fresh();
        self.client = manager(self.version);
        self.call(Call::InitTransactions);
    }

    /// An answer to the client is lost, with its connection.
    pub(super) fn lose(&mut self, at: usize) {
        match self.flight.get(at).cloned() {
            Some(Message::ToClient(connection, _)) => {
                self.flight.remove(at);
                if connection == self.connection {
                    self.connection = self.fresh();
                    self.tell_client(Input::Disconnected);
                }
            }
            Some(Message::BatchAnswer(batch, _)) => {
                self.flight.remove(at);
                self.tell_client(Input::BatchAnswered {
                    partition: batch.partition,
                    batch: batch.batch,
                    code: ErrorCode::NetworkException,
                });
            }
            Some(_) | None => {}
        }
    }

    pub(super) fn expire(&mut self) {
        let found = self
            .client
            .batches()
            .iter()
            .find_map(|(partition, batches)| {
                batches
                    .queue()
                    .first()
                    .map(|batch| (partition.clone(), batch.id))
            });
        if let Some((partition, batch)) = found {
            self.tell_client(Input::BatchExpired { partition, batch });
        }
    }

    pub(super) fn step(&mut self, action: u8, pick: usize) {
        let at = pick % self.flight.len().max(1);
        let copies = self.version.supports_epoch_bump();
        match action {
            0..=2 => self.begin(),
            3..=5 => self.send(i32::try_from(pick % 2).unwrap()),
            6 => self.send_offsets(),
            7 | 8 => self.call(Call::CommitTransaction),
            9 => self.call(Call::AbortTransaction),
            10 => self.lose(at),
            11 => self.expire(),
            12 if pick.is_multiple_of(3) => self.restart(),
            12 => {
                self.now += 61_000;
                self.coordinator_step(coordinator::Input::AbortTimedOutTransactions);
            }
            13 if copies && !self.flight.is_empty() => match self.flight[at].clone() {
                Message::Produce(batch) => self.flight.push(Message::Produce(batch)),
                Message::ToCoordinator(_, request) => {
                    self.flight
                        .push(Message::ToCoordinator(Origin::Nobody, request));
                }
                Message::Marker(index, ticket) => self.flight.push(Message::Marker(index, ticket)),
                Message::ToClient(..)
                | Message::BatchAnswer(..)
                | Message::StageOffsets(..)
                | Message::Appended(_)
                | Message::MarkerAnswer(..)
                | Message::Verified(..) => {}
            },
            _ if !self.flight.is_empty() => {
                let message = self.flight.remove(self.earliest_like(at));
                self.deliver(message);
            }
            _ => {}
        }
    }

    /// In TV1 batches to one partition keep their order, as they do on a connection: a leader that does not know the
    /// producer takes any first sequence, and would refuse what should have come before for ever.
    pub(super) fn earliest_like(&self, at: usize) -> usize {
        let place = |message: &Message| match message {
            Message::Produce(batch) => Some(batch.partition.clone()),
            Message::ToCoordinator(..)
            | Message::ToClient(..)
            | Message::BatchAnswer(..)
            | Message::StageOffsets(..)
            | Message::Appended(_)
            | Message::Marker(..)
            | Message::MarkerAnswer(..)
            | Message::Verified(..) => None,
        };
        let wanted = place(&self.flight[at]);
        if wanted.is_none() || self.version.supports_epoch_bump() {
            return at;
        }
        let like = self
            .flight
            .iter()
            .position(|message| place(message) == wanted);
        like.unwrap_or(at)
    }

    /// Delivers everything, and lets the producer end what it has begun.
    pub(super) fn settle(&mut self) {
        for _ in 0..5000 {
            if !self.flight.is_empty() {
                let message = self.flight.remove(0);
                self.deliver(message);
                continue;
            }
            match self.client.state() {
                State::InTransaction if self.client.operation().is_none() => {
                    self.call(Call::CommitTransaction);
                }
                State::AbortableError if self.client.producer().is_some() => {
                    self.call(Call::AbortTransaction);
                }
                State::AbortableError | State::FatalError => self.restart(),
                State::Ready if self.client.in_flight().is_none() => return,
                State::Uninitialized
                | State::Initializing
                | State::Ready
                | State::InTransaction
                | State::CommittingTransaction
                | State::AbortingTransaction => panic!("stuck: {:?}", self.client),
            }
        }
        panic!("never quiet: {:?} {:?}", self.client.state(), self.flight);
    }

    pub(super) fn check(&self) {
        let mut visible: BTreeMap<u64, i32> = BTreeMap::new();
        for (index, data) in (0..).zip(&self.data) {
            assert_eq!(
                data.last_stable_offset(),
                data.log().end_offset(),
                "L1, partition {index}"
            );
            let fetched = data
                .fetch(Offset::ZERO, IsolationLevel::ReadCommitted, usize::MAX)
                .unwrap();
            let list = fetched.aborted_transactions.unwrap();
            let seen = read_committed(Offset::ZERO, &fetched.data.batches, &list).unwrap();
            let values: Vec<u64> = seen
                .batches
                .iter()
                .map(|batch| {
                    let record = batch.records().unwrap().next().unwrap().unwrap();
                    u64::from_be_bytes(record.value.unwrap().try_into().unwrap())
                })
                .collect();
            assert!(
                values.windows(2).all(|pair| pair[0] < pair[1]),
                "S6: {values:?}"
            );
            visible.extend(values.into_iter().map(|value| (value, index)));
        }
        assert_eq!(self.group.offsets().staged().count(), 0, "L3");
        let mut offsets = self.group.offsets().iter();
        let committed = offsets.next().map(|(_, it)| it.value.offset.get());
        for (number, txn) in (1_i64..).zip(&self.txns) {
            let seen = txn
                .batches
                .iter()
                .filter(|(index, batch)| visible.get(batch) == Some(index));
            let seen = seen.count();
            match txn.outcome {
                Outcome::Committed => {
                    assert_eq!(seen, txn.batches.len(), "S1: {txn:?}");
                    assert!(
                        !txn.has_offsets || committed >= Some(number),
                        "S1, offsets: {txn:?}"
                    );
                }
                Outcome::Aborted => {
                    assert_eq!(seen, 0, "S2: {txn:?}");
                    assert_ne!(committed, Some(number), "S2, offsets: {txn:?}");
                }
                Outcome::Unknown | Outcome::Open => {
                    assert!(seen == 0 || seen == txn.batches.len(), "S3: {txn:?}");
                    if committed == Some(number) {
                        assert_eq!(seen, txn.batches.len(), "S3, offsets: {txn:?}");
                    }
                }
            }
        }
    }
}
