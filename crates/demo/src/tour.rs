//! `--open`: the console beside a demonstration, in a browser where this machine has a screen.

use std::net::SocketAddr;

use super::progress::ProgressDisplay;

/// What says that there is a screen.
const SCREENS: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// The address of a page of the console.
pub(super) fn address(http: SocketAddr, page: &str) -> String {
    format!("http://{http}/console/#/{page}")
}

/// Opens a page of the console; where there is no screen, or no browser starts, its address is all that is told.
pub(super) fn open(progress: &ProgressDisplay, address: &str) {
    progress.say("console", address);
    let has_screen = SCREENS.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !has_screen {
        return;
    }
    if let Err(error) = open::that_detached(address) {
        progress.say("", &format!("no browser could be started ({error}); open the address yourself"));
    }
}
