//! The server as the host: it credits claims itself, and a database shows every account.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use scarce_api::Fields;
use scarce_api::history::{Asked, find};
use scarce_delivery::{Counts, Delivery};
use scarce_projection::{Projection, ProjectionOptions};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::proof::{Proof, cents, grouped};
use super::super::server::Server;
use crate::failure::DemoError;
use scarce_client::Info;
use scarce_client::{Client, integer};

/// How long the server may take to credit everything.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often to check.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The database of a server that settles.
pub(super) struct Bank {
    url: String,
}

impl Bank {
    /// The user's own database, or a file next to the server's data.
    pub(super) fn new(url: &str, server: &Server) -> Self {
        let file = || format!("sqlite://{}", server.beside("bank.db").display());
        Self { url: if url.is_empty() { file() } else { url.to_owned() } }
    }

    /// Arguments for the server.
    pub(super) fn arguments(&self) -> Vec<String> {
        let words = ["--sql", &self.url, "--settlement", "engine", "--settlement-from-beginning"];
        words.map(str::to_owned).to_vec()
    }

    /// Waits until every claim is credited, and all of that is in the tables.
    pub(super) fn wait(&self, client: &mut Client) -> Result<Counts, DemoError> {
        let deployment_id = Info::ask(client)?.deployment_id;
        let runtime = Runtime::new()?;
        let delivery = runtime.block_on(Delivery::open(
            &self.url,
            &deployment_id,
            scarce_delivery::DeliveryOptions::default(),
        ));
        let delivery = delivery.map_err(DemoError::caused_by)?;
        let begun = Instant::now();
        loop {
            // Recorded claims are pending or done; when none is pending, all credits are in the log.
            let has_taken = has_drained(client)?;
            let counts = runtime.block_on(delivery.settlement_counts());
            let counts = counts.map_err(DemoError::caused_by)?;
            let is_settled = has_taken && counts.pending == 0 && has_drained(client)?;
            if is_settled || begun.elapsed() > PATIENCE {
                return Ok(counts);
            }
            std::thread::park_timeout(LOOK_INTERVAL);
        }
    }

    /// The statement of every account with a balance.
    pub(super) fn statements(&self, balances: &BTreeMap<String, u64>) -> Result<Statements, DemoError> {
        Runtime::new()?.block_on(async {
            let projection = Projection::open_read_only(&self.url, ProjectionOptions::default()).await?;
            let mut statements = BTreeMap::new();
            for account in balances.keys() {
                statements.insert(account.clone(), Statement::read(&projection, account).await?);
            }
            Ok(Statements(statements))
        })
    }
}

/// Statements by account.
pub(super) struct Statements(BTreeMap<String, Statement>);

impl Statements {
    /// Compares them with the balances.
    pub(super) fn judge(
        &self,
        proof: &mut Proof,
        counts: &Counts,
        claims: u64,
        balances: &BTreeMap<String, u64>,
    ) {
        let adds_up = |(account, balance): &(&String, &u64)| {
            self.0.get(*account).and_then(Statement::balance) == i64::try_from(**balance).ok()
        };
        let wrong = balances.iter().filter(|pair| !adds_up(pair)).count();
        let entries: u64 = self.0.values().map(|statement| statement.entries.len() as u64).sum();
        let sum: u64 = self.0.values().filter_map(Statement::balance).map(i64::unsigned_abs).sum();
        let is_kept = wrong == 0 && counts.dead == 0 && counts.done == claims && entries == claims;
        let text = format!(
            "{} of {} claims settled, {} dead letters; {} entries in SQL, {} in all, {wrong} accounts that differ",
            grouped(counts.done),
            grouped(claims),
            counts.dead,
            grouped(entries),
            cents(sum)
        );
        let figures = json!({
            "settled": counts.done, "pending": counts.pending, "dead": counts.dead, "entries": entries, "sum": sum,
            "wrong": wrong,
        });
        proof.judge("statements from SQL add up", is_kept, text, figures);
    }

    /// Falsifies an entry so that it shows a larger payment.
    pub(super) fn falsify(&mut self) {
        if let Some(entry) = self.0.values_mut().find_map(|statement| statement.entries.first_mut()) {
            entry.amount += 1;
        }
    }
}

/// An account's statement.
struct Statement {
    entries: Vec<StatementEntry>,
    /// Whether it contains all entries.
    is_whole: bool,
}

struct StatementEntry {
    amount: i64,
    /// The account's last balance.
    balance: i64,
}

impl Statement {
    async fn read(projection: &Projection, account: &str) -> Result<Self, DemoError> {
        let mut fields = Fields::default();
        [("account", account), ("sort", "oldest_first"), ("limit", "1000")]
            .iter()
            .for_each(|(name, value)| fields.add_text(name, value));
        let history = find("account-entries").ok_or_else(|| DemoError::failed("no statements"))?;
        let asked = Asked::read(history, fields);
        let asked = asked.map_err(|misshapen| DemoError::failed(misshapen.reason))?;
        let page = projection.history().ask(&asked).await?;
        let number = |row: &Value, name: &str| row[name].as_i64().unwrap_or_default();
        let entry = |row| StatementEntry { amount: number(row, "amount"), balance: number(row, "balance") };
        Ok(Self { entries: page.rows.iter().map(entry).collect(), is_whole: !page.has_more })
    }

    /// The sum of the amounts, if each balance is the previous one plus the entry's amount.
    fn balance(&self) -> Option<i64> {
        let balance = self.entries.iter().try_fold(0, |balance, entry| {
            let balance = balance + entry.amount;
            (balance == entry.balance).then_some(balance)
        });
        balance.filter(|_| self.is_whole)
    }
}

/// Whether the projection and the settlement have both caught up with the log.
fn has_drained(client: &mut Client) -> Result<bool, DemoError> {
    let redis::Value::Array(rows) = client.call(&["CONSUMER", "LIST"])? else { return Ok(false) };
    let lag = |row: &redis::Value| match row {
        redis::Value::Array(fields) => fields.get(5).and_then(integer),
        _ => None,
    };
    Ok(rows.len() >= 2 && rows.iter().all(|row| lag(row) == Some(0)))
}
