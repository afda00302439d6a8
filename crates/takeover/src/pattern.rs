//! Names of keys with places that are captured, such as `stock:{sku}`, and texts that captures are put into.

use std::fmt;

/// What a place was captured as, by its name.
pub type Captures = Vec<(String, String)>;

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// This text.
    Text(String),
    /// One character or more, captured under a name; colons only if it is said so.
    Place { name: String, has_colons: bool },
}

/// A name of keys, or a text, with places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    source: String,
    pieces: Vec<Piece>,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Pattern {
    /// Reads `text {name} text {name*} {{ }}`: a place, one that may have colons, and braces that are meant as such.
    ///
    /// # Errors
    /// What is wrong with it, to follow its name.
    pub fn parse(source: &str) -> Result<Self, String> {
        let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), source);
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix(brace) {
                text.push_str(brace);
                rest = behind;
                continue;
            }
            let name = (brace == "{").then(|| rest.split_once('}')).flatten();
            let (name, behind) =
                name.ok_or("has a brace without its partner; write {{ or }} for a brace that is meant")?;
            pieces.extend((!text.is_empty()).then(|| Piece::Text(std::mem::take(&mut text))));
            pieces.push(Piece::place(name)?);
            rest = behind;
        }
        text.push_str(rest);
        pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
        let touches = |pair: &[Piece]| pair.iter().all(|piece| matches!(piece, Piece::Place { .. }));
        if pieces.windows(2).any(touches) {
            return Err("has two places with nothing between them".to_owned());
        }
        Ok(Self { source: source.to_owned(), pieces })
    }

    /// The names of its places.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Place { name, .. } => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// What a text has in the places, if it is as the pattern. The first places take as little as they can.
    #[must_use]
    pub fn captures(&self, text: &str) -> Option<Captures> {
        let mut captured = Captures::new();
        matches(&self.pieces, text, &mut captured).then_some(captured)
    }

    /// The text with values in its places.
    ///
    /// # Errors
    /// Why a place has no value.
    pub fn fill(&self, value: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Place { name, .. } => filled.push_str(&value(name)?),
            }
        }
        Ok(filled)
    }
}

impl Piece {
    fn place(name: &str) -> Result<Self, String> {
        let (name, has_colons) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(format!(
                "has a place '{{{name}}}' whose name is not made of letters, digits, _, - and ."
            ));
        }
        Ok(Self::Place { name: name.to_owned(), has_colons })
    }
}

fn matches(pieces: &[Piece], text: &str, captured: &mut Captures) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return text.is_empty() };
    match first {
        Piece::Text(piece) => {
            text.strip_prefix(piece.as_str()).is_some_and(|text| matches(rest, text, captured))
        }
        Piece::Place { name, has_colons } => {
            let ends = text.char_indices().map(|(at, one)| (at + one.len_utf8(), one));
            for (end, _) in ends.take_while(|(_, one)| *has_colons || *one != ':') {
                // Without more pieces only all of the text will do.
                if rest.is_empty() && end < text.len() {
                    continue;
                }
                captured.push((name.clone(), text[..end].to_owned()));
                if matches(rest, &text[end..], captured) {
                    return true;
                }
                captured.pop();
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(pattern: &str, text: &str) -> Option<Vec<String>> {
        let captures = Pattern::parse(pattern).unwrap().captures(text)?;
        Some(captures.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
    }

    #[test]
    fn places_are_captured_up_to_a_colon_unless_they_may_have_some() {
        for (pattern, text, expected) in [
            ("stock:{sku}", "stock:shoe", Some(vec!["sku=shoe"])),
            ("stock:{sku}", "stock:", None),
            ("stock:{sku}", "stock:shoe:taken", None),
            ("stock:{sku*}", "stock:shoe:taken", Some(vec!["sku=shoe:taken"])),
            ("{shop}:{sku}:left", "a:b:left", Some(vec!["shop=a", "sku=b"])),
            ("{shop*}:left", "a:left:left", Some(vec!["shop=a:left"])),
            ("{a}-{b}", "1-2-3", Some(vec!["a=1", "b=2-3"])),
            ("s{{{sku}}}", "s{x}", Some(vec!["sku=x"])),
            ("stock:{sku}", "stock:鞋", Some(vec!["sku=鞋"])),
            ("stock", "stock", Some(vec![])),
            ("stock", "stocks", None),
        ] {
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(captured(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_not_a_pattern_is_refused_with_the_reason() {
        for (pattern, reason) in [
            ("stock:{sku", "without its partner"),
            ("stock:sku}", "without its partner"),
            ("stock:{}", "whose name"),
            ("stock:{a b}", "whose name"),
            ("{a}{b}", "nothing between"),
        ] {
            let said = Pattern::parse(pattern).unwrap_err();
            assert!(said.contains(reason), "{pattern}: {said}");
        }
    }

    #[test]
    fn values_are_put_into_a_text() {
        let value = |name: &str| match name {
            "user.id" => Ok("alice".to_owned()),
            _ => Err(format!("no {name}")),
        };
        assert_eq!(Pattern::parse("u-{user.id}").unwrap().fill(value), Ok("u-alice".to_owned()));
        assert_eq!(Pattern::parse("{sku}").unwrap().fill(value), Err("no sku".to_owned()));
    }
}
