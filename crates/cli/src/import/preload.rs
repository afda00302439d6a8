//! Initial balances and stock. Existing resources are left as they are, so that a file can be run again at
//! any time: one batch opens and credits an account, and does nothing if the account exists.

use std::collections::BTreeSet;

use scarce_core::command::table;
use scarce_core::types::Id;
use sha2::{Digest, Sha256};

use super::Problem;
use super::amounts::Amounts;
use super::cells::Row;
use super::operation::{self, Existing, Operation, Role, Terms};

/// The columns of a file of balances.
pub(super) const BALANCES: [&str; 4] = ["account", "asset", "amount", "overdraft"];

/// The columns of a file of stock.
pub(super) const STOCK: [&str; 5] = ["sku", "quantity", "per_owner_max", "starts_at", "ends_at"];

/// Detects duplicates, so that a second row is not mistaken for one that is already done.
#[derive(Debug, Default)]
pub(super) struct Named(BTreeSet<u128>);

impl Named {
    fn add(&mut self, column: &str, name: &str) -> Result<(), Problem> {
        if self.0.insert(hash(&[name])) {
            Ok(())
        } else {
            Err(Problem::of(column, "stands on an earlier line already"))
        }
    }
}

/// Parses rows of balances.
#[derive(Debug)]
pub(super) struct Balances {
    pub(super) asset: Option<String>,
    pub(super) credit_existing: bool,
    pub(super) named: Named,
}

impl Balances {
    /// The operation of a row; `own_id` if ids are derived from the run and the line.
    pub(super) fn read(
        &mut self,
        line: u64,
        row: &Row<'_>,
        amounts: &mut Amounts,
        own_id: Option<String>,
    ) -> Result<Operation, Problem> {
        let account = need_id(row, "account")?;
        let asset = row.get("asset").or(self.asset.as_deref());
        let asset = asset.ok_or_else(|| Problem::of("asset", "is missing; give one, or --asset"))?;
        Id::parse(asset.as_bytes(), "asset").map_err(|problem| Problem::from(problem.to_string()))?;
        let mut read = |column: &str, text: &str| {
            amounts.read(text, Some(asset)).map_err(|reason| Problem::of(column, reason))
        };
        let amount = read("amount", row.need("amount")?)?;
        let overdraft = row.get("overdraft").map(|text| read("overdraft", text)).transpose()?;
        let (amount_text, overdraft) = (amount.to_string(), overdraft.unwrap_or_default().to_string());
        let content = ["balance", account, asset, &amount_text, &overdraft];
        match (self.credit_existing, &own_id) {
            (false, _) => self.named.add("account", account)?,
            (true, None) => self.named.add("account", &content_id(&content)).map_err(|_| {
                Problem::of(
                    "account",
                    "stands with the same amount on an earlier line; with --run both count",
                )
            })?,
            (true, Some(_)) => {}
        }
        let id = own_id.unwrap_or_else(|| content_id(&content));
        let open = ["ACCOUNT.OPEN", account, asset, "OVERDRAFT", &overdraft];
        if amount == 0 {
            let operation = Operation::single(line, id, &open, Terms::default());
            return Ok(Operation { role: Role::Create(None), ..operation });
        }
        let credit = ["ACCOUNT.CREDIT", account, &amount_text];
        let existing = self.credit_existing.then(|| {
            let credit = Operation::single(line, format!("{id}-credit"), &credit, Terms::default());
            Box::new(Existing { account: account.to_owned(), asset: asset.to_owned(), credit })
        });
        let operation = Operation::batch(line, id, &[open.as_slice(), &credit], Terms::default());
        Ok(Operation { role: Role::Create(existing), ..operation })
    }
}

/// The operation of a row of stock; `own_id` if ids are derived from the run and the line.
pub(super) fn read_stock(
    line: u64,
    row: &Row<'_>,
    named: &mut Named,
    own_id: Option<String>,
) -> Result<Operation, Problem> {
    let sku = need_id(row, "sku")?;
    let mut words = vec!["STOCK.CREATE", sku, row.need("quantity")?];
    for (token, column) in [("PEROWNER", "per_owner_max"), ("START", "starts_at"), ("END", "ends_at")] {
        words.extend(row.get(column).into_iter().flat_map(|cell| [token, cell]));
    }
    if let Some(spec) = table::find(b"STOCK.CREATE") {
        operation::check(spec, &words)?;
    }
    named.add("sku", sku)?;
    let id = own_id.unwrap_or_else(|| content_id(&words));
    let operation = Operation::single(line, id, &words, Terms::default());
    Ok(Operation { role: Role::Create(None), ..operation })
}

fn need_id<'a>(row: &Row<'a>, column: &'static str) -> Result<&'a str, Problem> {
    let text = row.need(column)?;
    Id::parse(text.as_bytes(), column).map_err(|problem| Problem::from(problem.to_string()))?;
    Ok(text)
}

/// An id derived from the content alone, independent of its line.
fn content_id(content: &[&str]) -> String {
    format!("import-{:032x}", hash(content))
}

fn hash(content: &[&str]) -> u128 {
    let mut hasher = Sha256::new();
    for text in content {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let digest = hasher.finalize();
    digest.iter().take(16).fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}
