//! What Scarce has booked: from the tables that the log is projected into, or from the log.

use indicatif::ProgressBar;
use jiff::Timestamp;
use scarce_books::{BookError, Kind, Map, Matcher, Movement, Units};
use scarce_core::types::{Id, signed};
use scarce_projection::history::{AccountEntry, LIMIT_MAX, Page, PageOrder, Paging, Span};
use scarce_projection::{Projection, ProjectionOptions};
use scarce_reconcile::{LogMovement, ReconcileError, Wanted};
use scarce_settings::ServerSettings;
use tokio::runtime::Runtime;

use super::BookFile;
use crate::reconcile::sources;
use crate::{Exit, Failed};

/// The kind of entries that bring in what was there where a history begins.
const OPENING: &str = "opening";

/// Hands over all that the file is compared with; returns from where.
pub(super) fn feed(
    options: &BookFile,
    map: &Map,
    at_ms: i64,
    matcher: &mut Matcher<'_>,
) -> Result<String, Failed> {
    let settings = crate::config::load(&options.settings)?.settings;
    let runtime = Runtime::new()?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} reading movements {pos} {per_sec}")
    {
        bar.set_style(style);
    }
    let mut here = Here { map, at_ms, matcher, bar: bar.clone() };
    let fed = match settings.sql_url() {
        Some(url) => runtime.block_on(here.read_tables(&url)),
        None => here.read_log(&settings, &runtime),
    };
    bar.finish_and_clear();
    fed
}

/// Hands over movements.
struct Here<'h, 'm> {
    map: &'h Map,
    /// When stock was counted.
    at_ms: i64,
    matcher: &'h mut Matcher<'m>,
    bar: ProgressBar,
}

impl Here<'_, '_> {
    async fn read_tables(&mut self, url: &str) -> Result<String, Failed> {
        let tables = Projection::open_read_only(url, ProjectionOptions::default()).await?;
        self.matcher.be_of(tables.deployment_id())?;
        self.check_reach(&tables).await?;
        match self.map.kind {
            Kind::Count => self.units_in_tables(&tables).await?,
            Kind::Statement => self.entries(&tables).await?,
        }
        let positions = tables.positions().await?;
        // One partition that is behind lacks movements, however far the others are.
        let last = positions.iter().filter_map(|its| its.at_ms).min().unwrap_or(0);
        Ok(format!(
            "the tables in {}, of which the oldest partition is as of {}",
            tables.database(),
            time(signed(last))
        ))
    }

    /// Tables that begin later than what is compared lack movements.
    async fn check_reach(&self, tables: &Projection) -> Result<(), Failed> {
        let needed = if self.map.kind == Kind::Count { self.at_ms } else { self.matcher.begins_ms() };
        let openings = tables.openings().await?;
        let late = openings.iter().map(|its| signed(its.at_ms)).filter(|at_ms| *at_ms > needed).max();
        let Some(late) = late else { return Ok(()) };
        let begin = time(late);
        let text = format!(
            "the tables begin at {begin}, and what is compared is older; begin later with --from or --at"
        );
        Err(Failed::text(Exit::Usage, text))
    }

    async fn entries(&mut self, tables: &Projection) -> Result<(), Failed> {
        let (from_ms, to_ms) = self.matcher.span();
        let span = Span { from_ms: Some(from_ms), to_ms: Some(to_ms) };
        let here = &self.map.here;
        match (&here.account, &here.asset) {
            (Some(account), _) => self.of_account(tables, account, span).await,
            (None, asset) => {
                for partition in tables.positions().await?.iter().map(|its| its.partition) {
                    self.of_asset(tables, partition, asset.as_deref().unwrap_or_default(), span).await?;
                }
                Ok(())
            }
        }
    }

    async fn of_account(&mut self, tables: &Projection, account: &str, mut span: Span) -> Result<(), Failed> {
        let mut paging = Paging { limit: LIMIT_MAX, after: None, order: PageOrder::OldestFirst };
        loop {
            let page = tables.history().account_statement(account, span, &paging).await?;
            self.page(&page)?;
            // A database may look for the beginning of the span, and not for that of the page, each time.
            span.from_ms = page.rows.last().map(|entry| entry.at_ms);
            paging.after = page.cursor;
            if paging.after.is_none() {
                return Ok(());
            }
        }
    }

    async fn of_asset(
        &mut self,
        tables: &Projection,
        partition: u32,
        asset: &str,
        span: Span,
    ) -> Result<(), Failed> {
        let mut paging = Paging { limit: LIMIT_MAX, after: None, order: PageOrder::OldestFirst };
        loop {
            let page = tables.history().outside_entries(partition, asset, span, &paging).await?;
            self.page(&page)?;
            paging.after = page.cursor;
            if paging.after.is_none() {
                return Ok(());
            }
        }
    }

    fn page(&mut self, page: &Page<AccountEntry>) -> Result<(), BookError> {
        self.bar.inc(page.rows.len() as u64);
        page.rows.iter().filter(|entry| entry.kind != OPENING).try_for_each(|entry| self.entry(entry))
    }

    fn entry(&mut self, its: &AccountEntry) -> Result<(), BookError> {
        let place = self.place(its.partition_id, its.sequence, &its.account_id);
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (operation, hold) = (text(&its.operation_id), text(&its.hold_id));
        let party =
            if self.map.here.asset.is_some() { its.account_id.clone() } else { text(&its.counterparty_id) };
        self.matcher.take(&Movement {
            place: &place,
            at_ms: its.at_ms,
            amount: its.amount,
            operation: &operation,
            hold: &hold,
            party: &party,
        })
    }

    /// The name of a movement: one event may move money of two accounts, but one of them is ours.
    fn place(&self, partition: i64, sequence: i64, account: &str) -> String {
        match self.map.here.asset {
            Some(_) => format!("{partition}/{sequence}/{account}"),
            None => format!("{partition}/{sequence}"),
        }
    }

    async fn units_in_tables(&mut self, tables: &Projection) -> Result<(), Failed> {
        let mut after = String::new();
        loop {
            let items = tables.history().units_then(self.at_ms, &after).await?;
            let Some(last) = items.last() else { return Ok(()) };
            after.clone_from(&last.sku);
            for its in &items {
                take_units(self.matcher, self.map, self.at_ms, (&its.sku, its.unsold, its.reserved))?;
            }
            self.bar.inc(items.len() as u64);
        }
    }

    fn read_log(&mut self, settings: &ServerSettings, runtime: &Runtime) -> Result<String, Failed> {
        // The database is not asked for; only the log is.
        let mut opened = sources::open(settings, runtime)?;
        opened.let_servers_start();
        self.matcher.be_of(opened.log().deployment_id())?;
        match self.map.kind {
            Kind::Count => {
                let (matcher, map, at_ms) = (&mut *self.matcher, self.map, self.at_ms);
                scarce_reconcile::units_then(opened.log(), at_ms, &mut |sku, unsold, reserved| {
                    let units = (sku.as_str(), signed(unsold), signed(reserved));
                    take_units(matcher, map, at_ms, units).map_err(|error| refused(&error))
                })?;
            }
            Kind::Statement => self.movements(&mut opened)?,
        }
        Ok("the log; with --sql it is the tables".to_owned())
    }

    fn movements(&mut self, opened: &mut sources::Opened) -> Result<(), Failed> {
        let here = &self.map.here;
        let name = here.account.as_ref().or(here.asset.as_ref()).map_or("", String::as_str);
        let id = Id::parse(name.as_bytes(), "here")
            .map_err(|error| Failed::text(Exit::Usage, format!("the map is wrong: {error}")))?;
        let wanted = if here.account.is_some() { Wanted::Account(id) } else { Wanted::Asset(id) };
        let (from_ms, to_ms) = self.matcher.span();
        let span = (from_ms, to_ms, self.matcher.begins_ms());
        let is_asset = here.asset.is_some();
        scarce_reconcile::movements(opened.log(), &wanted, span, &mut |its: &LogMovement<'_>| {
            let party = if is_asset { Some(its.account) } else { its.other };
            let place = self.place(its.partition.into(), signed(its.sequence), its.account.as_str());
            self.bar.inc(1);
            let movement = Movement {
                place: &place,
                at_ms: its.at_ms,
                amount: its.amount,
                operation: its.operation.unwrap_or_default(),
                hold: its.hold.map_or("", |hold| hold.as_str()),
                party: party.map_or("", |party| party.as_str()),
            };
            self.matcher.take(&movement).map_err(|error| refused(&error))
        })?;
        Ok(())
    }
}

fn take_units(
    matcher: &mut Matcher<'_>,
    map: &Map,
    at_ms: i64,
    (sku, unsold, reserved): (&str, i64, i64),
) -> Result<(), BookError> {
    let amount = if map.here.units == Units::Available { unsold - reserved } else { unsold };
    matcher.take(&Movement { place: sku, at_ms, amount, operation: sku, hold: "", party: "" })
}

fn refused(error: &BookError) -> ReconcileError {
    ReconcileError::Broken { what: error.to_string() }
}

fn time(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms).map(|its| its.to_string()).unwrap_or_default()
}
