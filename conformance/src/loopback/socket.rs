//! One connection: frames in, answers out, one at a time as Kafka serves a connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;

use bytes::Bytes;

use super::broker::{Event, Reply};

/// The largest request that is read, in bytes.
const MAX_FRAME: u64 = 16 * 1024 * 1024;

/// Serves a connection until either side ends it.
pub(super) fn serve(mut stream: TcpStream, events: &mpsc::Sender<Event>) {
    // Without it answers are late, not wrong.
    let _ = stream.set_nodelay(true);
    let (answer, answers) = mpsc::channel();
    while let Ok(Some(frame)) = read_frame(&mut stream) {
        let event = Event::Request {
            frame,
            answer: answer.clone(),
        };
        if events.send(event).is_err() {
            return;
        }
        match answers.recv() {
            Ok(Reply::Frame(bytes)) => {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
            Ok(Reply::Nothing) => {}
            Ok(Reply::Close) | Err(mpsc::RecvError) => return,
        }
    }
}

/// The next request; none at a length that no request has.
fn read_frame(stream: &mut TcpStream) -> io::Result<Option<Bytes>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let Ok(length) = u64::try_from(i32::from_be_bytes(length)) else {
        return Ok(None);
    };
    if length > MAX_FRAME {
        return Ok(None);
    }
    // Memory grows with what arrives, not with what is announced.
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 == length).then(|| Bytes::from(bytes)))
}
