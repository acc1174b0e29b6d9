//! One partition's log, as producers and readers were told of it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::event::{Fetched, Pair, Stored};

/// Batches that are remembered, before and after the place up to which the log is known.
const REMEMBERED: usize = 5_000;

/// What is known of a log.
#[derive(Debug, Default)]
pub struct Log {
    batches: BTreeMap<i64, Stored>,
    /// Everything from the first known batch to here is known.
    known_to: Option<i64>,
    /// First offset of each open transaction below `known_to`.
    open: HashMap<i64, i64>,
    /// Decided transactions below `known_to`.
    decided: VecDeque<Decided>,
    /// Where each sequence stands.
    sequences: HashMap<(Pair, i32), i64>,
    last_stable_offset: i64,
}

#[derive(Clone, Copy, Debug)]
struct Decided {
    producer: i64,
    first: i64,
    marker: i64,
    committed: bool,
}

impl Log {
    /// The last stable offset that every later answer must reach.
    pub const fn stable_floor(&self) -> i64 {
        self.last_stable_offset
    }

    /// A batch is at its place; the markers that come to be known, in order.
    pub fn insert(&mut self, batch: &Stored) -> Result<Vec<Stored>, String> {
        if let Some(known) = self.batches.get(&batch.offset) {
            return if known == batch {
                Ok(Vec::new())
            } else {
                Err(format!(
                    "offset {} holds {} and held {}",
                    batch.offset,
                    text(batch),
                    text(known)
                ))
            };
        }
        let before = self.batches.range(..batch.offset).next_back();
        if let Some((_, before)) = before.filter(|(_, before)| before.last >= batch.offset) {
            return Err(format!(
                "offset {} is inside {}",
                batch.offset,
                text(before)
            ));
        }
        if batch.sequence >= 0 {
            let key = (batch.producer, batch.sequence);
            if let Some(first) = self.sequences.insert(key, batch.offset) {
                return Err(format!(
                    "{} is written twice, at {first} and {} (S6)",
                    text(batch),
                    batch.offset
                ));
            }
        }
        self.batches.insert(batch.offset, batch.clone());
        self.known_to.get_or_insert(batch.offset);
        Ok(self.advance())
    }

    fn advance(&mut self) -> Vec<Stored> {
        let mut markers = Vec::new();
        while let Some(batch) = self.known_to.and_then(|at| self.batches.get(&at)).cloned() {
            self.known_to = Some(batch.last + 1);
            match batch.marker {
                Some(committed) => {
                    if let Some(first) = self.open.remove(&batch.producer.0) {
                        self.decided.push_back(Decided {
                            producer: batch.producer.0,
                            first,
                            marker: batch.offset,
                            committed,
                        });
                    }
                    markers.push(batch);
                }
                None if batch.transactional => {
                    self.open.entry(batch.producer.0).or_insert(batch.offset);
                }
                None => {}
            }
        }
        self.forget();
        markers
    }

    fn forget(&mut self) {
        while self.batches.len() > REMEMBERED {
            let known_to = self.known_to.unwrap_or(0);
            match self.batches.first_key_value() {
                Some((offset, _)) if *offset < known_to => {
                    if let Some((_, old)) = self.batches.pop_first() {
                        self.sequences.remove(&(old.producer, old.sequence));
                    }
                }
                Some(_) | None => break,
            }
        }
        while self.decided.len() > REMEMBERED {
            self.decided.pop_front();
        }
    }

    /// Judges a partition of a Fetch's answer; the markers that come to be known, in order.
    /// `floor` is the last stable offset that was told before the request.
    pub fn fetched(
        &mut self,
        committed: bool,
        from: i64,
        floor: i64,
        answer: &Fetched,
    ) -> Result<Vec<Stored>, String> {
        let stable = answer.last_stable_offset;
        let mut markers = Vec::new();
        for batch in &answer.batches {
            markers.extend(self.insert(batch)?);
        }
        self.without_gaps(answer)?;
        let bound = if committed {
            stable
        } else {
            answer.high_watermark
        };
        if let Some(past) = answer.batches.iter().find(|it| it.last >= bound) {
            return Err(format!("{} is returned past the bound {bound}", text(past)));
        }
        if stable > answer.high_watermark {
            return Err(format!(
                "the last stable offset {stable} is past the high watermark {} (S11)",
                answer.high_watermark
            ));
        }
        if stable >= 0 && stable < floor {
            return Err(format!(
                "the last stable offset went back from {floor} to {stable} (S10)"
            ));
        }
        self.stable(stable, answer.high_watermark)?;
        if committed {
            self.filtered(from, answer)?;
        }
        self.last_stable_offset = self.last_stable_offset.max(stable);
        Ok(markers)
    }

    /// Nothing that is known to be there is left out between two returned batches.
    fn without_gaps(&self, answer: &Fetched) -> Result<(), String> {
        for pair in answer.batches.windows(2) {
            if pair[1].offset != pair[0].last + 1 {
                return Err(format!(
                    "offsets {} to {} are left out",
                    pair[0].last + 1,
                    pair[1].offset - 1
                ));
            }
        }
        Ok(())
    }

    /// The last stable offset passes no undecided transaction, nor one whose marker is not replicated.
    fn stable(&self, stable: i64, high_watermark: i64) -> Result<(), String> {
        let passes = |first: i64| first < stable;
        let open = self.open.iter().find(|(_, first)| passes(**first));
        if let Some((producer, first)) = open
            && self.known_to.is_some_and(|at| at >= stable)
        {
            return Err(format!(
                "the last stable offset {stable} is past the open transaction of producer \
                 {producer} from {first} (S11)"
            ));
        }
        let early = self
            .decided
            .iter()
            .rev()
            .take_while(|it| it.marker >= high_watermark)
            .find(|it| passes(it.first));
        match early {
            Some(it) => Err(format!(
                "the last stable offset {stable} is past the transaction of producer {} from {}, \
                 whose marker is at {} (S11)",
                it.producer, it.first, it.marker
            )),
            None => Ok(()),
        }
    }

    /// The aborted list hides what was aborted, and nothing else.
    fn filtered(&self, from: i64, answer: &Fetched) -> Result<(), String> {
        let end = answer.batches.last().map_or(from, |it| it.last + 1);
        for it in self
            .decided
            .iter()
            .filter(|it| it.first < end && it.marker >= from)
        {
            let data = answer.batches.iter().find(|batch| {
                let mine = batch.producer.0 == it.producer && batch.marker.is_none();
                mine && batch.offset >= it.first && batch.offset < it.marker
            });
            let listed = answer
                .aborted
                .iter()
                .any(|(producer, first)| *producer == it.producer && *first == it.first);
            match (it.committed, data) {
                (false, Some(batch)) if !listed => {
                    return Err(format!(
                        "{} was aborted and is not on the aborted list (S2)",
                        text(batch)
                    ));
                }
                (true, Some(batch)) if listed => {
                    return Err(format!(
                        "{} was committed and is on the aborted list (S1)",
                        text(batch)
                    ));
                }
                (false | true, Some(_) | None) => {}
            }
        }
        Ok(())
    }
}

fn text(batch: &Stored) -> String {
    let (producer, epoch) = batch.producer;
    match batch.marker {
        Some(true) => format!("a commit marker of ({producer},{epoch})"),
        Some(false) => format!("an abort marker of ({producer},{epoch})"),
        None => format!("data of ({producer},{epoch}) sequence {}", batch.sequence),
    }
}
