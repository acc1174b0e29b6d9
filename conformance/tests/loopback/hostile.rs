//! Bytes that no honest client sends: they end a connection and nothing else.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use fencepost::types::TransactionVersion;
use fencepost_conformance::loopback::Loopback;
use fencepost_conformance::wire::{Connection, Frame, VersionRange};

use super::broker;

/// Every version that the broker offers.
fn offered(connection: &mut Connection) -> Vec<(i16, i16)> {
    let apis = connection.api_versions().expect("ApiVersions").apis;
    let versions = |(key, range): (&i16, &VersionRange)| {
        let key = *key;
        (range.min..=range.max).map(move |version| (key, version))
    };
    apis.iter().flat_map(versions).collect()
}

fn open(broker: &Loopback) -> Connection {
    Connection::open(broker.address(), Duration::from_secs(5)).expect("the broker accepts")
}

/// Whether the broker still serves.
fn serves(broker: &Loopback) -> bool {
    open(broker).api_versions().is_ok()
}

fn framed(key: i16, version: i16, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let length = i32::try_from(body.len() + 10).expect("a small body");
    frame.extend(length.to_be_bytes());
    frame.extend(key.to_be_bytes());
    frame.extend(version.to_be_bytes());
    // Correlation id 7, no client id.
    frame.extend([0, 0, 0, 7, 0xff, 0xff]);
    frame.extend(body);
    frame
}

/// Sends bytes and waits until the broker has answered or closed the connection.
fn throw(broker: &Loopback, bytes: &[u8]) {
    let mut stream = TcpStream::connect(broker.address()).expect("the broker accepts");
    let soon = Some(Duration::from_secs(5));
    stream.set_read_timeout(soon).expect("a timeout");
    // The broker may close before it has read everything.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let read = stream.read_to_end(&mut Vec::new());
    let stuck = read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!stuck, "neither answered nor closed: {bytes:?}");
}

#[test]
fn hostile_bytes_end_a_connection_and_nothing_else() {
    let broker = broker(TransactionVersion::V2);
    let versions = offered(&mut open(&broker));
    throw(&broker, &[0x7f; 64]);
    throw(&broker, &[0xff; 64]);
    throw(&broker, &framed(18, 99, &[]));
    throw(&broker, &framed(9999, 0, &[]));
    for (key, version) in versions {
        for body in hostile_bodies() {
            throw(&broker, &framed(key, version, &body));
        }
        assert!(serves(&broker), "api {key} v{version} ended the broker");
    }
}

/// Counts and lengths far above what follows them, negative ones, zeros, and arbitrary bytes.
fn hostile_bodies() -> Vec<Vec<u8>> {
    let mut bodies = vec![
        Vec::new(),
        vec![0; 40],
        vec![0xff; 40],
        vec![0x7f; 40],
        [&[0; 8][..], &[0x7f, 0xff, 0xff, 0xff, 0xff]].concat(),
        [&[1; 3][..], &[0xff, 0xff, 0xff, 0xff, 0x07], &[2; 30]].concat(),
    ];
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for length in [3, 17, 60] {
        let body = (0..length).map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Small numbers reach further into a decoder than large ones.
            (random % 5) as u8
        });
        bodies.push(body.collect());
    }
    bodies
}

/// Kafka closes the connection on an API version that it does not have, but for ApiVersions (KIP-511).
#[test]
fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let broker = broker(TransactionVersion::V1);
    let mut connection = open(&broker);
    let frame = Frame {
        api_key: 18,
        api_version: 77,
        request_header: 2,
        response_header: 0,
    };
    let answer = connection.call_raw(frame, &[]).expect("an answer");
    assert_eq!(answer[..2], 35_i16.to_be_bytes());
    let frame = Frame {
        api_key: 3,
        ..frame
    };
    assert!(connection.call_raw(frame, &[]).is_err());
    assert!(serves(&broker));
}
