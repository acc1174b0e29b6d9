//! Apache Kafka's own answers, cell by cell, against the recorded ones.

mod end;
mod harness;
mod init;
mod markers;
mod offsets;
mod parts;
mod produce;
mod seeded;
mod timeout;
mod two_phase;

use fencepost_conformance::kafka_server::KafkaConfig;
use harness::Facts;

#[test]
fn facts() {
    for tv in [2, 1] {
        let mut facts = Facts::start(&KafkaConfig::one_node(tv)).expect("Kafka");
        init::all(&mut facts);
        init::across_restart(&mut facts);
        parts::all(&mut facts);
        end::classic(&mut facts);
        if tv == 2 {
            end::bumping(&mut facts);
        }
        end::version_against_level(&mut facts);
        markers::all(&mut facts);
        produce::all(&mut facts);
        offsets::all(&mut facts);
        timeout::all(&mut facts);
        two_phase::all(&mut facts);
        seeded::all(&mut facts);
        println!("\n## transaction.version {tv}");
        for row in &facts.rows { println!("{}", row.line()); }
    }
}
