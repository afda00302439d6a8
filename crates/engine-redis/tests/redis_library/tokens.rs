//! The words of a text in Lua 5.1, as far as the rules need them.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Name,
    Keyword,
    Text,
    Number,
    Symbol,
}

/// A token, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    /// The text; of a string what is between its quotes.
    pub text: &'a str,
    pub line: usize,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Symbol | Kind::Keyword) && self.text == text
    }
}

const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil",
    "not", "or", "repeat", "return", "then", "true", "until", "while",
];

const SYMBOLS: [&str; 7] = ["...", "..", "==", "~=", "<=", ">=", "::"];

/// Splits a text into tokens.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let (kind, length, inner) = match first {
            _ if rest.starts_with("--[[") => (None, until(rest, "]]"), rest),
            _ if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len()), rest),
            _ if rest.starts_with("[[") => {
                let length = until(rest, "]]");
                (Some(Kind::Text), length, &rest[2..length - 2])
            }
            '"' | '\'' => {
                let length = quoted_length(rest, first);
                (Some(Kind::Text), length, &rest[1..length - 1])
            }
            _ if first.is_whitespace() => (None, first.len_utf8(), rest),
            _ if first.is_ascii_digit() => {
                let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '.');
                (Some(Kind::Number), length, &rest[..length])
            }
            _ if first.is_ascii_alphabetic() || first == '_' => {
                let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                let word = &rest[..length];
                (Some(if KEYWORDS.contains(&word) { Kind::Keyword } else { Kind::Name }), length, word)
            }
            _ => {
                let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                let length = symbol.map_or(first.len_utf8(), |symbol| symbol.len());
                (Some(Kind::Symbol), length, &rest[..length])
            }
        };
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: inner, line });
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// How long a text is up to the end of a word.
fn until(text: &str, word: &str) -> usize {
    text.find(word).map_or(text.len(), |at| at + word.len())
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// How long a string is with its quotes.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    panic!("a string does not end: {}", &text[..text.len().min(40)])
}
