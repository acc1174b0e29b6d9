//! Stands between clients and a broker, passes every byte on, and writes down what the model knows.
//!
//! Addresses in Metadata and FindCoordinator become the proxy's own, a listener for each broker, so
//! that clients stay here. ApiVersions offers no version that could not be read: topics by id are
//! left out.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{FindCoordinatorResponse, MetadataResponse, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, StrBytes};

use super::decode;
use super::event::Event;

/// The largest frame that is passed on, in bytes.
const MAX_FRAME: usize = 128 * 1024 * 1024;
const POLL: Duration = Duration::from_millis(20);

/// Highest versions that the proxy can read; above them topics have ids instead of names, or
/// addresses would slip through.
const READABLE: [(i16, i16); 15] = [
    (0, 12),
    (1, 12),
    (3, 12),
    (8, 9),
    (9, 9),
    (10, 6),
    (18, 3),
    (20, 5),
    (22, 6),
    (24, 5),
    (25, 4),
    (26, 5),
    (27, 2),
    (28, 5),
    (68, 1),
];
/// DescribeCluster, which would name the brokers' own addresses.
const HIDDEN: i16 = 60;
/// A number that no API has; clients pass over what they do not know.
const NO_API: i16 = 20_000;

/// A running proxy. Dropping it closes its listeners.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    host: IpAddr,
    listeners: Mutex<BTreeMap<SocketAddr, SocketAddr>>,
    out: Mutex<Box<dyn Write + Send>>,
    exchanges: AtomicU64,
    stopped: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

/// A request whose answer is still to come.
struct Pending {
    key: i16,
    version: i16,
    recorded: Option<u64>,
}

impl Proxy {
    /// Listens on `listen` for clients of `bootstrap`, and writes events to `out`.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub fn start(
        listen: SocketAddr,
        bootstrap: SocketAddr,
        out: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            host: listen.ip(),
            listeners: Mutex::new(BTreeMap::new()),
            out: Mutex::new(out),
            exchanges: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        });
        let address = shared.listen(listen, bootstrap)?;
        Ok(Self { address, shared })
    }

    /// Where clients connect.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// Where the recording cannot be written.
    pub fn flush(&self) -> io::Result<()> {
        lock(&self.shared.out).flush()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Nobody is left to tell where the last lines cannot be written.
        let _ = self.flush();
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// A listener for clients of one broker; the one that is there already, if there is one.
    fn listen(self: &Arc<Self>, on: SocketAddr, broker: SocketAddr) -> io::Result<SocketAddr> {
        let mut listeners = lock(&self.listeners);
        if let Some(address) = listeners.get(&broker) {
            return Ok(*address);
        }
        let listener = TcpListener::bind(on)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        listeners.insert(broker, address);
        let shared = Arc::clone(self);
        std::thread::spawn(move || {
            while !shared.stopped.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((client, _)) => shared.serve(client, broker),
                    Err(_) => std::thread::sleep(POLL),
                }
            }
        });
        Ok(address)
    }

    fn serve(self: &Arc<Self>, client: TcpStream, broker: SocketAddr) {
        let Ok(upstream) = TcpStream::connect(broker) else {
            return;
        };
        let plain = client.set_nonblocking(false).is_ok()
            && client.set_nodelay(true).is_ok()
            && upstream.set_nodelay(true).is_ok();
        let (Ok(client_too), Ok(upstream_too), true) =
            (client.try_clone(), upstream.try_clone(), plain)
        else {
            return;
        };
        let pending = Arc::new(Mutex::new(VecDeque::new()));
        let (shared, queue) = (Arc::clone(self), Arc::clone(&pending));
        std::thread::spawn(move || {
            // A client that goes away ends its connection to the broker, and the other way round.
            let _ = shared.requests(client, &upstream, &queue);
            let _ = upstream.shutdown(std::net::Shutdown::Both);
        });
        let shared = Arc::clone(self);
        std::thread::spawn(move || {
            let _ = shared.answers(upstream_too, &client_too, &pending);
            let _ = client_too.shutdown(std::net::Shutdown::Both);
            for lost in lock(&pending).drain(..) {
                shared.write(lost.recorded.map(|exchange| Event::Lost { exchange }));
            }
        });
    }

    fn requests(
        &self,
        mut client: TcpStream,
        mut upstream: &TcpStream,
        pending: &Mutex<VecDeque<Pending>>,
    ) -> io::Result<()> {
        loop {
            let frame = read_frame(&mut client)?;
            if frame.len() < 8 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let key = i16::from_be_bytes([frame[0], frame[1]]);
            let version = i16::from_be_bytes([frame[2], frame[3]]);
            let request = decode::asked(key, version, frame.clone());
            let recorded = request.map(|request| {
                let exchange = self.exchanges.fetch_add(1, Ordering::Relaxed);
                self.write(Some(Event::Asked { exchange, request }));
                exchange
            });
            if decode::is_unanswered(key, version, frame.clone()) {
                self.write(recorded.map(|exchange| Event::Lost { exchange }));
            } else {
                lock(pending).push_back(Pending {
                    key,
                    version,
                    recorded,
                });
            }
            write_frame(&mut upstream, &frame)?;
        }
    }

    fn answers(
        self: &Arc<Self>,
        mut upstream: TcpStream,
        mut client: &TcpStream,
        pending: &Mutex<VecDeque<Pending>>,
    ) -> io::Result<()> {
        loop {
            let frame = read_frame(&mut upstream)?;
            let Some(asked) = lock(pending).pop_front() else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            if let Some(exchange) = asked.recorded {
                let answer = decode::answered(asked.key, asked.version, frame.clone());
                self.write(Some(match answer {
                    Some(answer) => Event::Answered { exchange, answer },
                    None => Event::Lost { exchange },
                }));
            }
            let frame = self
                .rewritten(asked.key, asked.version, &frame)
                .unwrap_or(frame);
            write_frame(&mut client, &frame)?;
        }
    }

    fn write(&self, event: Option<Event>) {
        let Some(event) = event else {
            return;
        };
        if let Ok(line) = serde_json::to_string(&event) {
            // A recording that cannot be written must not stop the traffic; it ends short, and
            // flush says so.
            let _ = writeln!(lock(&self.out), "{line}");
        }
    }

    /// An answer with the proxy's addresses, or with versions that it can read.
    fn rewritten(self: &Arc<Self>, key: i16, version: i16, frame: &Bytes) -> Option<Bytes> {
        match key {
            3 => edited::<MetadataResponse>(version, frame, |answer| {
                for broker in &mut answer.brokers {
                    self.redirect(&mut broker.host, &mut broker.port);
                }
            }),
            10 => edited::<FindCoordinatorResponse>(version, frame, |answer| {
                self.redirect(&mut answer.host, &mut answer.port);
                for coordinator in &mut answer.coordinators {
                    self.redirect(&mut coordinator.host, &mut coordinator.port);
                }
            }),
            18 => readable_versions(version, frame),
            _ => None,
        }
    }

    fn redirect(self: &Arc<Self>, host: &mut StrBytes, port: &mut i32) {
        let Ok(number) = u16::try_from(*port) else {
            return;
        };
        let resolved = (host.as_str(), number).to_socket_addrs();
        let Some(broker) = resolved.ok().and_then(|mut it| it.next()) else {
            return;
        };
        if let Ok(own) = self.listen(SocketAddr::new(self.host, 0), broker) {
            *host = StrBytes::from_string(own.ip().to_string());
            *port = i32::from(own.port());
        }
    }
}

/// ApiVersions with lower highest versions, changed in place: whatever else a later version of the
/// answer says stays as it is.
fn readable_versions(version: i16, frame: &Bytes) -> Option<Bytes> {
    let mut bytes = BytesMut::from(&frame[..]);
    let flexible = version >= 3;
    // Correlation id and error code, then the array.
    let (count, mut at) = if flexible {
        // The length of a compact array, plus 1: up to two bytes, for no broker has 16,383 APIs.
        let first = usize::from(*bytes.get(6)?);
        if first < 0x80 {
            (first.checked_sub(1)?, 7)
        } else {
            let second = usize::from(*bytes.get(7)?);
            (((first & 0x7f) | (second << 7)).checked_sub(1)?, 8)
        }
    } else {
        let length = bytes.get(6..10)?.try_into().ok()?;
        (usize::try_from(i32::from_be_bytes(length)).ok()?, 10)
    };
    for _ in 0..count {
        let entry = bytes.get_mut(at..at + 6)?;
        let key = i16::from_be_bytes([entry[0], entry[1]]);
        let offered = i16::from_be_bytes([entry[4], entry[5]]);
        if key == HIDDEN {
            entry[..2].copy_from_slice(&NO_API.to_be_bytes());
        }
        if let Some((_, highest)) = READABLE.iter().find(|(readable, _)| *readable == key) {
            entry[4..].copy_from_slice(&offered.min(*highest).to_be_bytes());
        }
        at += 6 + usize::from(flexible);
    }
    Some(bytes.freeze())
}

fn edited<R: Decodable + Encodable + HeaderVersion>(
    version: i16,
    frame: &Bytes,
    edit: impl FnOnce(&mut R),
) -> Option<Bytes> {
    let mut rest = frame.clone();
    let header = ResponseHeader::decode(&mut rest, R::header_version(version)).ok()?;
    let mut answer = R::decode(&mut rest, version).ok()?;
    edit(&mut answer);
    let mut bytes = BytesMut::new();
    header.encode(&mut bytes, R::header_version(version)).ok()?;
    answer.encode(&mut bytes, version).ok()?;
    Some(bytes.freeze())
}

fn read_frame(stream: &mut TcpStream) -> io::Result<Bytes> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(i32::from_be_bytes(length))
        .ok()
        .filter(|length| *length <= MAX_FRAME)
        .ok_or(io::ErrorKind::InvalidData)?;
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame)?;
    Ok(Bytes::from(frame))
}

fn write_frame(stream: &mut &TcpStream, frame: &Bytes) -> io::Result<()> {
    let mut whole = BytesMut::with_capacity(frame.len() + 4);
    whole.put_u32(frame.len() as u32);
    whole.extend_from_slice(frame);
    stream.write_all(&whole)
}
