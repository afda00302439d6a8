//! Splits a line into words, quoted as in redis-cli.

use std::ops::Range;

/// A word and its position in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The word without its quotes.
    pub(super) text: String,
    /// Its byte range in the line, including quotes.
    pub(super) place: Range<usize>,
}

/// An unclosed quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed;

/// The words of a line. Double quotes know `\n`, `\r`, `\t`, `\"` and `\\`; single quotes know `\'`.
///
/// # Errors
/// When a quote is not closed.
pub(super) fn split(line: &str) -> Result<Vec<Word>, Unclosed> {
    let mut words = Vec::new();
    let mut letters = line.char_indices().peekable();
    while let Some(&(start, letter)) = letters.peek() {
        if letter.is_whitespace() {
            letters.next();
            continue;
        }
        let (mut text, mut quote) = (String::new(), None);
        let mut end = line.len();
        while let Some(&(at, letter)) = letters.peek() {
            if quote.is_none() && letter.is_whitespace() {
                end = at;
                break;
            }
            letters.next();
            match (quote, letter) {
                (None, '"' | '\'') => quote = Some(letter),
                (Some(open), letter) if open == letter => quote = None,
                (Some(open), '\\') => match (open, letters.next().map(|(_, letter)| letter)) {
                    ('"', Some('n')) => text.push('\n'),
                    ('"', Some('r')) => text.push('\r'),
                    ('"', Some('t')) => text.push('\t'),
                    ('"', Some(escaped @ ('"' | '\\'))) | ('\'', Some(escaped @ '\'')) => text.push(escaped),
                    (_, Some(other)) => text.extend(['\\', other]),
                    (_, None) => return Err(Unclosed),
                },
                (_, letter) => text.push(letter),
            }
        }
        if quote.is_some() {
            return Err(Unclosed);
        }
        words.push(Word { text, place: start..end });
    }
    Ok(words)
}

/// The commands of a multi-line text: no empty lines, no comments. A quote may span lines.
///
/// # Errors
/// When a quote is not closed.
pub(super) fn commands(text: &str) -> Result<Vec<Vec<String>>, Unclosed> {
    let mut commands = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        if open.is_empty() && line.trim_start().starts_with('#') {
            continue;
        }
        open.push_str(line);
        match split(&open) {
            Ok(words) => {
                commands.push(words.into_iter().map(|word| word.text).collect::<Vec<_>>());
                open.clear();
            }
            Err(Unclosed) => open.push('\n'),
        }
    }
    commands.retain(|words| !words.is_empty());
    if open.is_empty() { Ok(commands) } else { Err(Unclosed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        split(line).expect("closed").into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(texts("  a  b\tc "), ["a", "b", "c"]);
        assert_eq!(
            texts(r#"REASON "two words" 'it\'s' "a\"b\n" c:\d"#),
            ["REASON", "two words", "it's", "a\"b\n", r"c:\d"]
        );
        assert_eq!(texts(r#""" x"y z""#), ["", "xy z"]);
        assert_eq!(split("a \"b"), Err(Unclosed));
        assert_eq!(split("a \"b\\"), Err(Unclosed));
        assert_eq!(split(" ab \"c\"").expect("closed")[1].place, 4..7);
    }

    #[test]
    fn several_lines_are_several_commands() {
        let text = "# a comment\nPING\n\nECHO \"one\ntwo\"\n  MULTI  ";
        assert_eq!(
            commands(text),
            Ok(vec![
                vec!["PING".to_owned()],
                vec!["ECHO".to_owned(), "one\ntwo".to_owned()],
                vec!["MULTI".to_owned()],
            ])
        );
        assert_eq!(commands("ECHO \"a\nb"), Err(Unclosed));
    }
}
