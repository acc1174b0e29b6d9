//! The page of a model: stateright's Explorer, with the steps, the chart and the state beside each
//! other. stateright's script (`app.js`) walks; what is bound here is its view model.

use super::{encode, page, rules};
use crate::explorer::ModelName;
use crate::explorer::walk::Told;
use axum::response::Html;
use fencepost_spec::properties::Id;
use maud::{Markup, html};

/// In this order: ours makes ready what stateright's needs.
const SCRIPTS: [&str; 3] = ["knockout-3.5.0.js", "/assets/model.js", "app.js"];

/// The page, with the property whose counterexample or the trace that it was opened for.
pub fn model(model: ModelName, property: Option<Id>, trace: Option<&Told>) -> Html<String> {
    let lasso = trace.and_then(|told| told.lasso.as_ref());
    let body = html! {
        body.model data-repeats=[lasso.map(|lasso| lasso.from)] data-places=[lasso.map(|lasso| &lasso.places)] {
            (head(model, property, trace))
            p #problem hidden role="alert" {}
            main data-bind="css: { waiting: Fencepost.waiting }" {
                nav.steps { (steps()) }
                section.chart { (chart()) }
                section.change { (change()) }
                section.state { (state()) }
            }
        }
    };
    page(&model.title(), &SCRIPTS, &body)
}

fn head(model: ModelName, property: Option<Id>, trace: Option<&Told>) -> Markup {
    let (entry, set) = model.run;
    html! {
        header {
            a.home href="/" { "Fencepost" }
            h1 { (entry.name) " " span { (rules(set)) }
                @if let Some(mutant) = model.mutant { " " span.broken { (mutant.id) } } }
            p.about {
                @if let Some(told) = trace {
                    (told.file.story) " " a href={ "/trace/" (encode(&told.name)) } { (told.name) }
                } @else if let Some(id) = property {
                    b { (id.name()) " " (id.row().name) ": " } (id.row().says)
                } @else if let Some(mutant) = model.mutant {
                    (mutant.says)
                } @else {
                    (entry.says)
                }
            }
            p.ways {
                @for id in model.known_broken() {
                    a.broken href=(model.at(id)) title={ "The shortest counterexample of " (id.row().name) } {
                        (id.name())
                    }
                }
            }
        }
    }
}

fn steps() -> Markup {
    html! {
        div.bar {
            button #back type="button" title="One step back (←)" { "← Back" }
            button #forth type="button" title="One step forth (→)" { "Forth →" }
            span #where data-bind="text: Fencepost.where()" {}
        }
        ol data-bind="foreach: Fencepost.path()" {
            li {
                a href="#" data-bind="attr: { href: uri, 'aria-current': chosen ? 'step' : null },
                    css: { ahead: ahead, repeats: repeats }" {
                    span { b data-bind="text: actor" {} " " span data-bind="text: says" {} }
                    small data-bind="text: values" {}
                }
            }
        }
        p.again data-bind="visible: Fencepost.again().text" {
            a href="#" data-bind="attr: { href: Fencepost.again().uri }, text: Fencepost.again().text" {}
        }
        h2 { "What can follow" }
        p.hint data-bind="visible: Fencepost.isEnd()" { "Nothing: the run ends here." }
        ul data-bind="foreach: Fencepost.next()" {
            li {
                a href="#" data-bind="attr: { href: uri }" {
                    span { b data-bind="text: actor" {} " " span data-bind="text: says" {} }
                    small data-bind="text: values" {}
                }
            }
        }
    }
}

fn chart() -> Markup {
    html! {
        h2 { "The way here" }
        div #chart data-bind="html: selectedStep().svg" {}
    }
}

fn change() -> Markup {
    html! {
        h2 { "What the last step changed" }
        ul data-bind="foreach: Fencepost.outcome()" {
            li data-bind="css: kind, text: text" {}
        }
        p.hint data-bind="visible: Fencepost.outcome().length === 0, text: Fencepost.unchanged()" {}
    }
}

fn state() -> Markup {
    html! {
        h2 { "The state" }
        div.actors data-bind="foreach: Fencepost.actors()" {
            section data-bind="css: { violated: name === 'violated' }" {
                h3 data-bind="text: name" {}
                dl data-bind="foreach: facts" {
                    div data-bind="css: kind" {
                        dt data-bind="text: field, css: { alone: value === '' }" {}
                        dd {
                            del data-bind="text: before, visible: before !== null" {}
                            " "
                            span data-bind="text: value" {}
                        }
                    }
                }
            }
        }
    }
}
