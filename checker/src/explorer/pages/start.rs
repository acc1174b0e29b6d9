//! The start page: the scenarios, the ledger of mutants and the saved traces.

use super::{encode, page, rules};
use crate::explorer::ModelName;
use crate::explorer::saved::Listed;
use axum::response::Html;
use fencepost_spec::mutants::{Expect, MUTANTS, Mutant, Plan};
use fencepost_spec::properties::Id;
use fencepost_spec::scenario::{self, CATALOGUE, Entry, Profile};
use fencepost_spec::trace::{self, TraceFile};
use maud::{Markup, html};

/// The page.
pub fn start(saved: &[Listed]) -> Html<String> {
    let body = html! {
        body.start {
            header {
                h1 { "Fencepost" }
                p { "Kafka transactions, step by step: open a scenario at its start, or a "
                    "counterexample at its last step, and walk back and forth." }
                input #filter type="search" placeholder="Filter: a scenario, a property, a bug …"
                    aria-label="Filter" autofocus;
                nav {
                    a href="#scenarios" { "Scenarios" span.count { (CATALOGUE.len()) } }
                    a href="#mutants" { "Mutants" span.count { (MUTANTS.len()) } }
                    a href="#traces" { "Saved traces" span.count { (saved.len()) } }
                }
            }
            main {
                (scenarios())
                (mutants())
                (traces(saved))
            }
        }
    };
    page("Explorer", &["/assets/start.js"], &body)
}

fn scenarios() -> Markup {
    html! {
        section #scenarios {
            h2 { "Scenarios" }
            p.hint { "Each opens at its first state. A property behind the rules is one that these "
                "rules are known to break: it opens at the end of the shortest way there." }
            table {
                thead { tr { th { "Scenario" } th { "What it is about" } th { "Rules" } th { "Runs in" } } }
                tbody { @for entry in CATALOGUE { (scenario_row(entry)) } }
            }
        }
    }
}

fn scenario_row(entry: &'static Entry) -> Markup {
    let profile = match entry.profile {
        Profile::Default => "default",
        Profile::Nightly => "nightly",
        Profile::Named => "by name",
    };
    html! {
        tr {
            th scope="row" { (entry.name) }
            td { (entry.says) }
            td.links {
                @for (set, broken) in entry.runs {
                    @let model = ModelName::of((entry, *set), None);
                    div {
                        a.open href=(model.page()) { (rules(*set)) }
                        @for id in *broken { (property(model, *id)) }
                    }
                }
            }
            td.dim { (profile) }
        }
    }
}

fn mutants() -> Markup {
    html! {
        section #mutants {
            h2 { "Mutants" }
            p.hint { "Known bugs, each put into the right rules. A property opens the shortest "
                "counterexample at its last step." }
            table {
                thead { tr { th { "Mutant" } th { "What is wrong in it" } th { "Judged in" } th { "Bug" } } }
                tbody { @for mutant in MUTANTS { (mutant_row(mutant)) } }
            }
        }
    }
}

fn mutant_row(mutant: &'static Mutant) -> Markup {
    html! {
        tr {
            th scope="row" { (mutant.id) }
            td { (mutant.says) }
            td.links { @for plan in mutant.plans { (plan_row(mutant, plan)) } }
            td.dim { (mutant.bug) }
        }
    }
}

fn plan_row(mutant: &'static Mutant, plan: &'static Plan) -> Markup {
    let Some(entry) = scenario::find(plan.scenario) else {
        return html! { div { (plan.scenario) } };
    };
    let model = ModelName::of((entry, plan.rules), Some(mutant));
    html! {
        div {
            a.open href=(model.page()) { (plan.scenario) " " (rules(plan.rules)) }
            @match &plan.expect {
                Expect::Killed(id) => (property(model, *id)),
                Expect::Expected { breaks, why } => {
                    (property(model, *breaks))
                    span.dim title=(why) { "known limit" }
                }
                Expect::Equivalent { masked_by, .. } => {
                    span.dim title={ "masked by " (masked_by) } { "equivalent" }
                }
                Expect::Pending { why } => span.dim title=(why) { "pending" },
            }
        }
    }
}

fn property(model: ModelName, id: Id) -> Markup {
    html! {
        a.broken href=(model.at(id)) title={ (id.row().name) ": " (id.row().says) } { (id.name()) }
    }
}

fn traces(saved: &[Listed]) -> Markup {
    html! {
        section #traces {
            h2 { "Saved traces" }
            @if saved.is_empty() {
                p.hint { "There is none under this folder. " code { "fencepost check --traces DIR" }
                    " saves counterexamples, and " code { "fencepost explore --traces DIR" } " lists them." }
            } @else {
                p.hint { "Each opens at its last step." }
                table {
                    thead { tr { th { "Trace" } th { "What it tells" } th { "Where" } th { "Shows" } } }
                    tbody { @for trace in saved { (trace_row(trace)) } }
                }
            }
        }
    }
}

fn trace_row(listed: &Listed) -> Markup {
    let (folder, name) = listed.name.rsplit_once('/').unwrap_or(("", &listed.name));
    html! {
        tr {
            @match &listed.file {
                Ok(file) => {
                    th scope="row" {
                        a.open href={ "/trace/" (encode(&listed.name)) } title=(listed.name) {
                            (name.trim_end_matches(".trace"))
                        }
                        div.dim { (folder) }
                    }
                    td { (file.story) }
                    td { (file.scenario.name) " " (rules(file.rules))
                        @if let Some(mutant) = file.mutant { " " (mutant.id) } }
                    td { (shows(file)) }
                }
                Err(why) => {
                    th scope="row" { (name) div.dim { (folder) } }
                    td.dim colspan="3" { (why) }
                }
            }
        }
    }
}

fn shows(file: &TraceFile) -> Markup {
    html! {
        @match &file.expect {
            trace::Expect::Holds => span.dim { "holds" },
            trace::Expect::Violates(ids) => @for id in ids {
                span.broken title=(id.row().says) { (id.name()) }
            },
            trace::Expect::Witness(id) => span.dim { "reaches " (id.name()) },
            trace::Expect::Lasso(id, _) => {
                span.broken title=(id.row().says) { (id.name()) }
                span.dim { " for ever" }
            }
        }
    }
}
