//! Whoever asks wrongly, or goes away, concerns nobody else.

use super::server::Explorer;
use crate::support::{code, fencepost, stderr};
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn a_request_by_another_name_is_refused() {
    let explorer = Explorer::start(&[]);
    let with = |host: &str| {
        explorer.ask(format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n").as_bytes())
    };
    for host in [
        "example.com",
        "127.0.0.1.example.com:3000",
        "10.0.0.1",
        "::1",
    ] {
        assert_eq!(with(&format!("Host: {host}\r\n")).status, 403, "{host}");
    }
    assert_eq!(with("").status, 400);
    assert_eq!(with("Host: localhost\r\nHost: example.com\r\n").status, 400);
    let from = |mode: &str| {
        let sent =
            format!("Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: {mode}\r\n");
        with(&sent).status
    };
    assert_eq!((from("no-cors"), from("navigate")), (403, 200));
    for host in ["localhost", "127.0.0.1:9", "[::1]:9"] {
        let answer = with(&format!("Host: {host}\r\n"));
        assert_eq!(answer.status, 200, "{host}");
        assert!(
            answer
                .head
                .to_lowercase()
                .contains("content-security-policy: default-src 'none'")
        );
    }
}

#[test]
fn what_is_no_request_is_answered_or_dropped_and_the_next_is_served() {
    let explorer = Explorer::start(&[]);
    let host = explorer.address;
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "a".repeat(200_000)
    );
    let steps = format!(
        "GET /explore/smoke/tv2/none/.states{} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
        "/0".repeat(5_000)
    );
    let post = format!(
        "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(explorer.ask(post.as_bytes()).status, 405);
    assert_eq!(
        explorer
            .ask(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
            .status,
        400
    );
    assert_eq!(explorer.ask(b"GET\r\n\r\n").status, 400);
    assert_eq!(explorer.ask(steps.as_bytes()).status, 404);
    let too_long = explorer.ask(long.as_bytes()).status;
    assert!(matches!(too_long, 0 | 400 | 414 | 431), "{too_long}");
    assert_eq!(explorer.get("/").status, 200);
    let said = explorer.end();
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_client_that_goes_away_takes_nothing_with_it() {
    let explorer = Explorer::start(&[]);
    let host = explorer.address;
    let steps = "/explore/smoke/tv2/none/.states/0";
    let before = explorer.get(steps);
    assert_eq!(before.status, 200);
    let whole = format!("GET {steps} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for cut in (0..whole.len()).step_by(3).chain([whole.len(); 20]) {
        let mut stream = explorer.connect();
        stream
            .write_all(&whole.as_bytes()[..cut])
            .expect("it listens");
        // A byte is read of some answers, the rest is reset.
        if cut == whole.len() {
            stream.read_exact(&mut [0]).expect("it answers");
        }
    }
    assert_eq!(explorer.get(steps).body, before.body);
    let said = explorer.end();
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn an_address_that_cannot_be_had_is_usage() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    for address in [
        address.as_str(),
        "0.0.0.0:0",
        "192.0.2.1:3000",
        "nonsense",
        "127.0.0.1:99999",
    ] {
        let output = fencepost(&["explore", "--address", address]);
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{address}: {said}");
        assert!(
            said.contains("loopback HOST:PORT") && said.contains(address),
            "{said}"
        );
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn what_cannot_be_opened_is_told_before_anything_is_served() {
    let trace = "tests/traces/counterexample/S1_m08_late_tv1.trace";
    for (arguments, expected) in [
        (["nosuch", "--rules", "tv1"], "no scenario `nosuch`"),
        (["smoke", "--mutant", "M00"], "no mutant `M00`"),
        (["smoke", "--at", "S1"], "S1 is not violated"),
        ([trace, "--rules", "tv2"], "a trace has its own rules"),
        (["--at", "S1", "--rules=tv1"], "need a scenario or a mutant"),
        (
            ["Cargo.toml", "--idle", "1s"],
            "the header has no `scenario`",
        ),
    ] {
        let fixed = ["explore", "--address", "127.0.0.1:0"];
        let output = fencepost(&[&fixed[..], &arguments[..]].concat());
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}
