//! What the tables must come to among themselves, for logs that no longer reach back to their beginning.

use scarce_sql::Dialect;
use sqlx::Error;

use super::compare::{Difference, RowPlace};
use crate::store::Link;
use crate::table::{Cell, ColumnKind};

/// A column that is the sum of rows of another table, by the key of its own.
struct Sum {
    table: &'static str,
    key: &'static [&'static str],
    column: &'static str,
    /// What is summed, and from which rows.
    summed: &'static str,
    from: &'static str,
    /// The columns there that are the key.
    by: &'static [&'static str],
    /// Of which rows `t` it is not known what they must come to.
    unless: Option<&'static str>,
}

/// Items that came with an opening, of whose receipts the oldest had left the engine's memory by then: only their movement
/// has a reason.
const WITHOUT_OLDEST_RECEIPTS: &str = "EXISTS (SELECT 1 FROM stock_movements AS m WHERE m.sku = t.sku \
                                       AND m.kind = 'opening' AND m.reason IS NOT NULL)";

/// Campaigns that came with an opening, of which packets had left the engine's memory by then.
const WITHOUT_FIRST_CLAIMS: &str = "EXISTS (SELECT 1 FROM openings AS o WHERE o.partition_id = t.partition_id AND o.at_ms = t.created_at_ms) \
                                    AND COALESCE((SELECT MIN(c.packet) FROM packet_claims AS c WHERE c.campaign_id = t.campaign_id), 0) <> 1";

const SUMS: [Sum; 7] = [
    Sum {
        table: "accounts",
        key: &["account_id"],
        column: "balance",
        summed: "amount",
        from: "entries",
        by: &["account_id"],
        unless: None,
    },
    Sum {
        table: "accounts",
        key: &["account_id"],
        column: "held",
        summed: "amount",
        from: "holds",
        by: &["account_id"],
        unless: None,
    },
    Sum {
        table: "stock",
        key: &["sku"],
        column: "total",
        summed: "quantity",
        from: "stock_movements",
        by: &["sku"],
        unless: None,
    },
    Sum {
        table: "stock",
        key: &["sku"],
        column: "sold",
        summed: "quantity - returned",
        from: "receipts",
        by: &["sku"],
        unless: Some(WITHOUT_OLDEST_RECEIPTS),
    },
    Sum {
        table: "stock",
        key: &["sku"],
        column: "reserved",
        summed: "CASE WHEN status = 'open' THEN quantity ELSE 0 END",
        from: "reservations",
        by: &["sku"],
        unless: None,
    },
    Sum {
        table: "receipts",
        key: &["sku", "first_serial"],
        column: "returned",
        summed: "quantity",
        from: "stock_returns",
        by: &["sku", "receipt_serial"],
        unless: None,
    },
    Sum {
        table: "packet_campaigns",
        key: &["campaign_id"],
        column: "claimed_amount",
        summed: "amount",
        from: "packet_claims",
        by: &["campaign_id"],
        unless: Some(WITHOUT_FIRST_CLAIMS),
    },
];

/// Movements between accounts with one side only.
const ONE_SIDED: &str = "FROM entries AS e WHERE e.counterparty_id IS NOT NULL AND NOT EXISTS (SELECT 1 \
                         FROM entries AS o WHERE o.partition_id = e.partition_id AND o.sequence = e.sequence \
                         AND o.account_id = e.counterparty_id AND o.amount = -e.amount)";

/// The rows whose sums do not agree, up to a number of each kind, and how many there are.
pub(super) async fn check(link: &mut Link, limit: usize) -> Result<(Vec<Difference>, u64), Error> {
    let text = Text(link.dialect());
    let (mut found, mut count) = (Vec::new(), 0);
    for sum in &SUMS {
        for rows in [sum.wrong(text), sum.without_row(text)] {
            let (rows, of_these) = rows.fetch(link, limit).await?;
            found.extend(rows.iter().map(|row| sum.difference(row)));
            count += of_these;
        }
    }
    let key = text.list(&["e.partition_id", "e.sequence", "e.account_id"]);
    let columns = format!("{key}, {}, {}", text.of("e.amount"), text.of("-e.amount"));
    let (rows, of_these) = WrongRows { columns, from: ONE_SIDED.to_owned() }.fetch(link, limit).await?;
    count += of_these;
    found.extend(rows.iter().map(|row| {
        let [key, amount, other] = cells(row);
        let log = other.map(|amount| format!("a row of the other account with {amount}"));
        Difference {
            table: "entries",
            key: key.unwrap_or_default(),
            column: Some("amount"),
            tables: amount,
            log,
            place: RowPlace::default(),
        }
    }));
    Ok((found, count))
}

/// A statement that finds rows: their columns, and which.
pub(super) struct WrongRows {
    pub(super) columns: String,
    pub(super) from: String,
}

impl WrongRows {
    /// The first rows, and how many there are.
    pub(super) async fn fetch(self, link: &mut Link, limit: usize) -> Result<(Vec<Vec<Cell>>, u64), Error> {
        let Self { columns, from } = self;
        let sql = format!("SELECT {columns} {from} LIMIT {limit}");
        let rows = link.fetch(&sql, &[], &[ColumnKind::Text; 3]).await?;
        if rows.len() < limit {
            let count = rows.len() as u64;
            return Ok((rows, count));
        }
        let counted = link.fetch(&format!("SELECT COUNT(*) {from}"), &[], &[ColumnKind::Integer]).await?;
        let count = counted.first().and_then(|row| row.first()?.integer());
        Ok((rows, count.and_then(|count| u64::try_from(count).ok()).unwrap_or(limit as u64)))
    }
}

impl Sum {
    /// The sums by key.
    fn sums(&self) -> String {
        let by = self.by.iter().zip(self.key).map(|(its, key)| format!("{its} AS {key}"));
        format!(
            "(SELECT {}, SUM({}) AS total FROM {} GROUP BY {}) AS s",
            by.collect::<Vec<_>>().join(", "),
            self.summed,
            self.from,
            self.by.join(", ")
        )
    }

    fn joined(&self) -> String {
        let same: Vec<String> = self.key.iter().map(|key| format!("s.{key} = t.{key}")).collect();
        same.join(" AND ")
    }

    fn named(&self, alias: &str) -> Vec<String> {
        self.key.iter().map(|key| format!("{alias}.{key}")).collect()
    }

    /// Rows with another sum.
    fn wrong(&self, text: Text) -> WrongRows {
        let Self { table, column, .. } = self;
        let total = "COALESCE(s.total, 0)";
        let but = self.unless.map(|rows| format!(" AND NOT ({rows})")).unwrap_or_default();
        let (key, its) = (text.list(&self.named("t")), text.of(&format!("t.{column}")));
        let columns = format!("{key}, {its}, {}", text.of(total));
        let (sums, joined) = (self.sums(), self.joined());
        let from = format!("FROM {table} AS t LEFT JOIN {sums} ON {joined} WHERE t.{column} <> {total}{but}");
        WrongRows { columns, from }
    }

    /// Sums without a row.
    fn without_row(&self, text: Text) -> WrongRows {
        let key = text.list(&self.named("s"));
        let columns = format!("{key}, {}, {}", text.of("NULL"), text.of("s.total"));
        let (sums, table, joined) = (self.sums(), self.table, self.joined());
        let from = format!("FROM {sums} LEFT JOIN {table} AS t ON {joined} WHERE t.{} IS NULL", self.key[0]);
        WrongRows { columns, from }
    }

    fn difference(&self, row: &[Cell]) -> Difference {
        let [key, tables, total] = cells(row);
        let log = total.map(|total| format!("{total}, the sum of {} in {}", self.summed, self.from));
        let column = tables.as_ref().map(|_| self.column);
        let key = key.unwrap_or_default();
        // The first column of every key here is the resource; no id has a space in it.
        let resource = key.split(' ').next().map(str::to_owned);
        let place = RowPlace { resource, ..RowPlace::default() };
        Difference { table: self.table, key, column, tables, log, place }
    }
}

pub(super) fn cells(row: &[Cell]) -> [Option<String>; 3] {
    [0, 1, 2].map(|at| row.get(at).and_then(Cell::text).map(str::to_owned))
}

/// Values as texts: the type of a sum differs from database to database.
#[derive(Clone, Copy)]
pub(super) struct Text(pub(super) Dialect);

impl Text {
    pub(super) fn of(self, value: &str) -> String {
        let kind = if self.0 == Dialect::MySql { "CHAR" } else { "TEXT" };
        format!("CAST({value} AS {kind})")
    }

    /// Values with spaces in between.
    pub(super) fn list<S: AsRef<str>>(self, values: &[S]) -> String {
        let texts: Vec<String> = values.iter().map(|value| self.of(value.as_ref())).collect();
        match self.0 {
            Dialect::MySql => format!("CONCAT_WS(' ', {})", texts.join(", ")),
            Dialect::Sqlite | Dialect::Postgres => texts.join(" || ' ' || "),
        }
    }
}
