//! A program at its own terminal, as a user sees it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The timeout of tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// The output so far, and a signal for new output.
type Screen = Arc<(Mutex<String>, Condvar)>;

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
        let keyboard = File::from(master);
        let screen = Screen::default();
        watch(keyboard.try_clone().expect("a second handle"), screen.clone());
        Self { child, keyboard, screen, seen: 0 }
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
            if let Some(at) = guard[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let until = guard[self.seen..end].to_owned();
                self.seen = end;
                return until;
            }
            assert!(Instant::now() < deadline, "no '{text}' in {:?}", &guard[self.seen..]);
            guard = changed.wait_timeout(guard, Duration::from_millis(100)).expect("no panic").0;
        }
    }

    /// Waits for the end, and returns the exit code.
    pub fn wait_code(mut self) -> Option<i32> {
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
        while let Ok(count) = terminal.read(&mut bytes) {
            if count == 0 {
                break;
            }
            let (shown, changed) = &*screen;
            shown.lock().expect("no panic").push_str(&String::from_utf8_lossy(&bytes[..count]));
            changed.notify_all();
        }
    });
}
