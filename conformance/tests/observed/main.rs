//! Recorded runs against the model: honest ones are behaviours of it, and each of a dozen
//! corruptions is refused at the event that shows it.

mod groups;
mod prepared;

use fencepost_conformance::observed::{
    Answered, Asked, Event, Fetched, Pair, Place, Refusal, Sent, Stored, Validator, Written,
};
use fencepost_spec::rules::Rules;
use fencepost_spec::types::TransactionVersion;
use std::collections::BTreeMap;
use std::time::Instant;

/// An honest TV2 broker and its clients, as a recording shows them.
#[derive(Default)]
struct Recording {
    events: Vec<Event>,
    logs: BTreeMap<Place, Vec<Stored>>,
    next_producer_id: i64,
}

impl Recording {
    fn exchange(&mut self, request: Asked, answer: Answered) -> usize {
        let exchange = self.events.len() as u64;
        self.events.push(Event::Asked { exchange, request });
        self.events.push(Event::Answered { exchange, answer });
        self.events.len()
    }

    fn init(&mut self, id: &str) -> Pair {
        self.next_producer_id += 1;
        let producer = (1_000 + self.next_producer_id, 0);
        let request = Asked::InitProducerId {
            id: Some(id.to_owned()),
            expected: None,
            two_phase: false,
            keep_prepared: false,
        };
        self.exchange(request, identity(0, producer));
        producer
    }

    fn produce(&mut self, id: &str, producer: Pair, at: &Place, sequence: i32) {
        let log = self.logs.entry(at.clone()).or_default();
        let offset = log.last().map_or(0, |it| it.last + 1);
        log.push(Stored {
            offset,
            last: offset + 1,
            producer,
            sequence,
            transactional: true,
            marker: None,
        });
        let sent = Sent {
            at: at.clone(),
            producer,
            sequence,
            count: 2,
            transactional: true,
        };
        let request = Asked::Produce {
            version: 12,
            id: Some(id.to_owned()),
            batches: vec![sent],
        };
        let written = vec![Written {
            at: at.clone(),
            error: 0,
            offset,
        }];
        self.exchange(request, Answered::Produce { written });
    }

    fn end(&mut self, id: &str, producer: Pair, commit: bool, places: &[&Place]) -> Pair {
        let next = (producer.0, producer.1 + 1);
        let request = Asked::EndTxn {
            version: 5,
            id: id.to_owned(),
            producer,
            commit,
        };
        self.exchange(request, identity(0, next));
        for place in places {
            let log = self.logs.entry((*place).clone()).or_default();
            let offset = log.last().map_or(0, |it| it.last + 1);
            log.push(Stored {
                offset,
                last: offset,
                producer: next,
                sequence: -1,
                transactional: true,
                marker: Some(commit),
            });
        }
        next
    }

    /// A read_committed Fetch from `from` to the last stable offset.
    fn fetch(&mut self, at: &Place, from: i64) -> i64 {
        let log = self.logs.entry(at.clone()).or_default().clone();
        let end = log.last().map_or(0, |it| it.last + 1);
        let mut open: BTreeMap<i64, i64> = BTreeMap::new();
        let mut aborted = Vec::new();
        for batch in &log {
            match batch.marker {
                Some(commit) => {
                    let first = open.remove(&batch.producer.0);
                    if let Some(first) = first.filter(|_| !commit && batch.offset >= from) {
                        aborted.push((batch.producer.0, first));
                    }
                }
                None => {
                    open.entry(batch.producer.0).or_insert(batch.offset);
                }
            }
        }
        let stable = open.values().min().copied().unwrap_or(end);
        let batches = log
            .into_iter()
            .filter(|it| it.offset >= from && it.last < stable)
            .collect();
        let fetched = Fetched {
            at: at.clone(),
            error: 0,
            high_watermark: end,
            last_stable_offset: stable,
            aborted,
            batches,
        };
        let request = Asked::Fetch {
            committed: true,
            partitions: vec![(at.clone(), from)],
        };
        let answer = Answered::Fetch {
            partitions: vec![fetched],
        };
        self.exchange(request, answer);
        stable
    }
}

fn identity(error: i16, producer: Pair) -> Answered {
    Answered::Identity {
        error,
        producer,
        ongoing: None,
    }
}

fn place(partition: i32) -> Place {
    ("topic".to_owned(), partition)
}

/// Two ids, commits and aborts on two partitions, a reader that follows.
fn honest() -> Recording {
    let mut run = Recording::default();
    let (p0, p1) = (place(0), place(1));
    let mut identities = [("a", run.init("a")), ("b", run.init("b"))];
    let mut position = 0;
    for round in 0..6 {
        for (id, identity) in &mut identities {
            run.produce(id, *identity, &p0, 0);
            run.produce(id, *identity, &p0, 2);
            run.produce(id, *identity, &p1, 0);
            position = run.fetch(&p0, position);
            *identity = run.end(id, *identity, round % 3 != 1, &[&p0, &p1]);
            position = run.fetch(&p0, position);
        }
    }
    run.fetch(&p0, 0);
    run.fetch(&p1, 0);
    run
}

fn judged(events: &[Event]) -> Result<Validator, Refusal> {
    let mut validator = Validator::new(Rules::kafka(TransactionVersion::Tv2));
    for event in events {
        validator.event(event)?;
    }
    Ok(validator)
}

#[test]
fn an_honest_run_is_a_behaviour_of_the_model() {
    let run = honest();
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    let summary = validator.summary();
    assert_eq!(summary.given_up, 0);
    assert!(summary.judged > 60, "{summary:?}");
    assert_eq!((summary.ids, summary.partitions), (2, 2));
}

/// The answers, with their place among the events.
fn answers(events: &mut [Event]) -> impl Iterator<Item = (usize, &mut Answered)> {
    events
        .iter_mut()
        .enumerate()
        .filter_map(|(at, event)| match event {
            Event::Answered { answer, .. } => Some((at, answer)),
            Event::Asked { .. }
            | Event::Lost { .. }
            | Event::Shows { .. }
            | Event::Logged { .. }
            | Event::Appended { .. } => None,
        })
}

fn identities(events: &mut [Event]) -> impl Iterator<Item = (usize, &mut Pair)> {
    answers(events).filter_map(|(at, answer)| match answer {
        Answered::Identity { producer, .. } => Some((at, producer)),
        _ => None,
    })
}

fn fetches(events: &mut [Event]) -> impl Iterator<Item = (usize, &mut Fetched)> {
    answers(events).filter_map(|(at, answer)| match answer {
        Answered::Fetch { partitions } => Some((at, &mut partitions[0])),
        _ => None,
    })
}

/// A corruption: it edits the run and says which event (from 1) shows it.
type Corruption = (&'static str, fn(&mut Vec<Event>) -> usize, &'static str);

const CORRUPTIONS: [Corruption; 13] = [
    (
        "a producer id twice",
        |events| {
            let first = identities(events)
                .next()
                .map(|(_, it)| *it)
                .expect("an init");
            let (at, second) = identities(events).nth(1).expect("a second init");
            *second = first;
            at + 1
        },
        "S8",
    ),
    (
        "an end without the bump",
        |events| {
            let (at, end) = identities(events).nth(2).expect("an end");
            end.1 -= 1;
            at + 1
        },
        "EndTxn",
    ),
    (
        "an epoch too far",
        |events| {
            let (at, end) = identities(events).nth(3).expect("an end");
            end.1 += 1;
            at + 1
        },
        "EndTxn",
    ),
    (
        "an end that is refused for no reason",
        |events| {
            let found = answers(events)
                .filter(|(_, it)| matches!(it, Answered::Identity { .. }))
                .nth(2);
            let (at, end) = found.expect("an end");
            *end = identity(49, (-1, -1));
            at + 1
        },
        "INVALID_PRODUCER_ID_MAPPING",
    ),
    (
        "a batch that is refused for no reason",
        |events| {
            let found = answers(events).find(|(_, it)| matches!(it, Answered::Produce { .. }));
            let (at, produce) = found.expect("a batch");
            *produce = Answered::Produce {
                written: vec![Written {
                    at: place(0),
                    error: 49,
                    offset: -1,
                }],
            };
            at + 1
        },
        "Produce",
    ),
    (
        "two batches at one offset",
        |events| {
            let found = answers(events)
                .filter(|(_, it)| matches!(it, Answered::Produce { .. }))
                .nth(1);
            let (at, produce) = found.expect("a batch");
            *produce = Answered::Produce {
                written: vec![Written {
                    at: place(0),
                    error: 0,
                    offset: 0,
                }],
            };
            at + 1
        },
        "offset 0",
    ),
    (
        "a batch written twice",
        |events| {
            let last = fetches(events).last().map(|(at, _)| at).expect("a fetch");
            let (_, fetch) = fetches(events).last().expect("a fetch");
            let mut again = fetch.batches[0].clone();
            let end = fetch.high_watermark;
            (again.offset, again.last) = (end, end + 1);
            fetch.batches.push(again);
            fetch.high_watermark += 2;
            fetch.last_stable_offset += 2;
            last + 1
        },
        "S6",
    ),
    (
        "a marker left out",
        |events| {
            let (at, fetch) = fetches(events).last().expect("a fetch of everything");
            let marker = fetch.batches.iter().position(|it| it.marker.is_some());
            fetch.batches.remove(marker.expect("a marker"));
            at + 1
        },
        "left out",
    ),
    (
        "a commit turned into an abort",
        |events| {
            let (at, fetch) = fetches(events)
                .find(|(_, it)| it.batches.iter().any(|b| b.marker == Some(true)))
                .expect("a marker");
            for marker in fetch.batches.iter_mut().filter(|it| it.marker.is_some()) {
                marker.marker = Some(false);
            }
            at + 1
        },
        "",
    ),
    (
        "a marker of the epoch before",
        |events| {
            let (at, fetch) = fetches(events)
                .find(|(_, it)| it.batches.iter().any(|b| b.marker.is_some()))
                .expect("a marker");
            for marker in fetch.batches.iter_mut().filter(|it| it.marker.is_some()) {
                marker.producer.1 -= 1;
            }
            at + 1
        },
        "marker",
    ),
    (
        "a last stable offset past an open transaction",
        |events| {
            let (at, fetch) = fetches(events).next().expect("a fetch");
            fetch.last_stable_offset = fetch.high_watermark;
            at + 1
        },
        "S11",
    ),
    (
        "a last stable offset that goes back",
        |events| {
            let (at, fetch) = fetches(events).nth(4).expect("a fetch");
            fetch.last_stable_offset = 0;
            fetch.batches.clear();
            at + 1
        },
        "S10",
    ),
    (
        "aborted data without its entry",
        |events| {
            let (at, fetch) = fetches(events)
                .find(|(_, it)| !it.aborted.is_empty())
                .expect("an abort");
            fetch.aborted.clear();
            at + 1
        },
        "S2",
    ),
];

#[test]
fn every_corruption_is_refused_at_its_event() {
    for (story, corrupt, word) in CORRUPTIONS {
        let mut events = honest().events;
        let shows = corrupt(&mut events);
        match judged(&events) {
            Ok(validator) => panic!("{story}: not refused, {:?}", validator.summary()),
            Err(refusal) => {
                assert_eq!(refusal.event, shows as u64, "{story}: {refusal}");
                assert!(refusal.why.contains(word), "{story}: {refusal}");
            }
        }
    }
}

#[test]
fn swapped_answers_are_refused() {
    let mut events = honest().events;
    let ends: Vec<usize> = answers(&mut events)
        .filter(|(_, it)| matches!(it, Answered::Identity { .. }))
        .map(|(at, _)| at)
        .skip(2)
        .take(2)
        .collect();
    let take = |event: &Event| match event {
        Event::Answered { answer, .. } => answer.clone(),
        _ => panic!("an answer"),
    };
    let (first, second) = (take(&events[ends[0]]), take(&events[ends[1]]));
    for (at, answer) in [(ends[0], second), (ends[1], first)] {
        if let Event::Answered { answer: place, .. } = &mut events[at] {
            *place = answer;
        }
    }
    let refusal = judged(&events).expect_err("swapped");
    assert_eq!(refusal.event, ends[0] as u64 + 1, "{refusal}");
}

/// Many ids, as a busy broker has them; the figure of the README.
#[test]
#[ignore = "a measurement"]
fn a_million_events() {
    let mut run = Recording::default();
    let places = [place(0), place(1)];
    let mut identities: Vec<(String, Pair)> = Vec::new();
    for n in 0..100 {
        let id = format!("id{n}");
        let identity = run.init(&id);
        identities.push((id, identity));
    }
    let mut positions = [0, 0];
    while run.events.len() < 1_000_000 {
        for (n, (id, identity)) in identities.iter_mut().enumerate() {
            let at = &places[n % 2];
            run.produce(id, *identity, at, 0);
            run.produce(id, *identity, at, 2);
            *identity = run.end(id, *identity, n % 3 != 1, &[at]);
        }
        for (at, position) in places.iter().zip(&mut positions) {
            *position = run.fetch(at, *position);
            // What has been read is not looked at again.
            if let Some(log) = run.logs.get_mut(at) {
                log.drain(..log.len().saturating_sub(1));
            }
        }
    }
    let begun = Instant::now();
    let validator = judged(&run.events).unwrap_or_else(|refusal| panic!("{refusal}"));
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{} events in {seconds:.1} s: {:.0} a minute; {:?}",
        run.events.len(),
        run.events.len() as f64 / seconds * 60.0,
        validator.summary()
    );
}
