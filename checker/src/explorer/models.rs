//! The opened models: a process for each, few at a time, ended when nobody asks.

use super::ModelName;
use crate::exit::Failure;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode, header};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::OnceCell;
use tokio::time::timeout;

/// A new process says within this time where it listens.
const STARTED_WITHIN: Duration = Duration::from_secs(20);
/// No answer takes longer than this.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30);
/// No answer is longer than this many bytes.
const LONGEST_ANSWER: usize = 256 << 20;

/// The opened models, the one asked last at the end.
pub struct Models {
    program: PathBuf,
    most: usize,
    idle: Duration,
    opened: Mutex<Vec<Opened>>,
}

struct Opened {
    name: [&'static str; 3],
    process: Arc<OnceCell<Process>>,
    asked: Instant,
}

/// A running server; the process ends when this is dropped, or when the program is gone.
struct Process {
    address: SocketAddr,
    _child: Child,
    _lifeline: ChildStdin,
}

/// What a model's server answers.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Bytes,
}

impl Models {
    /// None is open yet. At most `most` are at a time, and each for `idle` after it was last
    /// asked.
    ///
    /// # Errors
    /// [`Failure::Internal`] where the program cannot say where it lies.
    pub fn new(most: usize, idle: Duration) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| internal("cannot find its own program", &error))?;
        Ok(Self {
            program,
            most,
            idle,
            opened: Mutex::default(),
        })
    }

    /// Asks a model's server for `path`, in a process that is started if there is none. A process
    /// that has ended since it was last asked is replaced once.
    ///
    /// # Errors
    /// [`Failure::Internal`] where a server does not start or does not answer.
    pub async fn ask(&self, model: ModelName, path: &str) -> Result<Answer, Failure> {
        match self.ask_opened(model, path).await {
            Err(_) => self.ask_opened(model, path).await,
            answer => answer,
        }
    }

    async fn ask_opened(&self, model: ModelName, path: &str) -> Result<Answer, Failure> {
        let cell = self.cell(model);
        let start = || Process::start(&self.program, model);
        let answer = match cell.get_or_try_init(start).await {
            Ok(process) => process.ask(path).await,
            Err(failure) => Err(failure),
        };
        if answer.is_err() {
            self.lock()
                .retain(|open| !Arc::ptr_eq(&open.process, &cell));
        }
        answer
    }

    /// The place of a model's process, which is the last asked now; the one that was not asked
    /// for the longest time is ended where there are too many.
    fn cell(&self, model: ModelName) -> Arc<OnceCell<Process>> {
        let name = model.words();
        let mut opened = self.lock();
        let at = opened.iter().position(|open| open.name == name);
        let process = at.map_or_else(Arc::default, |at| opened.remove(at).process);
        opened.push(Opened {
            name,
            process: Arc::clone(&process),
            asked: Instant::now(),
        });
        let too_many = opened.len().saturating_sub(self.most);
        opened.drain(..too_many);
        process
    }

    /// Ends what nobody has asked for a while, for ever.
    pub async fn end_idle(&self) {
        let pause = (self.idle / 4).clamp(Duration::from_millis(50), Duration::from_secs(10));
        loop {
            tokio::time::sleep(pause).await;
            self.lock().retain(|open| open.asked.elapsed() < self.idle);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Opened>> {
        // Nothing that is done under the lock leaves the list half changed.
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    async fn start(program: &PathBuf, model: ModelName) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command.arg("serve-model").args(model.words());
        if let Some(folder) = program.parent() {
            // stateright's server takes pages from a folder `ui` where it runs, if there is one.
            command.current_dir(folder);
        }
        let spawned = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        let mut child = spawned.map_err(|error| internal("cannot start a process", &error))?;
        let (Some(lifeline), Some(says)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::Internal("a process without pipes".to_owned()));
        };
        let mut lines = BufReader::new(says).lines();
        let said = timeout(STARTED_WITHIN, lines.next_line()).await;
        let address = said.ok().and_then(Result::ok).flatten();
        let address = address.and_then(|line| line.parse().ok());
        let address = address.ok_or_else(|| {
            Failure::Internal("stateright's server did not start in its process".to_owned())
        })?;
        Ok(Self {
            address,
            _child: child,
            _lifeline: lifeline,
        })
    }

    async fn ask(&self, path: &str) -> Result<Answer, Failure> {
        let no_answer = |why: &dyn std::fmt::Display| internal("stateright's server", why);
        let request = Request::get(format!("http://{}{path}", self.address))
            .header(header::CONNECTION, "close")
            .body(Body::empty())
            .map_err(|error| no_answer(&error))?;
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build_http();
        let answered = async {
            let answer = client.request(request).await.map_err(|e| no_answer(&e))?;
            let (parts, body) = answer.into_parts();
            let body = to_bytes(Body::new(body), LONGEST_ANSWER).await;
            Ok(Answer {
                status: parts.status,
                body: body.map_err(|error| no_answer(&error))?,
            })
        };
        let answer = timeout(ANSWERED_WITHIN, answered).await;
        answer.unwrap_or_else(|_| Err(no_answer(&"took too long to answer")))
    }
}

fn internal(what: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::Internal(format!("{what}: {why}"))
}
