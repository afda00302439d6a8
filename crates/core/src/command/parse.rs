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

/// The rows by name, for lookup.
static BY_NAME: LazyLock<Vec<(&'static [u8], &'static CommandSpec)>> = LazyLock::new(|| {
    let mut rows: Vec<_> = COMMANDS.iter().map(|spec| (spec.name.as_bytes(), *spec)).collect();
    rows.sort_unstable_by_key(|(name, _)| *name);
    rows
});

/// The table's row of a command name, ignoring case.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    let mut upper = [0; NAME_BYTES_MAX];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name);
    upper.make_ascii_uppercase();
    let rows = &*BY_NAME;
    rows.binary_search_by(|(known, _)| (*known).cmp(upper)).ok().map(|at| rows[at].1)
}

impl Command {
    /// Reads the words after a command's name.
    ///
    /// # Errors
    /// When an argument is missing, superfluous or malformed; the error names it.
    pub fn parse(spec: &CommandSpec, words: &[&[u8]]) -> Result<(Self, Common), Invalid> {
        let mut common = Common::default();
        let mut command = Self::parse_as(spec.number, &mut Words::new(words), &mut common)?;
        check_shape(&mut command)?;
        if spec.common_options().is_empty() && common != Common::default() {
            let reason = format!("ID, DEADLINE and DURABILITY do not go with {}", spec.name);
            return Err(Invalid::new("option", reason));
        }
        Ok((command, common))
    }
}
