//! `fencepost explore` over HTTP, without a browser.

mod hostile;
mod pages;
#[cfg(target_os = "linux")]
mod processes;
mod server;
