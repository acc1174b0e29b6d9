//! Who may ask: a browser that was sent to this machine by name.

use super::pages::Problem;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Nothing but our own scripts and styles; knockout makes functions of the bindings of a page.
const CONTENT: &str = "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; \
                       img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                       frame-ancestors 'none'";

/// Refuses a request that names another host, as a page elsewhere may have had its name resolved
/// to this machine, and one that a page elsewhere makes without going here. The rest is answered
/// with headers that let no other page in.
pub async fn guard(request: Request, next: Next) -> Response {
    let hosts = request.headers().get_all(header::HOST);
    let mut hosts = hosts.iter();
    let mut response = match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_loopback(host) && is_from_elsewhere(request.headers()) => {
            Problem::new(
                StatusCode::FORBIDDEN,
                "Another page may lead here, but not use what is here.",
            )
            .into_response()
        }
        (Some(host), None) if is_loopback(host) => next.run(request).await,
        (Some(_), None) => Problem::new(
            StatusCode::FORBIDDEN,
            "The Explorer answers only where it is called localhost or by a loopback address.",
        )
        .into_response(),
        (None, _) | (Some(_), Some(_)) => {
            Problem::new(StatusCode::BAD_REQUEST, "A request needs one Host header.")
                .into_response()
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether a page of another site asks for something that is no page: a search takes time.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let says = |name, value| headers.get(name).is_some_and(|given| given == value);
    says("sec-fetch-site", "cross-site") && !says("sec-fetch-mode", "navigate")
}

fn is_loopback(host: &HeaderValue) -> bool {
    let authority = host.to_str().ok().and_then(|text| text.parse().ok());
    let Some(authority): Option<Authority> = authority else {
        return false;
    };
    let host = authority.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = |address: IpAddr| address.is_loopback();
    !authority.as_str().contains('@')
        && (host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(loopback))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        let loopback = |host| is_loopback(&HeaderValue::from_static(host));
        for host in [
            "localhost",
            "LocalHost:3000",
            "127.0.0.1:3000",
            "127.9.9.9",
            "[::1]:3000",
        ] {
            assert!(loopback(host), "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com:3000",
            "127.0.0.1.example.com",
            "192.168.0.1",
            "0.0.0.0:3000",
            "me@localhost",
            "",
            "a b",
        ] {
            assert!(!loopback(host), "{host}");
        }
    }
}
