//! The front: answers on the asked address and hands each request to stateright's server behind
//! it, which does not survive a client that goes away.

use super::Shown;
use crate::exit::Failure;
use stateright::{Checker, Model};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

/// No request of the Explorer's page is longer than this: a path of thousands of steps.
const LONGEST_HEAD: usize = 64 * 1024;
/// A client that sends nothing for this long is left.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves a model on a loopback address until the process ends. `opened` is told the address once
/// it is listening.
pub fn serve(
    shown: Shown,
    address: &str,
    opened: impl FnOnce(SocketAddr) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let listener = listen(address)?;
    let listening = listener.local_addr().map_err(internal)?;
    let behind = start_behind(shown)?;
    opened(listening)?;
    // A client that could not be accepted is gone; the next one is as good.
    for client in listener.incoming().flatten() {
        thread::spawn(move || {
            // Whatever fails here concerns this client alone.
            let _ = forward(client, behind);
        });
    }
    Ok(())
}

fn listen(address: &str) -> Result<TcpListener, Failure> {
    let wrong = |why: &str| {
        Failure::Usage(format!(
            "cannot listen on `{address}`: {why}; expected a free loopback HOST:PORT, as in 127.0.0.1:3000"
        ))
    };
    let resolved = address
        .to_socket_addrs()
        .map_err(|error| wrong(&error.to_string()))?;
    let candidates: Vec<_> = resolved.collect();
    if candidates.is_empty() || candidates.iter().any(|a| !a.ip().is_loopback()) {
        return Err(wrong("it is not a loopback address"));
    }
    TcpListener::bind(candidates.as_slice()).map_err(|error| wrong(&error.to_string()))
}

/// Starts stateright's server on a free loopback port, and waits until it answers.
fn start_behind(shown: Shown) -> Result<SocketAddr, Failure> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(internal)?;
    let address = free.local_addr().map_err(internal)?;
    drop(free);
    thread::spawn(move || shown.checker().threads(1).serve(address).report_nothing());
    for _ in 0..100 {
        if TcpStream::connect(address).is_ok() {
            return Ok(address);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err(Failure::Internal(
        "stateright's Explorer did not start".to_owned(),
    ))
}

/// stateright's server never returns; this gives its result a name.
trait ReportNothing {
    fn report_nothing(self);
}

impl<C: Checker<Shown>> ReportNothing for std::sync::Arc<C> {
    fn report_nothing(self) {}
}

/// Reads one request, asks the server behind, and gives its whole answer back.
fn forward(mut client: TcpStream, behind: SocketAddr) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let Some((method, path)) = request_line(&mut client)? else {
        return client.write_all(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    };
    let mut server = TcpStream::connect(behind)?;
    write!(
        server,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    client.write_all(&answer)
}

/// The method and path of a request: GET and POST only, and a path without a space.
fn request_line(client: &mut TcpStream) -> io::Result<Option<(String, String)>> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let read = client.read(&mut buffer)?;
        if read == 0 || head.len() + read > LONGEST_HEAD {
            return Ok(None);
        }
        head.extend_from_slice(&buffer[..read]);
    }
    let text = String::from_utf8_lossy(&head);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let known = matches!(method, "GET" | "POST") && path.starts_with('/');
    Ok(known.then(|| (method.to_owned(), path.to_owned())))
}

fn internal(error: io::Error) -> Failure {
    Failure::Internal(error.to_string())
}
