//! From words to commands: looking up a row of the table, and the options that all commands share.

use std::sync::LazyLock;

use super::argument::{Argument, Invalid, Words};
use super::shapes::check_shape;
use super::spec::CommandSpec;
use super::table::{COMMANDS, Command};
use super::{Common, Effect};
use crate::outcome::Durability;
use crate::types::{Natural, OperationId};

/// Reads a common option after its keyword.
pub(super) fn common_option(
    word: &[u8],
    words: &mut Words<'_>,
    common: &mut Common,
    effect: Effect,
) -> Result<(), Invalid> {
    let is = |option: &str| effect == Effect::Write && word.eq_ignore_ascii_case(option.as_bytes());
    if is("ID") {
        return once("ID", &mut common.operation, OperationId::take(words, "ID")?);
    }
    if is("DEADLINE") {
        return once("DEADLINE", &mut common.deadline, Natural::take(words, "DEADLINE")?.get());
    }
    if is("DURABILITY") {
        let level = Durability::parse(words.take("DURABILITY")?, "DURABILITY")?;
        return once("DURABILITY", &mut common.durability, level);
    }
    let shown: String = String::from_utf8_lossy(word).chars().filter(|c| !c.is_control()).take(32).collect();
    Err(Invalid::new("option", format!("'{shown}' is not an option of this command")))
}

fn once<T>(option: &'static str, kept: &mut Option<T>, given: T) -> Result<(), Invalid> {
    match kept.replace(given) {
        None => Ok(()),
        Some(_) => Err(Invalid::new(option, "is given twice")),
    }
}

/// The longest name of a command.
const NAME_BYTES_MAX: usize = 24;

/// A name in upper case, with zeros after it.
type Name = [u8; NAME_BYTES_MAX];

/// How many places the table of names has; a power of two, several times the number of commands.
const PLACES: usize = 512;

/// The rows by the hash of their name, each in its place or the next free one.
static BY_NAME: LazyLock<Vec<Option<(Name, &'static CommandSpec)>>> = LazyLock::new(|| {
    let mut places = vec![None; PLACES];
    for spec in COMMANDS {
        let name = upper(spec.name.as_bytes()).expect("no name of a command is longer than the longest");
        let mut at = place(&name);
        while places[at].is_some() {
            at = (at + 1) % PLACES;
        }
        places[at] = Some((name, *spec));
    }
    places
});

/// `None` for what is longer than any name.
fn upper(name: &[u8]) -> Option<Name> {
    let mut upper = [0; NAME_BYTES_MAX];
    upper.get_mut(..name.len())?.copy_from_slice(name);
    upper.make_ascii_uppercase();
    Some(upper)
}

fn place(name: &Name) -> usize {
    let (words, _) = name.as_chunks::<8>();
    let mixed = words.iter().fold(0_u64, |mixed, word| {
        (mixed.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed >> 55) as usize % PLACES
}

/// The table's row of a command name, ignoring case.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    let name = upper(name)?;
    let places = &*BY_NAME;
    let mut at = place(&name);
    while let Some((known, spec)) = &places[at] {
        if *known == name {
            return Some(spec);
        }
        at = (at + 1) % PLACES;
    }
    None
}

impl Command {
    /// Reads the words after a command's name.
    ///
    /// # Errors
    /// When an argument is missing, superfluous or malformed; the error names it.
    pub fn parse(spec: &CommandSpec, words: &[&[u8]]) -> Result<(Self, Common), Invalid> {
        let mut common = Common::default();
        let command = Self::parse_with(spec, words, &mut common)?;
        Ok((command, common))
    }

    /// The same, with the common options, which are not set yet, in `common`.
    #[inline]
    pub(super) fn parse_with(
        spec: &CommandSpec,
        words: &[&[u8]],
        common: &mut Common,
    ) -> Result<Self, Invalid> {
        let mut command = Self::parse_as(spec.number, &mut Words::new(words), common)?;
        check_shape(&mut command)?;
        if spec.common_options().is_empty() && *common != Common::default() {
            let reason = format!("ID, DEADLINE and DURABILITY do not go with {}", spec.name);
            return Err(Invalid::new("option", reason));
        }
        Ok(command)
    }
}
