//! `POST /v1/batch`: many operations in one request; each partition receives its share as one batch.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use scarce_api::arguments::{given, only};
use scarce_api::problem::Problem;
use scarce_api::{Misshapen, Operation, answer, operation};
use scarce_core::command::work::{self, WORK_MAX, too_much};
use scarce_core::command::{Body, Command, CommandSpec, Common, Effect};
use scarce_core::outcome::{Outcome, Receipt};
use scarce_core::packets::count_to_cut;
use scarce_engine::Failure;
use scarce_gateway::Acts;
use scarce_limits::rooms::NotAdmitted;
use serde_json::{Value, json};

use super::exchange::{Exchange, take_dry_run};
use super::{Context, HttpShared, reply, rooms, submit};

/// The whole request.
struct Batch {
    is_atomic: bool,
    dry_run: bool,
    operations: Vec<Operation>,
    common: Common,
    /// One of its users waits in a waiting room: it is not carried out, but was perhaps before.
    waits: Option<Box<NotAdmitted>>,
}

/// Answers a batch.
pub(super) async fn handle(State(shared): Context, exchange: Exchange) -> Response {
    let mut batch = match Batch::read(&exchange) {
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
        Ok(batch) => batch,
    };
    let checked = exchange.check(batch.commands());
    if let Err(refused) = checked.and_then(|()| batch.admit(&shared, &exchange)) {
        return *refused;
    }
    match batch.is_atomic {
        true => batch.atomic(&shared, &exchange).await,
        false => batch.each(&shared, &exchange).await,
    }
}

impl Batch {
    fn read(exchange: &Exchange) -> Result<Self, Misshapen> {
        let mut query = exchange.query_fields();
        let dry_run = take_dry_run(&mut query)?;
        query.check_none()?;
        let body = exchange.body.as_ref().ok_or_else(|| Misshapen::new("body", "is missing"))?;
        only(body, &["atomic", "operations"])?;
        let is_atomic = match given(body, "atomic") {
            None => false,
            Some(Value::Bool(value)) => *value,
            Some(_) => return Err(Misshapen::new("atomic", "must be true or false")),
        };
        let operations = operation::read_all(given(body, "operations"), is_atomic)?;
        let common = exchange.common()?;
        if !is_atomic && common != Common::default() {
            let reason = "goes with an atomic batch; otherwise each operation has an id, a deadline and a durability of its own";
            return Err(Misshapen::new("Idempotency-Key", reason));
        }
        if dry_run && !is_atomic {
            check_foretold(&operations)?;
        }
        Ok(Self { is_atomic, dry_run, operations, common, waits: None })
    }

    /// The commands, each with its row.
    fn commands(&self) -> impl Iterator<Item = (&'static CommandSpec, &Command)> + Clone {
        self.operations.iter().map(|operation| (operation.spec, &operation.command))
    }

    /// Whether no waiting room guards any of them, or all may pass, or they may have been sent before under one id.
    fn admit(&mut self, shared: &HttpShared, exchange: &Exchange) -> Result<(), Box<Response>> {
        if self.dry_run {
            return Ok(());
        }
        let commands = self.operations.iter().map(|operation| &operation.command);
        if let Err(refused) = rooms::admit(shared, exchange, commands) {
            self.waits = Some(rooms::as_duplicate(&mut self.common, refused, exchange)?);
        }
        Ok(())
    }

    /// Applies all or none, under one id.
    async fn atomic(self, shared: &HttpShared, exchange: &Exchange) -> Response {
        let Self { operations, mut common, dry_run, waits, .. } = self;
        common.operation = common.operation.or_else(submit::made_id);
        let operation = common.operation.as_ref().map(ToString::to_string).unwrap_or_default();
        let (specs, commands): (Vec<_>, Vec<_>) =
            operations.into_iter().map(|operation| (operation.spec, operation.command)).unzip();
        let _permit = submit::permit_to_cut(count_to_cut(&commands)).await;
        if !dry_run {
            exchange.note_trace(common.operation.as_ref());
        }
        let acts = if dry_run { None } else { exchange.acts(shared, commands.iter(), &common) };
        let namespace = exchange.namespace();
        let routed = submit::write(&shared.engine, namespace, common, Body::Atomic(commands), dry_run).await;
        if let Err(refused) = exchange.check_admitted(shared) {
            return *refused;
        }
        let answer = submit::ask_one(&shared.engine, routed).await;
        submit::record(submit::noted(acts.as_ref(), &answer)).await;
        if let Ok(receipt) = &answer
            && let Some(response) = rooms::refuse_waiting(waits.as_deref(), &receipt.outcome, exchange)
        {
            return response;
        }
        let (response, replayed) = match answer {
            Ok(receipt) if receipt.outcome.is_applied() => {
                let lines = answer::lines(&specs, &receipt.outcome.facts);
                let results: Vec<_> =
                    lines.into_iter().map(|line| json!({ "status": 200, "result": line })).collect();
                let mut body = json!({ "results": results });
                if dry_run {
                    body["dry_run"] = Value::Bool(true);
                } else {
                    body["receipt"] = answer::receipt(&receipt, &operation);
                }
                (reply::json(200, &body), receipt.replayed)
            }
            Ok(receipt) => {
                (reply::refusal(&receipt.outcome, Some(&operation), exchange.speech), receipt.replayed)
            }
            Err(outcome) => (reply::refusal(&outcome, Some(&operation), exchange.speech), false),
        };
        reply::with_operation(response, &operation, replayed)
    }

    /// Applies each operation independently; those of one partition go there as one batch, in order.
    async fn each(self, shared: &HttpShared, exchange: &Exchange) -> Response {
        let mut results: Vec<Option<Value>> = vec![None; self.operations.len()];
        let packets =
            self.operations.iter().map(|its| count_to_cut(std::slice::from_ref(&its.command))).sum();
        let _permit = submit::permit_to_cut(packets).await;
        let (mut heads, mut noted) = (Vec::new(), Vec::new());
        let mut of_partition: BTreeMap<u32, (Vec<usize>, Vec<scarce_engine::Request>)> = BTreeMap::new();
        for (at, operation) in self.operations.into_iter().enumerate() {
            let Operation { spec, command, mut common } = operation;
            let id = if spec.effect == Effect::Write {
                common.operation = common.operation.or_else(submit::made_id);
                common.operation.as_ref().map(ToString::to_string)
            } else {
                None
            };
            let is_done = spec.effect == Effect::Write && !self.dry_run;
            if is_done {
                exchange.note_trace(common.operation.as_ref());
            }
            let acts = if is_done { exchange.acts(shared, std::iter::once(&command), &common) } else { None };
            let routed = match spec.effect {
                Effect::Read => submit::read(&shared.engine, exchange.namespace(), command),
                Effect::Write => {
                    let (namespace, body) = (exchange.namespace(), Body::Single(command));
                    submit::write(&shared.engine, namespace, common, body, self.dry_run).await
                }
            };
            let head = Head { spec, id, acts };
            match routed {
                Err(outcome) => {
                    let answer = Err(outcome);
                    noted.extend(submit::noted(head.acts.as_ref(), &answer));
                    results[at] = Some(head.result(&answer, self.dry_run, exchange));
                }
                Ok((partition, request)) => {
                    let (places, requests) = of_partition.entry(partition).or_default();
                    places.push(at);
                    requests.push(request);
                }
            }
            heads.push(head);
        }
        if let Err(refused) = exchange.check_admitted(shared) {
            return *refused;
        }
        let asked = of_partition.into_iter().map(|(partition, (places, requests))| async move {
            (places, submit::ask(&shared.engine, partition, requests).await)
        });
        for (places, answers) in futures_util::future::join_all(asked).await {
            for (at, answer) in places.into_iter().zip(answers) {
                let answer = answer.map_err(|failure: Failure| failure.outcome());
                noted.extend(submit::noted(heads[at].acts.as_ref(), &answer));
                results[at] = Some(heads[at].result(&answer, self.dry_run, exchange));
            }
        }
        submit::record(noted).await;
        let results: Vec<Value> = results.into_iter().flatten().collect();
        let mut body = json!({ "results": results });
        if self.dry_run {
            body["dry_run"] = Value::Bool(true);
        }
        reply::json(200, &body)
    }
}

/// All answers of a batch are in memory together, and a dry run answers all steps at once.
fn check_foretold(operations: &[Operation]) -> Result<(), Misshapen> {
    let foretold = |operation: &Operation| work::foretold(std::slice::from_ref(&operation.command));
    let work = operations.iter().map(foretold).fold(0, u64::saturating_add);
    if work > WORK_MAX {
        return Err(Misshapen::new("operations", too_much(work).reason));
    }
    Ok(())
}

/// What is kept of an operation until its answer arrives.
struct Head {
    spec: &'static CommandSpec,
    id: Option<String>,
    acts: Option<Acts>,
}

impl Head {
    fn result(&self, answer: &Result<Receipt, Outcome>, dry_run: bool, exchange: &Exchange) -> Value {
        let (outcome, receipt) = match answer {
            Ok(receipt) => (&receipt.outcome, Some(receipt)),
            Err(outcome) => (outcome, None),
        };
        let mut result = if outcome.is_applied() {
            let mut figures = answer::figures(self.spec, &outcome.facts);
            if let (Some(id), Some(receipt), false) = (&self.id, receipt, dry_run) {
                figures.insert("receipt".to_owned(), answer::receipt(receipt, id));
            }
            json!({ "status": 200, "result": figures })
        } else {
            let problem = Problem::of(outcome, self.id.as_deref(), exchange.speech.0);
            json!({ "status": problem.status, "problem": problem.body })
        };
        if let Some(id) = &self.id {
            result["id"] = id.as_str().into();
            result["replayed"] = receipt.is_some_and(|receipt| receipt.replayed).into();
        }
        result
    }
}
