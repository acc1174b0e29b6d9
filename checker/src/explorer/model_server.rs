//! One model behind stateright's own server, in a process of its own: the server is one model for
//! ever, it unwraps its bind, and one client that goes away at the wrong time ends it.

use super::{ModelName, Shown};
use crate::exit::{Exit, Failure};
use crate::output::say;
use stateright::{Checker, Model};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How many ports are tried: each can be taken by another between the choice and the bind.
const TRIES: usize = 8;
/// How often, and with what pause, a new server is asked whether it listens.
const ASKED: usize = 500;
const PAUSE: Duration = Duration::from_millis(10);
/// An answer takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves a model, says on stdout where, and ends when stdin ends: its other end is held by the
/// front, so this process does not outlive it, however it ended.
pub fn run(model: ModelName) -> Result<Exit, Failure> {
    // The server tells of a taken port by a panic, which is no news.
    panic::set_hook(Box::new(|_| {}));
    let started = start(&Shown::new(model), free_address);
    drop(panic::take_hook());
    let (address, server) = started?;
    say(&format!("{address}\n"))?;
    thread::spawn(move || {
        // It returns only by a panic. The front starts another process when it next needs one.
        let _ = server.join();
        std::process::exit(1);
    });
    io::copy(&mut io::stdin().lock(), &mut io::sink())
        .map_err(|error| Failure::Internal(format!("cannot watch stdin: {error}")))?;
    Ok(Exit::AsExpected)
}

fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Starts stateright's server on an address that `pick` gives, on the next one where it is taken,
/// and returns when it listens.
fn start(
    shown: &Shown,
    mut pick: impl FnMut() -> io::Result<SocketAddr>,
) -> Result<(SocketAddr, JoinHandle<()>), Failure> {
    for _ in 0..TRIES {
        let address = pick().map_err(|error| Failure::Internal(error.to_string()))?;
        let served = shown.clone();
        let server = thread::spawn(move || served.checker().threads(1).serve(address).forget());
        if listens(address, &server, shown) {
            return Ok((address, server));
        }
    }
    Err(Failure::Internal(format!(
        "stateright's server found no free loopback port in {TRIES} tries"
    )))
}

/// Whether it comes to answer, and not somebody else on its port: a chart is drawn for the answer.
fn listens(address: SocketAddr, server: &JoinHandle<()>, shown: &Shown) -> bool {
    for _ in 0..ASKED {
        thread::sleep(PAUSE);
        if server.is_finished() {
            return false;
        }
        // Nobody listens yet, or nobody who knows what to answer.
        let _ = ask(address);
        if shown.has_drawn() {
            return true;
        }
    }
    false
}

/// Asks for the initial states, and waits for the answer.
fn ask(address: SocketAddr) -> io::Result<()> {
    let mut server = TcpStream::connect(address)?;
    server.set_read_timeout(Some(PATIENCE))?;
    server.write_all(b"GET /.states/ HTTP/1.0\r\n\r\n")?;
    io::copy(&mut server, &mut io::sink())?;
    Ok(())
}

/// The server never returns; this gives its result a name.
trait Forget {
    fn forget(self);
}

impl<C: Checker<Shown>> Forget for Arc<C> {
    fn forget(self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_after_it_was_chosen_is_given_up_for_another() {
        let Ok(model) = ModelName::find("smoke", "tv2", "none") else {
            panic!("no scenario smoke");
        };
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let taken_at = taken.local_addr().expect("a bound socket has an address");
        let mut choices = vec![free_address().expect("a free port"), taken_at, taken_at];
        let pick = || choices.pop().map_or_else(free_address, Ok);
        let (address, server) = start(&Shown::new(model), pick).expect("the third is free");
        assert_ne!(address, taken_at);
        assert!(!server.is_finished());
        assert!(start(&Shown::new(model), || Ok(taken_at)).is_err());
    }
}
