//! Calculates the expected results of a day from its order lines with plain maps; shares no code with the
//! example or the engine.

use std::collections::BTreeMap;

/// The result of an invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Applied,
    /// Refused at this line of the batch, with this code.
    Refused(u64, &'static str),
}

/// An item at the end of the day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    pub available: i64,
    pub sold: i64,
    /// Who holds how many, by purchase.
    purchases: Vec<(String, i64)>,
}

/// The whole day.
#[derive(Default)]
pub struct Day {
    /// The results of all invoices that order something, in order.
    pub fates: Vec<(String, Fate)>,
    /// Cancellations that credit something.
    pub credits: Vec<String>,
    pub balances: BTreeMap<String, i64>,
    pub items: BTreeMap<String, Item>,
    pub funded: i64,
    /// The payments of each customer who bought anything.
    pub paid: BTreeMap<String, i64>,
    /// Payments for applied invoices.
    pub revenue: i64,
    /// Refunds for cancellations.
    pub refunds: i64,
    /// The number of return operations.
    pub returns: usize,
}

#[derive(Clone, Debug)]
struct Row {
    invoice: String,
    code: String,
    quantity: i64,
    pence: i64,
    customer: String,
}

/// Calculates a day from the text of its CSV file.
pub fn reckon(csv: &str) -> Day {
    let rows: Vec<Row> =
        csv::Reader::from_reader(csv.as_bytes()).records().map(|r| row(&r.unwrap())).collect();
    let mut day = morning(&rows);
    let mut start = 0;
    while start < rows.len() {
        let length = rows[start..].iter().take_while(|row| row.invoice == rows[start].invoice).count();
        let invoice = &rows[start..start + length];
        if invoice[0].invoice.starts_with('C') {
            cancel(&mut day, invoice);
        } else {
            order(&mut day, invoice);
        }
        start += length;
    }
    day
}

fn row(record: &csv::StringRecord) -> Row {
    let quantity: i64 = record[3].parse().unwrap();
    let customer = if record[6].is_empty() { "guest" } else { record[6].trim_end_matches(".0") };
    Row {
        invoice: record[0].to_owned(),
        code: record[1].to_owned(),
        quantity,
        pence: pence(&record[5], quantity.abs()),
        customer: customer.to_owned(),
    }
}

/// Quantity times price in pence, rounded half up; -1 marks a line without a price. Multiplies the digits as
/// one integer and restores the decimal point afterwards.
fn pence(price: &str, quantity: i64) -> i64 {
    let decimals = price.find('.').map_or(0, |at| price.len() - at - 1);
    let digits: i64 = price.replace('.', "").parse().unwrap();
    if digits <= 0 {
        return -1;
    }
    let mut total = i128::from(digits) * i128::from(quantity) * 100;
    let unit = 10_i128.pow(u32::try_from(decimals).unwrap());
    let rest = total % unit;
    total /= unit;
    i64::try_from(total).unwrap() + i64::from(rest * 2 >= unit)
}

fn is_order(row: &Row) -> bool {
    !row.invoice.starts_with('C') && row.quantity > 0 && row.pence >= 0
}

fn morning(rows: &[Row]) -> Day {
    let mut day = Day::default();
    for row in rows {
        let counts = is_order(row);
        day.items.entry(row.code.clone()).or_default().available += if counts { row.quantity } else { 0 };
        *day.balances.entry(row.customer.clone()).or_default() += if counts { row.pence } else { 0 };
    }
    for (place, balance) in day.balances.values_mut().enumerate() {
        if place % 5 == 0 {
            *balance = *balance * 90 / 100;
        }
        day.funded += *balance;
    }
    let mut codes: Vec<String> = day.items.keys().cloned().collect();
    codes.sort_by_key(|code| -day.items[code].available);
    for code in codes.iter().take(20) {
        let item = day.items.get_mut(code).unwrap();
        item.available = item.available * 80 / 100;
    }
    day
}

fn order(day: &mut Day, invoice: &[Row]) {
    let lines: Vec<&Row> = invoice.iter().filter(|row| is_order(row)).collect();
    if lines.is_empty() {
        return;
    }
    let (number, customer) = (invoice[0].invoice.clone(), &invoice[0].customer);
    let total: i64 = lines.iter().map(|row| row.pence).sum();
    let fate = fate(day, &lines, total, customer);
    if fate == Fate::Applied {
        *day.balances.get_mut(customer).unwrap() -= total;
        day.revenue += total;
        if total > 0 {
            *day.paid.entry(customer.clone()).or_default() += total;
        }
        for row in &lines {
            let item = day.items.get_mut(&row.code).unwrap();
            item.available -= row.quantity;
            item.sold += row.quantity;
            item.purchases.push((customer.clone(), row.quantity));
        }
    }
    day.fates.push((number, fate));
}

/// Line by line, like a cash register: money first, then each item minus what earlier lines take.
fn fate(day: &Day, lines: &[&Row], total: i64, customer: &str) -> Fate {
    let pays = u64::from(total > 0);
    if day.balances[customer] < total {
        return Fate::Refused(0, "INSUFFICIENT_FUNDS");
    }
    for (place, row) in lines.iter().enumerate() {
        let before: i64 =
            lines[..place].iter().filter(|earlier| earlier.code == row.code).map(|r| r.quantity).sum();
        let left = day.items[&row.code].available - before;
        let index = place as u64 + pays;
        if left == 0 {
            return Fate::Refused(index, "SOLD_OUT");
        }
        if left < row.quantity {
            return Fate::Refused(index, "INSUFFICIENT_STOCK");
        }
    }
    Fate::Applied
}

fn cancel(day: &mut Day, invoice: &[Row]) {
    let lines: Vec<&Row> = invoice.iter().filter(|row| row.quantity < 0 && row.pence >= 0).collect();
    let total: i64 = lines.iter().map(|row| row.pence).sum();
    if total > 0 {
        *day.balances.get_mut(&invoice[0].customer).unwrap() += total;
        day.refunds += total;
        day.credits.push(invoice[0].invoice.clone());
    }
    for row in lines {
        let item = day.items.get_mut(&row.code).unwrap();
        let mut wanted = -row.quantity;
        for (owner, held) in &mut item.purchases {
            let back = wanted.min(*held);
            if *owner == row.customer && back > 0 {
                *held -= back;
                wanted -= back;
                item.available += back;
                item.sold -= back;
                day.returns += 1;
            }
        }
    }
}
