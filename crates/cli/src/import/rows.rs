//! Parses the lines of a file into operations, in any format.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::amounts::Amounts;
use super::args::{Format, Import, Options, Preload};
use super::cells::{BYTE_ORDER_MARK, Cells};
use super::lines::{Found, LINE_BYTES_MAX};
use super::operation::Operation;
use super::preload::{self, Balances, Named};
use super::{Problem, ndjson, operations};
use crate::{Exit, Failed};

/// Parses lines.
pub(super) struct Rows {
    kind: Kind,
    cells: Cells,
    pub(super) amounts: Amounts,
    /// The prefix of generated ids.
    run: Option<String>,
}

enum Kind {
    Ndjson,
    Operations { asset: Option<String> },
    Balances(Balances),
    Stock(Named),
}

impl Rows {
    pub(super) fn new(import: &Import) -> Result<Self, Failed> {
        let options = import.options();
        let kind = match &import.preload {
            None if is_csv(import)? => Kind::Operations { asset: import.asset.clone() },
            None => Kind::Ndjson,
            Some(Preload::Balances(balances)) => Kind::Balances(Balances {
                asset: balances.asset.clone(),
                credit_existing: balances.credit_existing,
                named: Named::default(),
            }),
            Some(Preload::Stock(_)) => Kind::Stock(Named::default()),
            // It has no lines.
            Some(Preload::Redis(_)) => Kind::Ndjson,
        };
        let amounts = Amounts::new(&options.scales).map_err(|problem| Failed::text(Exit::Usage, problem))?;
        let run = options.run.clone().or_else(|| import.allow_no_id.then(new_run));
        Ok(Self { kind, cells: Cells::new(), amounts, run })
    }

    /// The operation on a line; `None` if there is none.
    ///
    /// # Errors
    /// What is wrong with the line; for the header, what is wrong with the file.
    pub(super) fn read(&mut self, line: u64, found: &Found) -> Result<Option<Operation>, Problem> {
        let text = match found {
            Found::Line(text) if line == 1 => text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
            Found::Line(text) => text,
            Found::TooLong => return Err(format!("is longer than {LINE_BYTES_MAX} bytes").into()),
        };
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let own_id = self.run.as_ref().map(|run| format!("{run}-{line}"));
        if let Kind::Ndjson = self.kind {
            return Ok(Some(ndjson::read(line, text, own_id)?));
        }
        if !self.cells.has_header() {
            self.read_header(text)?;
            return Ok(None);
        }
        let (row, amounts) = (self.cells.read(text)?, &mut self.amounts);
        match &mut self.kind {
            Kind::Ndjson => return Ok(None),
            Kind::Operations { asset } => operations::read(line, &row, amounts, asset.as_deref(), own_id),
            Kind::Balances(balances) => balances.read(line, &row, amounts, own_id),
            Kind::Stock(named) => preload::read_stock(line, &row, named, own_id),
        }
        .map(Some)
    }

    /// Whether the header is still missing, without which nothing can be parsed.
    pub(super) fn needs_header(&self) -> bool {
        !matches!(self.kind, Kind::Ndjson) && !self.cells.has_header()
    }

    /// Whether lines that are not sent need not be parsed either.
    pub(super) fn may_skip(&self) -> bool {
        matches!(self.kind, Kind::Ndjson)
            || (matches!(self.kind, Kind::Operations { .. }) && self.cells.has_header())
    }

    fn read_header(&mut self, text: &[u8]) -> Result<(), String> {
        match self.kind {
            Kind::Ndjson => Ok(()),
            Kind::Operations { .. } => self.cells.read_header(text, &operations::columns(), &["command"]),
            Kind::Balances(_) => self.cells.read_header(text, &preload::BALANCES, &["account", "amount"]),
            Kind::Stock(_) => self.cells.read_header(text, &preload::STOCK, &["sku", "quantity"]),
        }
    }
}

impl Import {
    pub(super) fn options(&self) -> &Options {
        match &self.preload {
            None | Some(Preload::Redis(_)) => &self.options,
            Some(Preload::Balances(balances)) => &balances.options,
            Some(Preload::Stock(stock)) => &stock.options,
        }
    }

    pub(super) fn file(&self) -> &Path {
        match &self.preload {
            None | Some(Preload::Redis(_)) => self.file.as_deref().unwrap_or(Path::new("-")),
            Some(Preload::Balances(balances)) => &balances.file,
            Some(Preload::Stock(stock)) => &stock.file,
        }
    }
}

fn is_csv(import: &Import) -> Result<bool, Failed> {
    let extension = import.file().extension().map(|extension| extension.to_ascii_lowercase());
    let format = import.format.unwrap_or(match extension {
        Some(extension) if extension == "csv" => Format::Csv,
        _ => Format::Ndjson,
    });
    if format == Format::Ndjson && (!import.options.scales.is_empty() || import.asset.is_some()) {
        let text = "--scale and --asset go with CSV; in NDJSON amounts are integers in minor units";
        return Err(Failed::text(Exit::Usage, text));
    }
    Ok(format == Format::Csv)
}

/// A unique name for this run, so that within the run a line without an id can be resent like any other.
fn new_run() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("import-{nanos:x}-{:x}", std::process::id())
}
