//! The routes that map to one command each.

use std::time::Instant;

use axum::extract::State;
use axum::response::Response;
use scarce_api::answer::{self, paged};
use scarce_api::{Fields, Misshapen, Route, arguments, cursor};
use scarce_core::command::{Body, Command, CommandSpec, Common, Effect};
use scarce_core::outcome::{Code, Outcome, Receipt};
use scarce_core::packets::count_to_cut;
use scarce_core::types::Natural;
use scarce_gateway::lists::ListAsked;
use scarce_limits::rooms::NotAdmitted;
use serde_json::{Map, Value};

use super::exchange::{Exchange, take_dry_run};
use super::{Context, HttpShared, reply, rooms, submit};

/// The number of rows of a page by default.
const ROWS_DEFAULT: u64 = 100;

/// The maximum number of rows of a page.
const ROWS_MAX: u64 = 1_000;

/// Answers a route from the table.
pub(super) async fn handle(route: &'static Route, State(shared): Context, exchange: Exchange) -> Response {
    let begun = Instant::now();
    let Some(spec) = route.spec() else {
        return reply::misshapen(&Misshapen::new("path", "leads to no command"), exchange.speech);
    };
    let response = match Asked::read(route, spec, &exchange) {
        // What it is about cannot be read; who may not send it at all learns no more than that.
        Err(_) if let Err(refused) = exchange.check_any(spec) => *refused,
        Err(misshapen) => reply::misshapen(&misshapen, exchange.speech),
        Ok(mut asked) => match exchange.check(std::iter::once((spec, &asked.command))) {
            Err(refused) => *refused,
            Ok(()) => match asked.admit(&shared, &exchange) {
                Err(refused) => *refused,
                Ok(()) => asked.answer(route, &shared, &exchange).await,
            },
        },
    };
    shared.metrics.note_http(spec, response.status().as_u16(), begun.elapsed(), exchange.id());
    response
}

/// A command as the caller requested it.
struct Asked {
    spec: &'static CommandSpec,
    command: Command,
    common: Common,
    dry_run: bool,
    page: Option<Page>,
    /// Its user waits in a waiting room: it is not carried out, but was perhaps before.
    waits: Option<Box<NotAdmitted>>,
}

/// A page of a list.
struct Page {
    rows: u64,
}

impl Asked {
    fn read(route: &Route, spec: &'static CommandSpec, exchange: &Exchange) -> Result<Self, Misshapen> {
        exchange.check_query()?;
        let mut fields = exchange.fields();
        let dry_run = route.is_write() && take_dry_run(&mut fields)?;
        let mut page_words = Vec::new();
        let page = read_page(spec, &mut fields, &mut page_words)?;
        for (name, value) in &page_words {
            fields.add_text(name, value);
        }
        let command = arguments::command(spec, &fields)?;
        let common = if route.is_write() { exchange.common()? } else { Common::default() };
        if spec.common_options().is_empty() && common != Common::default() {
            let reason = "does not go with resolve, nor do Scarce-Deadline and Scarce-Durability; the path names the operation";
            return Err(Misshapen::new("Idempotency-Key", reason));
        }
        Ok(Self { spec, command, common, dry_run, page, waits: None })
    }

    /// Whether no waiting room guards it, or it may pass, or it may have been sent before.
    fn admit(&mut self, shared: &HttpShared, exchange: &Exchange) -> Result<(), Box<Response>> {
        if self.dry_run {
            return Ok(());
        }
        if let Err(refused) = rooms::admit(shared, exchange, std::iter::once(&self.command)) {
            self.waits = Some(rooms::as_duplicate(&mut self.common, refused, exchange)?);
        }
        Ok(())
    }

    async fn answer(self, route: &Route, shared: &HttpShared, exchange: &Exchange) -> Response {
        if let Command::Digest(digest) = &self.command
            && digest.resource.0.is_none()
        {
            return digests(self.spec, &self.command, shared, exchange).await;
        }
        match self.spec.effect {
            Effect::Read => self.read_only(shared, exchange).await,
            Effect::Write => self.write(route, shared, exchange).await,
        }
    }

    async fn read_only(self, shared: &HttpShared, exchange: &Exchange) -> Response {
        let (spec, page) = (self.spec, self.page);
        let outcome = if spec.is_list() {
            submit::list(&shared.engine, ListAsked::new(spec, self.command, exchange.caller.as_ref())).await
        } else {
            let routed = submit::read(&shared.engine, exchange.namespace(), self.command);
            submit::ask_one(&shared.engine, routed)
                .await
                .map_or_else(|outcome| outcome, |receipt| receipt.outcome)
        };
        if !outcome.is_applied() {
            return reply::refusal(&outcome, None, exchange.speech);
        }
        let mut body = answer::figures(spec, &outcome.facts);
        if let Some(page) = page {
            page.cut(spec, &mut body);
        }
        reply::json(200, &Value::Object(body))
    }

    async fn write(self, route: &Route, shared: &HttpShared, exchange: &Exchange) -> Response {
        let Self { spec, command, mut common, dry_run, waits, .. } = self;
        // `OPERATION.RESOLVE` answers with the id of the operation that it settles.
        let operation = if let Command::OperationResolve(resolve) = &command {
            resolve.operation.to_string()
        } else {
            common.operation = common.operation.or_else(submit::made_id);
            common.operation.as_ref().map(ToString::to_string).unwrap_or_default()
        };
        let _permit = submit::permit_to_cut(count_to_cut(std::slice::from_ref(&command))).await;
        if !dry_run {
            exchange.note_trace(common.operation.as_ref());
        }
        let acts = if dry_run { None } else { exchange.acts(shared, std::iter::once(&command), &common) };
        let namespace = exchange.namespace();
        let routed = submit::write(&shared.engine, namespace, common, Body::Single(command), dry_run).await;
        if let Err(refused) = exchange.check_admitted(shared) {
            return *refused;
        }
        let answer = submit::ask_one(&shared.engine, routed).await;
        submit::record(submit::noted(acts.as_ref(), &answer)).await;
        let (outcome, receipt) = match answer {
            Ok(receipt) => (receipt.outcome.clone(), Some(receipt)),
            Err(outcome) => (outcome, None),
        };
        if let Some(response) = rooms::refuse_waiting(waits.as_deref(), &outcome, exchange) {
            return response;
        }
        let replayed = receipt.as_ref().is_some_and(|receipt| receipt.replayed);
        if outcome.code != Code::Applied {
            let response = reply::refusal(&outcome, Some(&operation), exchange.speech);
            return reply::with_operation(response, &operation, replayed);
        }
        let status = if dry_run { 200 } else { route.success_status };
        let response = reply::json(status, &applied(spec, &outcome, receipt.as_ref(), &operation, dry_run));
        reply::with_operation(response, &operation, replayed)
    }
}

/// The body of an applied command: its values and its position in the log, or that it was not applied.
fn applied(
    spec: &CommandSpec,
    outcome: &Outcome,
    receipt: Option<&Receipt>,
    operation: &str,
    dry_run: bool,
) -> Value {
    let mut body = answer::figures(spec, &outcome.facts);
    if dry_run {
        body.insert("dry_run".to_owned(), Value::Bool(true));
    } else if let Some(receipt) = receipt {
        body.insert("receipt".to_owned(), answer::receipt(receipt, operation));
    }
    Value::Object(body)
}

/// The digests of every partition.
async fn digests(
    spec: &CommandSpec,
    command: &Command,
    shared: &HttpShared,
    exchange: &Exchange,
) -> Response {
    let mut rows = Vec::new();
    for partition in 0..shared.engine.partitions() {
        let request = scarce_engine::Request::Read(String::new(), command.clone());
        match submit::ask_one(&shared.engine, Ok((partition, request))).await {
            Ok(receipt) => {
                if let Some(Value::Array(its)) =
                    answer::figures(spec, &receipt.outcome.facts).remove("digests")
                {
                    rows.extend(its);
                }
            }
            Err(outcome) => return reply::refusal(&outcome, None, exchange.speech),
        }
    }
    reply::json(200, &serde_json::json!({ "digests": rows }))
}

/// The requested page of a list, as words of the command: one row more than the page has, to learn whether
/// there are more.
fn read_page(
    spec: &CommandSpec,
    fields: &mut Fields<'_>,
    words: &mut Vec<(&'static str, String)>,
) -> Result<Option<Page>, Misshapen> {
    if paged(spec).is_none() {
        return Ok(None);
    }
    let rows = read_limit(fields, ROWS_DEFAULT, ROWS_MAX)?;
    if let Some(text) = fields.take_text("cursor")? {
        words.push(("after", cursor::row(spec.name, text)?));
    }
    words.push(("count", (rows + 1).to_string()));
    Ok(Some(Page { rows }))
}

/// Reads the requested number of rows.
///
/// # Errors
/// When the number is out of range.
pub(super) fn read_limit(fields: &mut Fields<'_>, default: u64, max: u64) -> Result<u64, Misshapen> {
    let Some(text) = fields.take_text("limit")? else { return Ok(default) };
    let limit = Natural::parse(text.as_bytes(), "limit")?.get();
    let is_within = (1..=max).contains(&limit);
    if is_within { Ok(limit) } else { Err(Misshapen::new("limit", format!("must be 1 to {max}"))) }
}

impl Page {
    /// Drops the extra row and adds the cursor at which the list continues.
    fn cut(&self, spec: &CommandSpec, body: &mut Map<String, Value>) {
        let Some((list, key)) = paged(spec) else { return };
        let Some(Value::Array(rows)) = body.get_mut(list) else { return };
        let rows_max = usize::try_from(self.rows).unwrap_or(usize::MAX);
        let has_more = rows.len() > rows_max;
        rows.truncate(rows_max);
        let last = rows.last().and_then(|row| row.get(key)).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let next = last.filter(|_| has_more).map(|last| cursor::after_row(spec.name, &last));
        body.insert("has_more".to_owned(), Value::Bool(has_more));
        body.insert("cursor".to_owned(), next.map_or(Value::Null, Value::String));
    }
}
