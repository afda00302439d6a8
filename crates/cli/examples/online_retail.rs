//! Turns a day of a shop's order lines into operations for `scarce import`:
//!
//! ```sh
//! cargo run --release --example online_retail -- 2010-12-01.csv > day.ndjson
//! scarce import day.ndjson --outcomes day-outcomes.ndjson
//! ```
//!
//! The columns are those of the Online Retail data set (Chen 2015, UCI Machine Learning Repository,
//! DOI 10.24432/C5BW33): `InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country`.
//!
//! - Every stock code is an item, stocked with the day's demand: the sum of what was ordered at a price.
//!   Of the twenty most demanded (ties by code) only 80 %, rounded down, so that orders compete.
//! - Every customer has an account with the money that the day's orders cost; every fifth in the order of
//!   their ids, beginning with the first, only 90 %, rounded down. Lines without a customer are `guest`'s.
//! - Every invoice is one atomic batch: pay, then take each line. Lines without a price or with a quantity
//!   below one (samples, write-offs) are left out; an invoice with no other lines is omitted.
//! - A cancellation (`C…`) credits what its lines cost. Where its customer bought such units earlier in
//!   the day they come back too, oldest receipt first, as operations `C…-1`, `C…-2` …; which serials
//!   those are depends on which invoices went through, so the day is played through here.
//! - Money is exact: a line costs quantity times unit price, and only where that is no whole number
//!   of pence it is rounded, half away from zero.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{Read, Write};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[allow(dead_code, reason = "the test of this example runs what main runs")]
fn main() -> Outcome<()> {
    let path = std::env::args().nth(1).ok_or("usage: online_retail DAY.csv > day.ndjson")?;
    let file = std::fs::File::open(&path).map_err(|error| format!("cannot open {path}: {error}"))?;
    write_operations(file, &mut std::io::stdout().lock())
}

/// Reads a day's order lines and writes its operations, one per line.
pub fn write_operations(csv: impl Read, out: &mut impl Write) -> Outcome<()> {
    let invoices = read_invoices(csv)?;
    let mut day = Day::new(&invoices);
    day.open(out, &invoices)?;
    for invoice in &invoices {
        if invoice.is_cancellation() { day.cancel(invoice, out)? } else { day.order(invoice, out)? }
    }
    out.flush()?;
    Ok(())
}

/// Lines of one invoice, in the order of the file.
struct Invoice {
    number: String,
    customer: String,
    lines: Vec<Line>,
}

/// A line that names a quantity and a price.
struct Line {
    code: String,
    quantity: i64,
    price: Price,
}

impl Invoice {
    fn is_cancellation(&self) -> bool {
        self.number.starts_with('C')
    }

    /// The lines of an order for units with a price.
    fn ordered(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        let sign = if self.is_cancellation() { -1 } else { 1 };
        self.lines.iter().filter_map(move |line| {
            let quantity = u64::try_from(line.quantity * sign).ok().filter(|quantity| *quantity > 0)?;
            (line.price.units > 0).then(|| (line.code.as_str(), quantity, line.price.times(quantity)))
        })
    }

    fn pence(&self) -> u64 {
        self.ordered().map(|(_, _, pence)| pence).sum()
    }
}

/// A price in millionths of a pound.
#[derive(Clone, Copy)]
struct Price {
    units: i64,
}

impl Price {
    const DECIMALS: usize = 6;
    const UNITS_PER_PENNY: u64 = 10_000;

    fn parse(text: &str) -> Outcome<Self> {
        let wrong = || format!("'{text}' is no price with at most {} decimals", Self::DECIMALS);
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_plain = !whole.is_empty() && (whole.to_owned() + fraction).bytes().all(|b| b.is_ascii_digit());
        if !is_plain || fraction.len() > Self::DECIMALS || whole.len() > 9 {
            return Err(wrong().into());
        }
        let units: i64 = format!("{whole}{fraction:0<width$}", width = Self::DECIMALS).parse()?;
        Ok(Self { units: sign * units })
    }

    /// The price of that many in pence, rounded half away from zero; negative prices cost nothing.
    fn times(self, quantity: u64) -> u64 {
        let units = quantity * u64::try_from(self.units).unwrap_or(0);
        (units + Self::UNITS_PER_PENNY / 2) / Self::UNITS_PER_PENNY
    }
}

fn read_invoices(csv: impl Read) -> Outcome<Vec<Invoice>> {
    let mut reader = csv::Reader::from_reader(csv);
    let headers = reader.headers()?.clone();
    let column = |name: &str| {
        headers.iter().position(|header| header == name).ok_or_else(|| format!("there is no column {name}"))
    };
    let columns = [
        column("InvoiceNo")?,
        column("StockCode")?,
        column("Quantity")?,
        column("UnitPrice")?,
        column("CustomerID")?,
    ];
    let mut invoices: Vec<Invoice> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for record in reader.records() {
        let record = record?;
        let [number, code, quantity, price, customer] = columns.map(|at| record.get(at).unwrap_or_default());
        let line = Line { code: code.to_owned(), quantity: quantity.parse()?, price: Price::parse(price)? };
        let customer = customer_of(customer);
        let place = *places.entry(number.to_owned()).or_insert(invoices.len());
        if place == invoices.len() {
            invoices.push(Invoice {
                number: number.to_owned(),
                customer: customer.clone(),
                lines: Vec::new(),
            });
        }
        let invoice = &mut invoices[place];
        if invoice.customer != customer {
            return Err(format!("invoice {number} names two customers").into());
        }
        invoice.lines.push(line);
    }
    Ok(invoices)
}

/// The customer's id without the `.0` that some tools add to it.
fn customer_of(text: &str) -> String {
    match text.strip_suffix(".0").unwrap_or(text) {
        "" => "guest".to_owned(),
        id => id.to_owned(),
    }
}

/// An item during the simulated day.
#[derive(Default)]
struct Item {
    demand: u64,
    available: u64,
    serials: u64,
}

/// Units of one sale that were not returned.
struct Receipt {
    first: u64,
    count: u64,
}

/// The state of the shop, as the server will have it.
struct Day {
    items: BTreeMap<String, Item>,
    funds: BTreeMap<String, u64>,
    receipts: BTreeMap<(String, String), Vec<Receipt>>,
}

/// How many of the most demanded items are understocked.
const SHORT: usize = 20;

impl Day {
    fn new(invoices: &[Invoice]) -> Self {
        let mut items: BTreeMap<String, Item> = BTreeMap::new();
        let mut funds: BTreeMap<String, u64> = BTreeMap::new();
        for invoice in invoices {
            let spent = if invoice.is_cancellation() { 0 } else { invoice.pence() };
            *funds.entry(invoice.customer.clone()).or_default() += spent;
            invoice.lines.iter().for_each(|line| {
                items.entry(line.code.clone()).or_default();
            });
            for (code, quantity, _) in invoice.ordered().filter(|_| !invoice.is_cancellation()) {
                items.entry(code.to_owned()).or_default().demand += quantity;
            }
        }
        funds.values_mut().step_by(5).for_each(|pence| *pence = *pence * 9 / 10);
        let mut ranked: Vec<(u64, &String)> = items.iter().map(|(code, item)| (item.demand, code)).collect();
        ranked.sort_by(|(a, a_code), (b, b_code)| b.cmp(a).then(a_code.cmp(b_code)));
        let short: BTreeSet<String> = ranked.iter().take(SHORT).map(|(_, code)| (*code).clone()).collect();
        for (code, item) in &mut items {
            item.available = if short.contains(code) { item.demand * 4 / 5 } else { item.demand };
        }
        Self { items, funds, receipts: BTreeMap::new() }
    }

    fn open(&self, out: &mut impl Write, invoices: &[Invoice]) -> Outcome<()> {
        for (customer, pence) in &self.funds {
            let account = account_id(customer)?;
            single(out, &format!("open:{}", escaped(customer)), &["ACCOUNT.OPEN", &account, "GBP"])?;
            if *pence > 0 {
                let id = format!("fund:{}", escaped(customer));
                single(out, &id, &["ACCOUNT.CREDIT", &account, &pence.to_string()])?;
            }
        }
        for (code, item) in &self.items {
            let id = format!("stock:{}", escaped(code));
            single(out, &id, &["STOCK.CREATE", &sku_id(code)?, &item.available.to_string()])?;
        }
        match invoices.iter().find(|invoice| invoice.lines.len() >= 1_000) {
            Some(long) => Err(format!("invoice {} has more lines than a batch may have", long.number).into()),
            None => Ok(()),
        }
    }

    fn order(&mut self, invoice: &Invoice, out: &mut impl Write) -> Outcome<()> {
        let account = account_id(&invoice.customer)?;
        let pence = invoice.pence();
        let mut batch = Vec::new();
        if pence > 0 {
            batch.push(words(&["ACCOUNT.DEBIT", &account, &pence.to_string()]));
        }
        for (code, quantity, _) in invoice.ordered() {
            batch.push(words(&["STOCK.TAKE", &sku_id(code)?, &quantity.to_string(), &account]));
        }
        if !batch.is_empty() {
            let line = serde_json::json!({ "id": escaped(&invoice.number), "atomic": batch });
            writeln!(out, "{line}")?;
        }
        self.play(invoice, pence);
        Ok(())
    }

    /// Does what the server will do: applies the whole invoice, or nothing.
    fn play(&mut self, invoice: &Invoice, pence: u64) {
        let mut wanted: BTreeMap<&str, u64> = BTreeMap::new();
        for (code, quantity, _) in invoice.ordered() {
            *wanted.entry(code).or_default() += quantity;
        }
        let enough = wanted.iter().all(|(code, quantity)| self.items[*code].available >= *quantity);
        let Some(funds) = self.funds.get_mut(&invoice.customer).filter(|funds| enough && **funds >= pence)
        else {
            return;
        };
        *funds -= pence;
        for (code, quantity, _) in invoice.ordered() {
            let Some(item) = self.items.get_mut(code) else { continue };
            let receipt = Receipt { first: item.serials + 1, count: quantity };
            item.available -= quantity;
            item.serials += quantity;
            self.receipts.entry((invoice.customer.clone(), code.to_owned())).or_default().push(receipt);
        }
    }

    fn cancel(&mut self, invoice: &Invoice, out: &mut impl Write) -> Outcome<()> {
        let (account, pence) = (account_id(&invoice.customer)?, invoice.pence());
        let id = escaped(&invoice.number);
        if pence > 0 {
            single(out, &id, &["ACCOUNT.CREDIT", &account, &pence.to_string()])?;
            *self.funds.entry(invoice.customer.clone()).or_default() += pence;
        }
        let mut part = 0;
        for (code, quantity, _) in invoice.ordered() {
            for Receipt { first, count } in self.give_back(&invoice.customer, code, quantity) {
                part += 1;
                let command = ["STOCK.RETURN", &sku_id(code)?, &first.to_string(), &count.to_string()];
                single(out, &format!("{id}-{part}"), &command)?;
            }
        }
        Ok(())
    }

    /// Returns units from the customer's receipts; returns the range of serials in each.
    fn give_back(&mut self, customer: &str, code: &str, mut quantity: u64) -> Vec<Receipt> {
        let key = (customer.to_owned(), code.to_owned());
        let (Some(receipts), Some(item)) = (self.receipts.get_mut(&key), self.items.get_mut(code)) else {
            return Vec::new();
        };
        let mut given = Vec::new();
        for receipt in receipts {
            let count = quantity.min(receipt.count);
            if count > 0 {
                given.push(Receipt { first: receipt.first, count });
                *receipt = Receipt { first: receipt.first + count, count: receipt.count - count };
                quantity -= count;
                item.available += count;
            }
        }
        given
    }
}

fn single(out: &mut impl Write, id: &str, command: &[&str]) -> Outcome<()> {
    writeln!(out, "{}", serde_json::json!({ "id": id, "command": command }))?;
    Ok(())
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

fn account_id(customer: &str) -> Outcome<String> {
    checked(format!("{{shop}}:customer:{}", escaped(customer)))
}

fn sku_id(code: &str) -> Outcome<String> {
    checked(format!("{{shop}}:sku:{}", escaped(code)))
}

/// Ids have 64 bytes at most; it is better to reject a longer one than to truncate it and risk a collision.
fn checked(id: String) -> Outcome<String> {
    if id.len() > 64 { Err(format!("{id} is longer than 64 bytes").into()) } else { Ok(id) }
}

/// Keeps letters, digits, `.`, `_` and `-`; encodes any other byte as `=` and two hexadecimal digits, so that
/// different texts stay different.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("={byte:02X}"));
        }
    }
    out
}
