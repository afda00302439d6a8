//! Colors, if the output is a terminal and the user allows them.

use std::fmt;
use std::io::IsTerminal;

use anstyle::{AnsiColor, Color, Effects, Style};

/// The meaning of a highlighted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// As it should be.
    Good,
    /// Needs attention.
    Warning,
    /// Wrong.
    Bad,
    /// Secondary.
    Aside,
    /// Names of things.
    Name,
}

/// Colors texts, or leaves them as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paint {
    is_colored: bool,
}

impl Paint {
    /// Leaves everything as it is.
    #[cfg(test)]
    pub(super) const PLAIN: Self = Self { is_colored: false };

    /// For the output `stream`.
    pub(super) fn for_stream(stream: &impl IsTerminal) -> Self {
        let is_forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { is_colored: !is_forbidden && stream.is_terminal() }
    }

    /// A text in a tone.
    pub(super) fn paint<T: fmt::Display>(self, tone: Tone, text: T) -> impl fmt::Display {
        let color = |color: AnsiColor| Style::new().fg_color(Some(Color::from(color)));
        let style = match tone {
            _ if !self.is_colored => Style::new(),
            Tone::Good => color(AnsiColor::Green),
            Tone::Warning => color(AnsiColor::Yellow),
            Tone::Bad => color(AnsiColor::Red),
            Tone::Aside => color(AnsiColor::BrightBlack),
            Tone::Name => Style::new().effects(Effects::BOLD),
        };
        format!("{style}{text}{style:#}")
    }
}
