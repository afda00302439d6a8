//! What the fields `:61:` and `:86:` say of a movement.

use crate::day::Day;
use crate::number::Numbers;

/// How far the day of booking may be from the day of value, to know its year.
const DAYS_OF_HALF_A_YEAR: u32 = 183;

/// A movement's day, amount, and the references of its owner and of the bank.
type Movement = (Day, i64, String, String);

/// `2611301130CR12,50NTRFINV-17//B123` and a line with more; nothing if the movement is only expected.
pub(super) fn movement(text: &str, numbers: &Numbers) -> Result<Option<Movement>, String> {
    let (first, more) = text.split_once('\n').unwrap_or((text, ""));
    let (value_date, rest) = first.split_at_checked(6).ok_or("it is too short")?;
    let valued = Day::read(value_date, "%y%m%d").ok_or_else(|| format!("'{value_date}' is not a date"))?;
    let (day, rest) = booked(valued, value_date, rest)?;
    let is_upper = |its: char| its.is_ascii_uppercase();
    let marked = rest.find(|its| !is_upper(its)).map(|at| rest.split_at(at));
    let (mark, rest) = marked.ok_or("it has no amount")?;
    let known = ["RC", "RD", "EC", "ED", "C", "D"].into_iter().find(|its| mark.starts_with(its));
    let mark = match known {
        // One letter more is that of the currency.
        Some(known) if mark.len() <= known.len() + 1 => known,
        _ => return Err(format!("'{mark}' is neither C, D, RC nor RD")),
    };
    let end = rest.find(|its: char| !its.is_ascii_digit() && its != ',').unwrap_or(rest.len());
    let (amount, rest) = rest.split_at(end);
    let amount = numbers.read(amount)?;
    let kind = rest.split_at_checked(4).filter(|(kind, _)| kind.starts_with(['N', 'F', 'S']));
    let (_, references) = kind.ok_or_else(|| format!("'{rest}' does not begin with a kind such as NTRF"))?;
    let (owner, bank) = references.split_once("//").unwrap_or((references, ""));
    let amount = match mark {
        "C" | "RD" => amount,
        "D" | "RC" => -amount,
        _ => return Ok(None),
    };
    Ok(Some((day, amount, owner.trim().to_owned(), format!("{bank} {}", more.replace('\n', " ")))))
}

/// The day of booking, which has no year.
fn booked<'t>(valued: Day, value_date: &str, rest: &'t str) -> Result<(Day, &'t str), String> {
    let date = rest.get(..4).filter(|date| date.bytes().all(|its| its.is_ascii_digit()));
    let Some(date) = date else { return Ok((valued, rest)) };
    let year: u32 = value_date[..2].parse().map_err(|_| format!("'{value_date}' is not a date"))?;
    let near = |year: u32| {
        let day = Day::read(&format!("{:02}{date}", year % 100), "%y%m%d")?;
        Some(day).filter(|day| day.distance(valued) <= DAYS_OF_HALF_A_YEAR)
    };
    let day = near(year).or_else(|| near(year + 1)).or_else(|| near(year + 99));
    Ok((day.ok_or_else(|| format!("'{date}' is not a date"))?, &rest[4..]))
}

/// Adds what a field `:86:` says: the caller's own id counts more than the reference that the bank has of it.
pub(super) fn add(text: &str, operation: &mut String, reference: &mut String) {
    let text = plain(text);
    let own = ["EREF+", "/EREF/"].iter().find_map(|word| {
        let rest = &text[text.find(word)? + word.len()..];
        Some(value(rest, word.ends_with('/')).trim()).filter(|its| !its.is_empty() && *its != "NOTPROVIDED")
    });
    reference.push(' ');
    reference.push_str(operation);
    reference.push(' ');
    reference.push_str(&text);
    if let Some(own) = own {
        own.clone_into(operation);
    }
}

/// The value behind a word, to where the next one begins.
fn value(text: &str, has_slashes: bool) -> &str {
    if has_slashes {
        return text.split('/').next().unwrap_or_default();
    }
    let is_word = |at: usize| at >= 4 && text.as_bytes()[at - 4..at].iter().all(u8::is_ascii_uppercase);
    match text.match_indices('+').find(|(at, _)| is_word(*at)) {
        Some((at, _)) => &text[..at - 4],
        None => text.split_whitespace().next().unwrap_or_default(),
    }
}

/// The text without the numbers of its parts: `166?00CREDIT?20EREF+INV-1?21SVWZ+thanks`. Parts of the purpose go on where the one
/// before was cut.
fn plain(text: &str) -> String {
    let is_structured = text.get(3..4) == Some("?") && text.as_bytes()[..3].iter().all(u8::is_ascii_digit);
    if !is_structured {
        return text.replace('\n', " ");
    }
    let joined = text.replace('\n', "");
    let mut plain = String::new();
    for part in joined[4..].split('?') {
        let (number, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        let goes_on = matches!(number.parse(), Ok(21..=29 | 60..=63));
        let begins_word = rest.get(4..5) == Some("+");
        if !goes_on || begins_word {
            plain.push(' ');
        }
        plain.push_str(rest);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_ids_are_found_in_what_banks_make_of_them() {
        for (text, id) in [
            ("166?00CREDIT?20EREF+INV-20261130-0000000?2117?22SVWZ+thanks", "INV-20261130-000000017"),
            ("166?00CREDIT?20EREF+NOTPROVIDED?21SVWZ+INV-5", "bank"),
            ("/EREF/INV-7//REMI/thanks", "INV-7"),
            ("thanks EREF+INV-8 and more", "INV-8"),
            ("thanks", "bank"),
        ] {
            let (mut operation, mut reference) = ("bank".to_owned(), String::new());
            add(text, &mut operation, &mut reference);
            assert_eq!(operation, id, "{text}: {reference}");
            assert!(reference.contains("bank"), "{reference}");
        }
    }
}
