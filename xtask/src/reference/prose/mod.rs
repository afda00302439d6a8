//! The texts around the tables' contents, in each language.

mod chinese;
mod english;

use scarce_api::glossary::Language;

/// The texts in a language.
pub fn of(language: Language) -> &'static Prose {
    match language {
        Language::English => &english::PROSE,
        Language::Chinese => &chinese::PROSE,
    }
}

/// Titles, introductions and labels.
pub struct Prose {
    pub commands_title: &'static str,
    pub commands_introduction: &'static str,
    pub access_title: &'static str,
    pub access_introduction: &'static str,
    pub glossary_title: &'static str,
    pub glossary_introduction: &'static str,
    pub name: &'static str,
    /// Where a name has this meaning.
    pub scope: &'static str,
    pub command: &'static str,
    pub resource_kind: &'static str,
    pub codes_title: &'static str,
    pub codes_introduction: &'static str,
    pub events_title: &'static str,
    pub events_introduction: &'static str,
    /// After a group's name in a heading, with a space before it.
    pub group_suffix: &'static str,
    pub changes_nothing: &'static str,
    pub argument: &'static str,
    pub written: &'static str,
    pub needed: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
    pub answer: &'static str,
    pub an_array: &'static str,
    pub a_map: &'static str,
    pub value: &'static str,
    pub outcomes: &'static str,
    pub common_checks: &'static str,
    pub events: &'static str,
    pub number: &'static str,
    pub code: &'static str,
    pub kind: &'static str,
    pub retryable: &'static str,
    pub facts: &'static str,
    pub fact: &'static str,
    pub cause: &'static str,
    pub advice: &'static str,
    pub again: &'static str,
    pub over_resp: &'static str,
    pub over_http: &'static str,
    pub answered_by: &'static str,
    pub event: &'static str,
    pub what_happened: &'static str,
    pub field: &'static str,
    pub public: &'static str,
    pub no_fields: &'static str,
    pub made_by: &'static str,
    pub made_by_time: &'static str,
    pub made_by_any: &'static str,
    /// Between a label and its text.
    pub colon: &'static str,
    /// Between the parts of a sentence.
    pub comma: &'static str,
}
