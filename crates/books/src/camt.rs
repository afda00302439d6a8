//! Statements as ISO 20022 camt.053.

use std::io::{BufReader, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::BookError;
use crate::balance::Balances;
use crate::day::Day;
use crate::map::Map;
use crate::number::Numbers;
use crate::statement::{Draft, Line};
use crate::text::Utf8;

/// How deep elements may be.
const DEPTH_MAX: usize = 64;

/// How much of an element's text counts.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// The transactions of an entry that are told apart; entries of more are compared as one.
const PARTS_MAX: usize = 100_000;

/// A part with its amount.
type Amounted = (i64, Part);

/// A part of an entry, or all of it.
#[derive(Clone, Debug, Default)]
struct Part {
    line: u32,
    amount: Option<String>,
    currency: String,
    mark: String,
    operation: String,
    reference: String,
}

/// An entry.
#[derive(Debug, Default)]
struct StatementEntry {
    whole: Part,
    status: String,
    booked: String,
    valued: String,
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Balance {
    line: u32,
    kind: String,
    amount: String,
    mark: String,
}

/// What is known of the statement that is being read.
struct Camt<'d, 'm> {
    draft: &'d mut Draft<'m>,
    numbers: Numbers,
    is_ours: bool,
    has_account: bool,
    from: Option<Day>,
    through: Option<Day>,
    balances: Balances,
    balance: Balance,
    entry: StatementEntry,
    has_statement: bool,
}

/// Reads a file.
pub(crate) fn read(input: impl Read, map: &Map, draft: &mut Draft<'_>) -> Result<(), BookError> {
    let mut xml = Reader::from_reader(BufReader::new(Utf8::new(input, map.csv.encoding.as_deref())?));
    let numbers = map.numbers().plain('.');
    let mut camt = Camt {
        draft,
        numbers,
        is_ours: true,
        has_account: false,
        from: None,
        through: None,
        balances: Balances::default(),
        balance: Balance::default(),
        entry: StatementEntry::default(),
        has_statement: false,
    };
    let (mut path, mut text, mut buffer) = (Vec::new(), String::new(), Vec::new());
    let mut line: u32 = 1;
    loop {
        buffer.clear();
        let event =
            xml.read_event_into(&mut buffer).map_err(|error| BookError::format(line, error.to_string()))?;
        match &event {
            Event::Start(start) => {
                text.clear();
                path.push(name(start.local_name().as_ref()));
                if path.len() > DEPTH_MAX {
                    return Err(BookError::format(line, "its elements are too deep; this is no camt.053"));
                }
                camt.begin(&path, start, line);
            }
            Event::End(_) => {
                camt.end(&path, text.trim(), line)?;
                path.pop();
                text.clear();
            }
            Event::Text(its) if text.len() < TEXT_BYTES_MAX => text.push_str(&String::from_utf8_lossy(its)),
            Event::CData(its) if text.len() < TEXT_BYTES_MAX => text.push_str(&String::from_utf8_lossy(its)),
            Event::GeneralRef(its) => text.push_str(&entity(its, line)?),
            Event::Eof => break,
            _ => {}
        }
        let lines = event.iter().filter(|byte| **byte == b'\n').count();
        line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }
    match (path.is_empty(), camt.has_statement) {
        (true, true) => Ok(()),
        (true, false) if line == 1 && xml.buffer_position() == 0 => Err(BookError::Empty),
        (true, false) => Err(BookError::format(line, "there is no BkToCstmrStmt; this is no camt.053")),
        (false, _) => {
            Err(BookError::format(line, format!("the file ends within '{}'; it is cut off", path.join("/"))))
        }
    }
}

fn name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The character that a reference stands for. Entities of its own no statement has.
fn entity(its: &BytesRef<'_>, line: u32) -> Result<String, BookError> {
    let wrong =
        || BookError::format(line, format!("the entity '{}' is not known", String::from_utf8_lossy(its)));
    if let Some(character) = its.resolve_char_ref().map_err(|_| wrong())? {
        return Ok(character.to_string());
    }
    let character = match &**its {
        b"amp" => "&",
        b"lt" => "<",
        b"gt" => ">",
        b"quot" => "\"",
        b"apos" => "'",
        _ => return Err(wrong()),
    };
    Ok(character.to_owned())
}

/// The path below a statement.
fn below(path: &[String]) -> Option<Vec<&str>> {
    let at = path.iter().position(|its| its == "Stmt")?;
    Some(path[at + 1..].iter().map(String::as_str).collect())
}

impl Camt<'_, '_> {
    fn begin(&mut self, path: &[String], start: &BytesStart<'_>, line: u32) {
        let Some(below) = below(path) else {
            self.has_statement |= path.last().is_some_and(|its| its == "BkToCstmrStmt");
            return;
        };
        let currency = || {
            let found = start.try_get_attribute("Ccy").ok().flatten();
            found.map(|its| String::from_utf8_lossy(&its.value).into_owned()).unwrap_or_default()
        };
        match below.as_slice() {
            [] => {
                (self.is_ours, self.has_account, self.from, self.through) = (true, false, None, None);
                self.balances = Balances::default();
            }
            ["Bal"] => self.balance = Balance { line, ..Balance::default() },
            ["Ntry"] => {
                self.entry =
                    StatementEntry { whole: Part { line, ..Part::default() }, ..StatementEntry::default() }
            }
            ["Ntry", "Amt"] => self.entry.whole.currency = currency(),
            ["Ntry", "NtryDtls", "TxDtls"] if self.entry.parts.len() < PARTS_MAX => {
                self.entry.parts.push(Part { line, ..Part::default() });
            }
            ["Ntry", "NtryDtls", "TxDtls", "Amt"] => self.part().currency = currency(),
            ["Ntry", "NtryDtls", "TxDtls", "AmtDtls", "TxAmt", "Amt"] if self.part().amount.is_none() => {
                self.part().currency = currency();
            }
            _ => {}
        }
    }

    fn part(&mut self) -> &mut Part {
        let entry = &mut self.entry;
        entry.parts.last_mut().unwrap_or(&mut entry.whole)
    }

    fn end(&mut self, path: &[String], text: &str, line: u32) -> Result<(), BookError> {
        let Some(below) = below(path) else { return Ok(()) };
        match below.as_slice() {
            ["Acct", "Id", "IBAN"] | ["Acct", "Id", "Othr", "Id"] => {
                (self.is_ours, self.has_account) = (self.draft.is_ours(line, text), true);
            }
            ["FrToDt", "FrDtTm"] => self.from = day(text),
            ["FrToDt", "ToDtTm"] => self.through = day(text),
            ["Bal", "Tp", "CdOrPrtry", "Cd"] => text.clone_into(&mut self.balance.kind),
            ["Bal", "Amt"] => text.clone_into(&mut self.balance.amount),
            ["Bal", "CdtDbtInd"] => text.clone_into(&mut self.balance.mark),
            ["Bal"] => self.end_balance(),
            ["Ntry", rest @ ..] => self.end_of_entry(rest, text)?,
            [] => {
                self.draft.check_named(self.has_account, line)?;
                // The account comes after the days.
                if let (Some((from, through)), true) = (self.from.zip(self.through), self.is_ours) {
                    self.draft.about(from, through);
                }
                if let (Some(wrong), true) = (self.balances.wrong(&self.numbers), self.is_ours) {
                    self.draft.bad(line, wrong);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_balance(&mut self) {
        let Balance { line, kind, amount, mark } = std::mem::take(&mut self.balance);
        let amount = match self.amount(Some(&amount), &mark) {
            Ok(amount) => amount,
            Err(reason) if self.is_ours => return self.draft.bad(line, reason),
            Err(_) => return,
        };
        match kind.as_str() {
            "OPBD" | "PRCD" => self.balances.opening = Some(amount),
            "CLBD" => self.balances.closing = Some(amount),
            _ => {}
        }
    }

    fn end_of_entry(&mut self, below: &[&str], text: &str) -> Result<(), BookError> {
        let entry = &mut self.entry;
        match below {
            [] => return self.take_entry(),
            ["Amt"] => entry.whole.amount = Some(text.to_owned()),
            ["CdtDbtInd"] => text.clone_into(&mut entry.whole.mark),
            // In later versions the code is an element of its own.
            ["Sts"] if entry.status.is_empty() => text.clone_into(&mut entry.status),
            ["Sts", "Cd" | "Prtry"] => text.clone_into(&mut entry.status),
            ["BookgDt", "Dt" | "DtTm"] => text.clone_into(&mut entry.booked),
            ["ValDt", "Dt" | "DtTm"] => text.clone_into(&mut entry.valued),
            ["AcctSvcrRef" | "NtryRef"] => add(&mut entry.whole.reference, text),
            ["NtryDtls", "TxDtls", rest @ ..] => self.end_of_part(rest, text),
            _ => {}
        }
        Ok(())
    }

    fn end_of_part(&mut self, below: &[&str], text: &str) {
        let part = self.part();
        match below {
            ["Amt"] => part.amount = Some(text.to_owned()),
            // Early versions have it here alone.
            ["AmtDtls", "TxAmt", "Amt"] if part.amount.is_none() => part.amount = Some(text.to_owned()),
            ["CdtDbtInd"] => text.clone_into(&mut part.mark),
            ["Refs", "EndToEndId"] => text.clone_into(&mut part.operation),
            ["Refs", "TxId" | "InstrId" | "AcctSvcrRef" | "MsgId" | "PmtInfId"]
            | ["RmtInf", "Ustrd"]
            | ["RmtInf", "Strd", "CdtrRefInf", "Ref"] => add(&mut part.reference, text),
            _ => {}
        }
    }

    /// An amount with the mark beside it. The standard has no signs.
    fn amount(&self, amount: Option<&str>, mark: &str) -> Result<i64, String> {
        let amount = self.numbers.read(amount.ok_or("the amount is missing")?)?;
        match mark {
            _ if amount < 0 => Err("its amount has a sign".to_owned()),
            "CRDT" => Ok(amount),
            "DBIT" => Ok(-amount),
            other => Err(format!("'{other}' is neither CRDT nor DBIT")),
        }
    }

    fn take_entry(&mut self) -> Result<(), BookError> {
        let entry = std::mem::take(&mut self.entry);
        if !self.is_ours {
            return Ok(());
        }
        match entry.status.as_str() {
            "BOOK" => {}
            "PDNG" | "INFO" | "FUTR" => {
                self.draft.skip();
                return Ok(());
            }
            other => {
                self.balances.is_partial = true;
                self.draft.bad(entry.whole.line, format!("'{other}' is no status of an entry"));
                return Ok(());
            }
        }
        match self.lines(&entry) {
            Err(reason) => {
                self.balances.is_partial = true;
                self.draft.bad(entry.whole.line, reason);
                Ok(())
            }
            Ok((day, total, parts)) => {
                self.balances.sum += i128::from(total);
                parts.iter().try_for_each(|(amount, part)| {
                    let reference = format!("{} {}", part.reference, entry.whole.reference);
                    let (line, operation) = (part.line, part.operation.as_str());
                    self.draft.take(Line { line, day, amount: *amount, operation, reference: &reference })
                })
            }
        }
    }

    /// The day of an entry, its amount, and the parts that are compared: its transactions where they come to it.
    fn lines(&self, entry: &StatementEntry) -> Result<(Day, i64, Vec<Amounted>), String> {
        let StatementEntry { whole, booked, valued, parts, .. } = entry;
        if let Some(wrong) = self.draft.wrong_currency(&whole.currency) {
            return Err(wrong);
        }
        let date = if booked.is_empty() { valued } else { booked };
        let day = day(date).ok_or_else(|| format!("'{date}' is not a date"))?;
        let total = self.amount(whole.amount.as_deref(), &whole.mark)?;
        let of_part = |part: &Part| {
            let mark = if part.mark.is_empty() { &whole.mark } else { &part.mark };
            let is_same = part.currency.is_empty() || part.currency == whole.currency;
            self.amount(part.amount.as_deref(), mark)
                .ok()
                .filter(|_| is_same)
                .map(|amount| (amount, part.clone()))
        };
        let read: Option<Vec<_>> = parts.iter().map(of_part).collect();
        let comes_to =
            |its: &Vec<(i64, Part)>| its.iter().map(|its| i128::from(its.0)).sum::<i128>() == total.into();
        if let Some(read) = read.filter(|its| its.len() > 1 && comes_to(its)) {
            return Ok((day, total, read));
        }
        let mut all = whole.clone();
        for part in parts {
            add(&mut all.reference, &part.reference);
            if parts.len() == 1 {
                all.operation.clone_from(&part.operation);
            } else {
                add(&mut all.reference, &part.operation);
            }
        }
        Ok((day, total, vec![(total, all)]))
    }
}

fn add(reference: &mut String, text: &str) {
    if reference.len() < TEXT_BYTES_MAX && !text.is_empty() {
        if !reference.is_empty() {
            reference.push(' ');
        }
        reference.push_str(text);
    }
}

/// The date of a date or a time.
fn day(text: &str) -> Option<Day> {
    text.get(..10)?.parse().ok()
}

#[cfg(test)]
mod tests;
