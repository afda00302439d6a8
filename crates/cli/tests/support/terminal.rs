//! A program at its own terminal, as a user sees it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The timeout of tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the program has written, and whether it has left the terminal.
#[derive(Default)]
struct Output {
    text: String,
    is_over: bool,
}

/// The output so far, and a signal for new output.
type Screen = Arc<(Mutex<Output>, Condvar)>;

/// A program that reads from and writes to a terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Screen,
    seen: usize,
}

impl Terminal {
    /// Starts a program at a new terminal.
    pub fn start(command: &mut Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("its other side");
        unlockpt(&master).expect("its other side");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let path = PathBuf::from(name.into_string().expect("text"));
        let side = || OpenOptions::new().read(true).write(true).open(&path).expect("its other side");
        let child = command
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .expect("it starts");
        // The terminal is at its end once nobody has its other side.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let keyboard = File::from(master);
        let screen = Screen::default();
        watch(keyboard.try_clone().expect("a second handle"), screen.clone());
        Self { child, keyboard, screen, seen: 0 }
    }

    /// Gives it a size, which a new terminal does not have.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).expect("a terminal");
    }

    /// Sends key strokes.
    pub fn send(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("typed");
    }

    /// Waits until a text appears after the last match, and returns the output up to it.
    pub fn expect(&mut self, text: &str) -> String {
        let (shown, changed) = &*self.screen;
        let deadline = Instant::now() + PATIENCE;
        let mut guard = shown.lock().expect("no panic");
        loop {
            if let Some(at) = guard.text[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let until = guard.text[self.seen..end].to_owned();
                self.seen = end;
                return until;
            }
            assert!(Instant::now() < deadline, "no '{text}' in {:?}", &guard.text[self.seen..]);
            guard = changed.wait_timeout(guard, Duration::from_millis(100)).expect("no panic").0;
        }
    }

    /// Waits for the end, and returns the exit code.
    pub fn wait_code(mut self) -> Option<i32> {
        let (shown, changed) = &*self.screen;
        let guard = shown.lock().expect("no panic");
        let (guard, wait) =
            changed.wait_timeout_while(guard, PATIENCE, |output| !output.is_over).expect("no panic");
        assert!(!wait.timed_out(), "it goes on after {:?}", &guard.text[self.seen..]);
        drop(guard);
        self.child.wait().expect("it ended").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Collects the output until the terminal is gone.
fn watch(mut terminal: File, screen: Screen) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4_096];
        let (shown, changed) = &*screen;
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            shown.lock().expect("no panic").text.push_str(&String::from_utf8_lossy(&bytes[..count]));
            changed.notify_all();
        }
        shown.lock().expect("no panic").is_over = true;
        changed.notify_all();
    });
}
