//! The front: our pages on one loopback address, and behind them a server for each opened model.

use super::guard::guard;
use super::models::Models;
use super::pages::{self, Problem};
use super::saved::Saved;
use super::walk::{Told, Walk, model_of, walk_file};
use super::{ModelName, assets};
use crate::exit::Failure;
use crate::select;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use fencepost_spec::properties::Id;
use serde::Deserialize;
use std::collections::HashMap;
use std::net::{TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// An address of the Explorer has no more steps than this: no scenario is as deep.
const MOST_STEPS: usize = 2_000;

/// What the front is told.
pub struct Settings {
    /// Where the saved traces are.
    pub traces: PathBuf,
    /// How many models are open at a time.
    pub models: usize,
    /// How long a model stays open after it was last asked.
    pub idle: Duration,
}

struct Front {
    models: Models,
    saved: Saved,
    /// The fragment at the end of each counterexample that was searched.
    found: Mutex<HashMap<([&'static str; 3], Id), String>>,
    /// One search at a time.
    searching: Semaphore,
}

type Shared = State<Arc<Front>>;
/// A scenario, rules and a mutant, as an address names them.
type Words = (String, String, String);

/// Listens on a loopback address.
///
/// # Errors
/// [`Failure::Usage`] for an address that is not loopback, does not resolve or is taken.
pub fn listen(address: &str) -> Result<TcpListener, Failure> {
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

/// Serves until the process is interrupted; the processes of the opened models end with it.
///
/// # Errors
/// [`Failure::Internal`] where the machine refuses threads or sockets.
pub fn serve(listener: TcpListener, settings: Settings) -> Result<(), Failure> {
    let internal = |error: std::io::Error| Failure::Internal(error.to_string());
    let front = Arc::new(Front {
        models: Models::new(settings.models, settings.idle)?,
        saved: Saved::new(settings.traces),
        found: Mutex::default(),
        searching: Semaphore::new(1),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(internal)?;
    let served = runtime.block_on(async {
        listener.set_nonblocking(true).map_err(internal)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(internal)?;
        let routes = routes(Arc::clone(&front));
        tokio::select! {
            served = async { axum::serve(listener, routes).await } => served.map_err(internal),
            () = front.models.end_idle() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted.map_err(internal),
        }
    });
    // A search that still runs is not waited for.
    runtime.shutdown_background();
    served
}

fn routes(front: Arc<Front>) -> Router {
    Router::new()
        .route("/", get(start))
        .route("/assets/{name}", get(asset))
        .route("/explore/{scenario}/{rules}/{mutant}", get(to_folder))
        .route("/explore/{scenario}/{rules}/{mutant}/", get(model))
        .route("/explore/{scenario}/{rules}/{mutant}/{*asked}", get(behind))
        .route("/at/{scenario}/{rules}/{mutant}/{property}", get(at))
        .route("/trace/{*name}", get(trace))
        .fallback(async || Problem::nothing("There is no such page."))
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "Pages here are only read.")
        })
        .layer(from_fn(guard))
        .with_state(front)
}

async fn start(State(front): Shared) -> Result<Response, Problem> {
    let listed = tokio::task::spawn_blocking(move || front.saved.list());
    let listed = listed.await.map_err(Problem::internal)?;
    Ok(pages::start(&listed).into_response())
}

async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    assets::find(&name).ok_or_else(|| Problem::nothing("There is no such file."))
}

/// The page of a model is a folder: what stateright's script asks lies below it.
async fn to_folder(Path(words): Path<Words>) -> Result<Redirect, Problem> {
    Ok(Redirect::permanent(&named(&words)?.page()))
}

/// What a page of a model says of where it was opened.
#[derive(Deserialize)]
struct Opened {
    at: Option<String>,
    trace: Option<String>,
}

async fn model(
    State(front): Shared,
    Path(words): Path<Words>,
    Query(opened): Query<Opened>,
) -> Result<Response, Problem> {
    let model = named(&words)?;
    let property = opened.at.as_deref().map(select::property).transpose()?;
    let told = opened.trace.and_then(|name| {
        let path = front.saved.path(&name)?;
        Some((name, path))
    });
    let told = match told {
        None => None,
        Some((name, path)) => {
            let told = tokio::task::spawn_blocking(move || Told::of(model, name, &path));
            told.await.map_err(Problem::internal)?
        }
    };
    Ok(pages::model(model, property, told.as_ref()).into_response())
}

/// stateright's script and steps, from the process of the model.
async fn behind(
    State(front): Shared,
    Path((scenario, rules, mutant, asked)): Path<(String, String, String, String)>,
) -> Result<Response, Problem> {
    let model = named(&(scenario, rules, mutant))?;
    let kind = match asked.as_str() {
        "app.js" | "knockout-3.5.0.js" => "text/javascript; charset=utf-8",
        steps if is_steps(steps) => "application/json",
        _ => return Err(Problem::nothing("stateright's Explorer has no such page.")),
    };
    // Not in this task, which ends with its client: stateright's server would end, too.
    let answer = tokio::spawn(async move { front.models.ask(model, &format!("/{asked}")).await });
    let answer = answer.await.map_err(Problem::internal)??;
    if !answer.status.is_success() {
        let why = String::from_utf8_lossy(&answer.body).into_owned();
        return Err(Problem::new(answer.status, why));
    }
    Ok(([(header::CONTENT_TYPE, kind)], answer.body).into_response())
}

/// Whether it asks for what follows a run, which is a list of numbers.
fn is_steps(asked: &str) -> bool {
    let Some(places) = asked.strip_prefix(".states") else {
        return false;
    };
    let digits = |place: &str| place.len() <= 9 && place.bytes().all(|b| b.is_ascii_digit());
    places.is_empty()
        || places.starts_with('/') && {
            let mut places = places[1..].split('/');
            places.by_ref().take(MOST_STEPS).all(digits) && places.next().is_none()
        }
}

/// The shortest counterexample of a property, at its last step.
async fn at(
    State(front): Shared,
    Path((scenario, rules, mutant, property)): Path<(String, String, String, String)>,
) -> Result<Redirect, Problem> {
    let model = named(&(scenario, rules, mutant))?;
    let property = select::property(&property)?;
    let fragment = front.counterexample(model, property).await?;
    let query = format!("?at={}", property.name());
    Ok(Redirect::to(&format!("{}{query}{fragment}", model.page())))
}

/// Which step of a trace.
#[derive(Deserialize)]
struct Step {
    step: Option<usize>,
}

/// A saved trace, at a step or at its end.
async fn trace(
    State(front): Shared,
    Path(name): Path<String>,
    Query(Step { step }): Query<Step>,
) -> Result<Redirect, Problem> {
    let path = front.saved.path(&name);
    let path = path.ok_or_else(|| Problem::nothing(format!("There is no trace `{name}`.")))?;
    let address = tokio::task::spawn_blocking(move || {
        let (file, walk) = walk_file(&path)?;
        let model = model_of(&file);
        let fragment = walk.fragment(model, step.unwrap_or(walk.len()))?;
        let query = format!("?trace={}", pages::encode(&name));
        Ok::<_, Failure>(format!("{}{query}{fragment}", model.page()))
    });
    Ok(Redirect::to(&address.await.map_err(Problem::internal)??))
}

impl Front {
    async fn counterexample(&self, model: ModelName, property: Id) -> Result<String, Problem> {
        let searched = (model.words(), property);
        let one = self.searching.acquire().await;
        let _one = one.map_err(Problem::internal)?;
        let found = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fragment) = found().get(&searched) {
            return Ok(fragment.clone());
        }
        let search = tokio::task::spawn_blocking(move || {
            let walk = Walk::to_violation(model, property)?;
            walk.fragment(model, walk.len())
        });
        let fragment = search.await.map_err(Problem::internal)??;
        found().insert(searched, fragment.clone());
        Ok(fragment)
    }
}

fn named((scenario, rules, mutant): &Words) -> Result<ModelName, Problem> {
    Ok(ModelName::find(scenario, rules, mutant)?)
}
