//! One process of a Kafka cluster.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{StartError, kafka_folder, wait_for};

/// Any valid id will do: a cluster lives in one directory.
const CLUSTER_ID: &str = "ZmVuY2Vwb3N0LWp1ZGdlMQ";
const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(20);

/// A node: where it listens and where its data is; its process while it runs.
#[derive(Debug)]
pub struct Node {
    /// Node id, from 1; node 1 is the controller too.
    pub id: usize,
    /// Where its clients connect.
    pub address: SocketAddr,
    /// Its properties, its log file and its data.
    pub directory: PathBuf,
    /// What Maven resolved.
    pub classpath: String,
    /// The launcher, and the node's own process id.
    pub process: Option<(Child, u32)>,
}

impl Node {
    /// The node's server.properties.
    pub fn properties(&self) -> PathBuf {
        self.directory.join("server.properties")
    }

    /// Formats the node's empty storage; the controller's holds the feature level.
    pub fn format(&self, transaction_version: i16) -> Result<(), StartError> {
        let mut command = Command::new("java");
        command
            .args([
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                &self.classpath,
            ])
            .args(["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c"])
            .arg(self.properties());
        if self.id == 1 {
            command
                .args(["--standalone", "--feature"])
                .arg(format!("transaction.version={transaction_version}"));
        } else {
            command.arg("--no-initial-controllers");
        }
        let output = command.output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(StartError::Failed(format!(
            "format: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )))
    }

    /// Starts the process; it is not ready yet.
    pub fn launch(&mut self) -> Result<(), StartError> {
        let log4j = kafka_folder().join("log4j2.properties");
        let mut launcher = Command::new("sh")
            .arg(kafka_folder().join("run-node.sh"))
            .arg(self.directory.join("server.log"))
            .args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg(format!("-Dlog4j2.configurationFile={}", log4j.display()))
            .args(["-cp", &self.classpath, "kafka.Kafka"])
            .arg(self.properties())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Its own group: a terminal's Ctrl-C is for us, and we stop the node in good order.
            .process_group(0)
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = launcher.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let pid = line
            .trim()
            .parse()
            .map_err(|_| StartError::Failed(format!("launcher printed {line:?}")))?;
        self.process = Some((launcher, pid));
        Ok(())
    }

    /// Waits until the node accepts connections.
    pub fn wait_until_ready(&mut self) -> Result<(), StartError> {
        let address = self.address;
        let mut ended = false;
        let process = &mut self.process;
        let settled = wait_for(READY_WITHIN, || {
            ended = match process {
                Some((launcher, _)) => !matches!(launcher.try_wait(), Ok(None)),
                None => true,
            };
            ended || TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok()
        });
        if settled && !ended {
            return Ok(());
        }
        let log = fs::read_to_string(self.directory.join("server.log")).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(20).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        Err(StartError::Failed(format!(
            "node {} not ready:\n{}",
            self.id,
            tail.join("\n")
        )))
    }

    /// Ends the process at once.
    pub fn kill(&mut self) -> io::Result<()> {
        self.signal("KILL")?;
        if let Some((mut launcher, _)) = self.process.take() {
            launcher.wait()?;
        }
        Ok(())
    }

    /// Ends the process in good order; at once where that takes over 20 seconds.
    pub fn stop(&mut self) -> io::Result<()> {
        if self.process.is_none() {
            return Ok(());
        }
        self.signal("CONT")?;
        self.signal("TERM")?;
        let process = &mut self.process;
        let stopped = wait_for(STOPPED_WITHIN, || match process {
            Some((launcher, _)) => !matches!(launcher.try_wait(), Ok(None)),
            None => true,
        });
        if stopped {
            self.process = None;
            return Ok(());
        }
        self.kill()
    }

    /// Sends a signal, by its name without SIG; nothing where no process runs.
    pub fn signal(&self, name: &str) -> io::Result<()> {
        let Some((_, pid)) = &self.process else {
            return Ok(());
        };
        let status = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(pid.to_string())
            .stderr(Stdio::null())
            .status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other(format!("kill -{name} {pid}: {status}")))
        }
    }
}
