//! Our pages.

mod model;
mod problem;
mod start;

pub use model::model;
pub use problem::Problem;
pub use start::start;

use axum::response::Html;
use fencepost_spec::scenario::RuleSet;
use maud::{DOCTYPE, Markup, html};

/// A page with its head.
fn page(title: &str, scripts: &[&str], body: &Markup) -> Html<String> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Fencepost" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/assets/style.css";
                @for script in scripts {
                    script src=(script) defer {}
                }
            }
            (body)
        }
    };
    Html(markup.into_string())
}

/// A rule set as people write it.
fn rules(set: RuleSet) -> &'static str {
    match set {
        RuleSet::Tv1 => "TV1",
        RuleSet::Tv2 => "TV2",
        RuleSet::Upgrade => "upgrade",
    }
}

/// A text as part of an address.
pub fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    text.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_would_read_otherwise_is_encoded() {
        assert_eq!(encode("a/S1_x.trace"), "a/S1_x.trace");
        assert_eq!(encode("a b?#%é"), "a%20b%3F%23%25%C3%A9");
    }
}
