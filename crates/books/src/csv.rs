//! Statements and counts as CSV.

use std::io::Read;

use crate::BookError;
use crate::day::Day;
use crate::map::{Columns, Kind, Map};
use crate::number::Numbers;
use crate::records::Records;
use crate::statement::{Draft, Line};
use crate::text::Utf8;

/// Where the columns of the map are in the file.
struct Places {
    date: Option<usize>,
    amount: Option<usize>,
    credit: Option<usize>,
    debit: Option<usize>,
    mark: Option<usize>,
    operation: Option<usize>,
    references: Vec<usize>,
    account: Option<usize>,
    currency: Option<usize>,
    fields: usize,
}

impl Places {
    fn find<R: Read>(columns: &Columns, kind: Kind, records: &Records<R>) -> Result<Self, BookError> {
        let heads: Vec<&str> = (0..records.len()).map(|at| records.field(at)).collect();
        let place = |name: &str| {
            let missing = || {
                BookError::format(
                    records.line,
                    format!("there is no column '{name}', only {}", heads.join(", ")),
                )
            };
            let at = heads.iter().position(|head| *head == name).ok_or_else(missing)?;
            match heads[at + 1..].contains(&name) {
                true => Err(BookError::format(records.line, format!("there are two columns '{name}'"))),
                false => Ok(at),
            }
        };
        let optional = |name: &Option<String>| name.as_deref().map(place).transpose();
        let of_kind = |statement, count| if kind == Kind::Count { count } else { statement };
        Ok(Self {
            date: optional(&columns.date)?,
            amount: optional(of_kind(&columns.amount, &columns.quantity))?,
            credit: optional(&columns.credit)?,
            debit: optional(&columns.debit)?,
            mark: optional(&columns.mark)?,
            operation: optional(of_kind(&columns.operation, &columns.sku))?,
            references: columns.references.iter().map(|name| place(name)).collect::<Result<_, _>>()?,
            account: optional(&columns.account)?,
            currency: optional(&columns.currency)?,
            fields: heads.len(),
        })
    }
}

/// Reads a file.
pub(crate) fn read(input: impl Read, map: &Map, draft: &mut Draft<'_>) -> Result<(), BookError> {
    let input = Utf8::new(input, map.csv.encoding.as_deref())?;
    let mut records = Records::new(input, map.delimiter()?, map.quote()?, map.csv.lines_before)?;
    if !records.next()? {
        return Err(BookError::Empty);
    }
    let places = Places::find(&map.columns, map.kind, &records)?;
    let numbers = map.numbers();
    let mut reference = String::new();
    let ends_at = map.csv.ends_at.as_deref().filter(|its| !its.is_empty());
    while records.next()? {
        if ends_at.is_some_and(|its| records.field(0).starts_with(its)) {
            break;
        }
        // Banks fill pages up with delimiters.
        if (0..records.len()).all(|at| records.field(at).is_empty()) {
            continue;
        }
        if let Some(account) = places.account
            && records.len() == places.fields
            && !draft.is_ours(records.line, records.field(account))
        {
            continue;
        }
        let line = match line(&records, &places, map, &numbers, draft) {
            Ok(line) => line,
            Err(reason) => {
                draft.bad(records.line, reason);
                continue;
            }
        };
        reference.clear();
        for at in &places.references {
            reference.push_str(records.field(*at));
            reference.push(' ');
        }
        draft.take(Line { reference: &reference, ..line })?;
    }
    Ok(())
}

fn line<'r, R: Read>(
    records: &'r Records<R>,
    places: &Places,
    map: &Map,
    numbers: &Numbers,
    draft: &Draft<'_>,
) -> Result<Line<'r>, String> {
    if records.len() != places.fields {
        return Err(format!("it has {} fields, and the heading has {}", records.len(), places.fields));
    }
    if (0..records.len()).any(|at| swallows(records.field(at), map, places.fields)) {
        let what = "a field goes on over several lines and has as many delimiters as the heading; is a quotation mark left open? See csv.quote";
        return Err(what.to_owned());
    }
    if let Some(wrong) = places.currency.and_then(|at| draft.wrong_currency(records.field(at))) {
        return Err(wrong);
    }
    let day = match places.date {
        None => draft.counted_on(),
        Some(at) => {
            let (text, format) =
                (records.field(at), map.columns.date_format.as_deref().unwrap_or("%Y-%m-%d"));
            Day::read(text, format).ok_or_else(|| format!("'{text}' is not a date in the format {format}"))?
        }
    };
    let amount = amount(records, places, numbers)?;
    let operation = places.operation.map_or("", |at| records.field(at));
    if map.kind == Kind::Count {
        if operation.is_empty() {
            return Err("the item is missing".to_owned());
        }
        if amount < 0 {
            return Err(format!("{} of '{operation}' cannot have been counted", numbers.show(amount)));
        }
    }
    Ok(Line { line: records.line, day, amount, operation, reference: "" })
}

/// Whether a field may have another line in it: from a quotation mark in one to a mark in the next there are as many delimiters as
/// in a line.
fn swallows(field: &str, map: &Map, fields: usize) -> bool {
    let is_delimiter = |byte: &u8| map.delimiter().is_ok_and(|delimiter| delimiter == *byte);
    field.contains('\n')
        && fields > 1
        && field.bytes().filter(|byte| is_delimiter(byte)).count() >= fields - 1
}

/// The amount by one column, by one with a mark beside it, or by two.
fn amount<R: Read>(records: &Records<R>, places: &Places, numbers: &Numbers) -> Result<i64, String> {
    let text = |at: Option<usize>| at.map_or("", |at| records.field(at));
    if places.amount.is_none() {
        let (credit, debit) = (text(places.credit), text(places.debit));
        return match (credit.is_empty(), debit.is_empty()) {
            (false, true) => numbers.read(credit),
            // What went out is written with or without a sign.
            (true, false) => Ok(-numbers.read(debit)?.abs()),
            (true, true) => Err("the amount is missing".to_owned()),
            (false, false) => match (numbers.read(credit)?, numbers.read(debit)?) {
                (credit, 0) => Ok(credit),
                (0, debit) => Ok(-debit.abs()),
                _ => Err("it has an amount that came in and one that went out".to_owned()),
            },
        };
    }
    let amount = numbers.read(text(places.amount))?;
    let Some(at) = places.mark else { return Ok(amount) };
    let mark = records.field(at);
    match numbers.mark(mark) {
        None => Err(format!("the map knows no mark '{mark}'")),
        Some(_) if amount < 0 => {
            Err(format!("it has a sign and the mark '{mark}'; which of them counts is not clear"))
        }
        Some(true) => Ok(-amount),
        Some(false) => Ok(amount),
    }
}

#[cfg(test)]
mod tests;
