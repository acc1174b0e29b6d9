//! `fencepost export`: a trace for people or for other tools.

use crate::args::{Export, Format};
use crate::exit::{Exit, Failure};
use crate::export::{Chart, dot, itf, json, mermaid, svg};
use crate::output::say;
use crate::traces;

/// Runs it. A step that is not enabled is a finding, told on stderr.
pub fn run(args: &Export) -> Result<Exit, Failure> {
    let file = traces::read(&args.trace)?;
    let run = match file.replay() {
        Ok(run) => run,
        Err(refused) => {
            Failure::told(&refused.to_string());
            return Ok(Exit::Finding);
        }
    };
    let (actions, states) = (&run.actions, &run.states);
    let chart = || Chart::of(&file.world(), actions, states);
    let text = match args.format {
        Format::Mermaid => mermaid(&chart(), &file.story),
        Format::Svg => svg(&chart(), &file.story),
        Format::Dot => dot(actions, states, &file.story),
        Format::Itf => pretty(&itf(&file, actions, states))?,
        Format::Json => pretty(&json(&file, actions, states))?,
    };
    say(&text)?;
    Ok(Exit::AsExpected)
}

fn pretty(value: &serde_json::Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Failure::Internal(error.to_string()))
}
