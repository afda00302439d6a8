//! The meaning of every name in the tables of Scarce, in English and Chinese: arguments, values of
//! answers, facts of codes, fields of events, and the fields of the shapes in JSON.
//!
//! Documents, `scarce explain` and the HTTP port's description use it.

mod answers;
mod summaries;
mod term;
mod terms;

pub mod shapes;

pub use answers::{Again, answered_beside, commands_of, kind, resp_form};
pub use scarce_core::language::{Language, Text};
pub use summaries::{command_summary, event_summary};
pub use term::{Term, Unit};
pub use terms::all;

use scarce_core::command::COMMANDS;
use scarce_core::outcome::Code;

/// The meaning of a name without a more specific scope. A `#` before the name of a field that is never
/// public is ignored.
#[must_use]
pub fn term(name: &str) -> Option<&'static Term> {
    find("", name)
}

/// The meaning of a name in a command, an event, a code, a shape of JSON, or a group of commands, each
/// given by its name (`STOCK.RESERVATION`, `reservation.placed`, `SOLD_OUT`, `fill`, `STOCK`). Falls back
/// to its group, then to the general meaning.
#[must_use]
pub fn term_in(scope: &str, name: &str) -> Option<&'static Term> {
    find(scope, name).or_else(|| group_of(scope).and_then(|group| find(group, name))).or_else(|| term(name))
}

fn find(scope: &str, name: &str) -> Option<&'static Term> {
    let name = name.strip_prefix('#').unwrap_or(name);
    all().find(|term| term.name == name && term.scope == scope)
}

/// The group of commands to which a command, an event or a code belongs. Shapes and codes of several
/// groups have none.
#[must_use]
pub fn group_of(scope: &str) -> Option<&'static str> {
    let prefix = scope.split('.').next().unwrap_or_default();
    if let Some(spec) = COMMANDS.iter().find(|spec| spec.group() == prefix) {
        return Some(spec.group());
    }
    match prefix {
        "account" | "hold" => Some("ACCOUNT"),
        "stock" | "reservation" => Some("STOCK"),
        "packets" => Some("PACKET"),
        "coupon" => Some("COUPON"),
        "market" => Some("MARKET"),
        "order" => Some("ORDER"),
        "operation" => Some("OPERATION"),
        _ => group_of_code(scope),
    }
}

/// The group of all commands that return a code, if there is only one.
fn group_of_code(word: &str) -> Option<&'static str> {
    let code = Code::from_word(word)?;
    let mut groups = COMMANDS.iter().filter(|spec| spec.refusals.contains(&code)).map(|spec| spec.group());
    let first = groups.next()?;
    groups.all(|group| group == first).then_some(first)
}
