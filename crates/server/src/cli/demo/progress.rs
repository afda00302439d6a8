//! What is shown on stderr while a demonstration runs: a picture that lives on a terminal, a few plain
//! lines elsewhere.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The live picture: how much is left, and what the crowd is told.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins with everything left of `total`.
    pub(super) fn new(what: &'static str, total: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { bar: None };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} {bar:50.green/black} {pos} of {len} left\n{msg}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        }
        bar.set_prefix(what);
        bar.set_position(total);
        Self { bar: Some(bar) }
    }

    /// A line that stays.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) if !bar.is_finished() => bar.println(text),
            // Where stderr is gone there is nobody left to tell.
            _ => drop(writeln!(std::io::stderr(), "{text}")),
        }
    }

    /// What is left now, and a line about it.
    pub(super) fn show(&self, left: u64, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(left);
            bar.set_message(text());
        }
    }

    /// Takes the picture away; the lines stay.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
