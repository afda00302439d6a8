//! The line editor: history, completion, hints.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::super::paint::{Paint, Tone};
use super::outlook;
use super::words::split;

/// An entered line, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// One or more lines.
    Text(String),
    /// The input was discarded.
    Nothing,
    /// The input has ended.
    End,
}

/// Reads lines from a terminal.
pub(super) struct Reader {
    editor: Editor<Guide, FileHistory>,
    history: Option<PathBuf>,
}

impl Reader {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// When there is no terminal.
    pub(super) fn open(paint: Paint) -> std::io::Result<Self> {
        let config =
            Config::builder().completion_type(CompletionType::List).history_ignore_space(true).build();
        let mut editor = Editor::with_config(config).map_err(std::io::Error::other)?;
        editor.set_helper(Some(Guide { paint, prompt_width: 0 }));
        let history = history_path();
        if let Some(path) = &history {
            // There is no history on first use, and a broken one is not worth a failure.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// The next line.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn read(&mut self, prompt: &str) -> std::io::Result<Entered> {
        if let Some(guide) = self.editor.helper_mut() {
            guide.prompt_width = prompt.chars().count();
        }
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.remember(&text);
                Ok(Entered::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Entered::Nothing),
            Err(ReadlineError::Eof) => Ok(Entered::End),
            Err(error) => Err(std::io::Error::other(error)),
        }
    }

    fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || tells_a_password(text) {
            return;
        }
        // A history that cannot be saved is no reason to stop.
        let added = self.editor.add_history_entry(text).unwrap_or(false);
        if let Some(path) = self.history.as_ref().filter(|_| added) {
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = self.editor.append_history(path);
        }
    }
}

/// Whether a line contains a password and must not be saved.
fn tells_a_password(text: &str) -> bool {
    text.split_whitespace().any(|word| word.eq_ignore_ascii_case("AUTH"))
}

/// `$XDG_STATE_HOME/scarce/history`, or the default path in the home directory.
fn history_path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("scarce").join("history"))
}

/// Completion and hints during typing.
struct Guide {
    paint: Paint,
    prompt_width: usize,
}

impl Guide {
    /// Cuts a hint to the row: overflowing text would remain on screen when lists are shown.
    fn cut(&self, hint: String, line: &str) -> Option<String> {
        let columns = columns();
        let used = (self.prompt_width + line.chars().count()) % columns;
        let room = columns - used - 1;
        match hint.chars().count() <= room {
            true => Some(hint),
            false => Some(hint.chars().take(room.checked_sub(1)?).chain(['…']).collect()),
        }
    }
}

/// The assumed width of a terminal that does not report it.
const COLUMNS_USUAL: usize = 80;

fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(COLUMNS_USUAL)
}

/// A hint for display only: it names arguments, which must not be inserted.
struct Aside(String);

impl Hint for Aside {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Completer for Guide {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, candidates) = outlook::candidates(&line[..pos]);
        let width = candidates.iter().map(|candidate| candidate.word.len()).max().unwrap_or(0);
        let is_only = candidates.len() == 1;
        let pairs = candidates.into_iter().map(|candidate| Pair {
            display: format!("{:<width$}  {}", candidate.word, candidate.about),
            replacement: if is_only { format!("{} ", candidate.word) } else { candidate.word.to_owned() },
        });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for Guide {
    type Hint = Aside;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Aside> {
        // There is no room for a hint if text follows the cursor.
        let hint = (pos == line.len()).then(|| outlook::hint(line)).flatten()?;
        self.cut(hint, line).map(Aside)
    }
}

impl Highlighter for Guide {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _default: bool) -> Cow<'b, str> {
        Cow::Owned(self.paint.paint(Tone::Name, prompt).to_string())
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        let tone = if hint.contains('✗') { Tone::Bad } else { Tone::Aside };
        Cow::Owned(self.paint.paint(tone, hint).to_string())
    }

    fn highlight_char(&self, _line: &str, _pos: usize, kind: CmdKind) -> bool {
        kind == CmdKind::ForcedRefresh
    }
}

impl Validator for Guide {
    /// An open quote continues on the next line.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_open = split(context.input()).is_err();
        Ok(if is_open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Guide {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_written_down() {
        assert!(tells_a_password("AUTH opensesame") && tells_a_password("hello 3 auth default opensesame"));
        assert!(!tells_a_password("STOCK.TAKE author 1 u"));
    }
}
