//! What is shown on stderr while a demonstration runs: a picture that lives on a terminal, a few plain
//! lines elsewhere.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::proof::{grouped, is_color_wanted};

/// What the picture measures.
#[derive(Clone, Copy)]
pub(super) struct Gauge {
    pub(super) name: &'static str,
    pub(super) total: u64,
    /// What stands behind the figures, such as `left`.
    pub(super) unit: &'static str,
    /// How full it is at the beginning.
    pub(super) position: u64,
}

/// The live picture: a gauge, and what the crowd is told.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    unit: &'static str,
}

impl Progress {
    /// Begins with the gauge as it is.
    pub(super) fn new(Gauge { name, total, unit, position }: Gauge) -> Self {
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

    /// A line that stays: a word, and what it is about.
    pub(super) fn say(&self, word: &str, text: &str) {
        self.say_in(Style::new(), word, text);
    }

    /// A line that nobody is to miss; the gauge is red from now on.
    pub(super) fn alarm(&self, word: &str, text: &str) {
        self.color(AnsiColor::Red);
        self.say_in(Style::new().bold().fg_color(Some(AnsiColor::Red.into())), word, text);
    }

    /// All is well again.
    pub(super) fn relief(&self, word: &str, text: &str) {
        self.color(AnsiColor::Green);
        self.say_in(Style::new().bold().fg_color(Some(AnsiColor::Green.into())), word, text);
    }

    fn say_in(&self, style: Style, word: &str, text: &str) {
        let style = if std::io::stderr().is_terminal() && is_color_wanted() { style } else { Style::new() };
        let line = format!("{style}{word:<12}{style:#} {text}");
        match &self.bar {
            Some(bar) if !bar.is_finished() => bar.println(line),
            // Where stderr is gone there is nobody left to tell.
            _ => drop(writeln!(std::io::stderr(), "{line}")),
        }
    }

    /// How far the gauge stands now, and a line about it.
    pub(super) fn show(&self, picture: impl FnOnce() -> (u64, String)) {
        if let Some(bar) = &self.bar {
            let (position, text) = picture();
            bar.set_position(position);
            bar.set_message(text);
        }
    }

    /// Takes the picture away; the lines stay.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn figures(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let (position, total) = (state.pos(), state.len().unwrap_or(0));
    // A picture that cannot be drawn is not worth a word.
    let _ = write!(out, "{} of {}", grouped(position.min(total)), grouped(total));
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
