//! A running `fencepost explore`, and raw requests to it.

use crate::support::command;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::time::Duration;

/// A server on a free port; it ends with this.
pub struct Explorer {
    pub child: Child,
    pub address: SocketAddr,
    /// What it said when it listened.
    pub opened: Value,
    _stdout: ChildStdout,
    stderr: ChildStderr,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Explorer {
    /// Starts it with further arguments.
    pub fn start(arguments: &[&str]) -> Self {
        let fixed = ["explore", "--json", "--address", "127.0.0.1:0"];
        let mut child = command(&[&fixed[..], arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut stdout = child.stdout.take().expect("a pipe");
        let stderr = child.stderr.take().expect("a pipe");
        let mut said = serde_json::Deserializer::from_reader(&mut stdout).into_iter();
        let opened: Value = said.next().expect("it says where").expect("it is JSON");
        let url = opened["url"].as_str().expect("an address");
        let address = url["http://".len()..].split('/').next();
        let address = address.expect("a host").parse().expect("HOST:PORT");
        Self {
            child,
            address,
            opened,
            _stdout: stdout,
            stderr,
        }
    }

    /// The answer to a page.
    pub fn get(&self, path: &str) -> Answer {
        let host = self.address;
        self.ask(
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes(),
        )
    }

    /// A connection on which nothing waits for ever.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a timeout");
        stream.set_write_timeout(patience).expect("a timeout");
        stream
    }

    /// The answer to these bytes.
    pub fn ask(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may answer, and close, before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Ends it and gives what it said on stderr.
    pub fn end(mut self) -> String {
        self.child.kill().expect("it still runs");
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("it is text");
        said
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Where it leads on.
    pub fn location(&self) -> &str {
        let line = self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("location").then_some(value)
        });
        line.unwrap_or_else(|| panic!("no location in {}", self.head))
    }
}
