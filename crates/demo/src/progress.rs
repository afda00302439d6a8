//! Progress on stderr while a demonstration runs: live on a terminal, a few plain lines elsewhere.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::proof::{grouped, is_color_wanted};

/// The quantity that the gauge shows.
#[derive(Clone, Copy)]
pub(super) struct Gauge {
    pub(super) name: &'static str,
    pub(super) total: u64,
    /// The label behind the numbers, such as `left`.
    pub(super) unit: &'static str,
    /// The initial position.
    pub(super) position: u64,
    /// The page of the console that shows it.
    pub(super) page: &'static str,
}

/// The live display: a gauge, and what the crowd is told.
pub(super) struct ProgressDisplay {
    bar: Option<ProgressBar>,
    unit: &'static str,
}

impl ProgressDisplay {
    /// Starts with the gauge as given.
    pub(super) fn new(Gauge { name, total, unit, position, .. }: Gauge) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { bar: None, unit };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        bar.set_prefix(name);
        bar.set_position(position);
        let progress = Self { bar: Some(bar), unit };
        progress.color(AnsiColor::Green);
        progress
    }

    fn color(&self, color: AnsiColor) {
        let Some(bar) = &self.bar else { return };
        let color = match color {
            _ if !is_color_wanted() => "",
            AnsiColor::Red => ".red",
            _ => ".green/black",
        };
        let unit = self.unit;
        let template = format!(
            "{{prefix}} {{bar:40{color}}} {{figures}} {unit}
{{wide_msg}}"
        );
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let style = style.with_key("figures", figures).progress_chars("█▉▊▋▌▍▎▏ ");
            bar.set_style(style);
            bar.tick();
        }
    }

    /// Prints a permanent line: a keyword and a text.
    pub(super) fn say(&self, word: &str, text: &str) {
        self.say_in(Style::new(), word, text);
    }

    /// Prints a warning line; the gauge is red from now on.
    pub(super) fn alarm(&self, word: &str, text: &str) {
        self.color(AnsiColor::Red);
        self.say_in(Style::new().bold().fg_color(Some(AnsiColor::Red.into())), word, text);
    }

    /// Ends the alarm.
    pub(super) fn relief(&self, word: &str, text: &str) {
        self.color(AnsiColor::Green);
        self.say_in(Style::new().bold().fg_color(Some(AnsiColor::Green.into())), word, text);
    }

    fn say_in(&self, style: Style, word: &str, text: &str) {
        let style = if std::io::stderr().is_terminal() && is_color_wanted() { style } else { Style::new() };
        let line = format!("{style}{word:<12}{style:#} {text}");
        match &self.bar {
            Some(bar) if !bar.is_finished() => bar.println(line),
            // If stderr is gone, there is nobody left to tell.
            _ => drop(writeln!(std::io::stderr(), "{line}")),
        }
    }

    /// Updates the gauge and the line below it.
    pub(super) fn show(&self, picture: impl FnOnce() -> (u64, String)) {
        if let Some(bar) = &self.bar {
            let (position, text) = picture();
            bar.set_position(position);
            bar.set_message(text);
        }
    }

    /// Removes the live display; the lines stay.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn figures(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let (position, total) = (state.pos(), state.len().unwrap_or(0));
    // A display that cannot be drawn is not worth an error.
    let _ = write!(out, "{} of {}", grouped(position.min(total)), grouped(total));
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.end();
    }
}
