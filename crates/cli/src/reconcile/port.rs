//! A server's RESP port, as the engine's answers.

use redis::Value;
use scarce_client::{Client, ClientError, Info, Reply, integer, text};
use scarce_core::types::Id;
use scarce_engine::Image;
use scarce_reconcile::{EngineSource, Figures, HeldDigest, ReconcileError, look_commands};

/// A server's RESP port.
pub(super) struct Port {
    client: Client,
    deployment_id: String,
}

impl Port {
    pub(super) fn new(mut client: Client) -> Result<Self, ClientError> {
        let deployment_id = Info::ask(&mut client)?.deployment_id;
        Ok(Self { client, deployment_id })
    }

    fn ask(&mut self, commands: &[Vec<&str>]) -> Result<Vec<Value>, ReconcileError> {
        self.client.pipeline(commands).map_err(|error| ReconcileError::Unanswered { what: error.to_string() })
    }
}

impl EngineSource for Port {
    fn deployment_id(&self) -> &str {
        &self.deployment_id
    }

    fn digests(&mut self, _: u32, resources: &[Id]) -> Result<Vec<HeldDigest>, ReconcileError> {
        let commands: Vec<_> = resources.iter().map(|id| vec!["DIGEST", id.as_str()]).collect();
        self.ask(&commands)?.iter().map(|answer| row(answer, 0)).collect()
    }

    fn whole(&mut self, partition: u32) -> Result<HeldDigest, ReconcileError> {
        let answers = self.ask(&[vec!["DIGEST"]])?;
        answers.first().map_or_else(|| Err(unclear("nothing")), |answer| row(answer, partition))
    }

    fn figures(&mut self, _: u32, resource: &Id) -> Result<Figures, ReconcileError> {
        let commands: Vec<_> = look_commands().map(|spec| vec![spec.name, resource.as_str()]).collect();
        let answers = self.ask(&commands)?;
        let mut figures = Figures::new();
        for (spec, answer) in look_commands().zip(answers) {
            let group = spec.group().to_ascii_lowercase();
            match Reply::of(answer) {
                Reply::Applied(values) => {
                    let pairs = values.chunks(2).skip(1);
                    figures.extend(pairs.filter_map(|pair| match pair {
                        [name, value] => Some((format!("{group}.{}", text(name)?), shown(value))),
                        _ => None,
                    }));
                }
                Reply::Refused(..) => {}
                Reply::Error(error) => return Err(unclear(&error)),
            }
        }
        Ok(figures)
    }

    fn image(&mut self, _: u32) -> Result<Option<Box<dyn Image>>, ReconcileError> {
        Ok(None)
    }
}

/// A value as the core shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::Nil => "-".to_owned(),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        value => text(value).or_else(|| integer(value).map(|value| value.to_string())).unwrap_or_default(),
    }
}

fn unclear(what: &str) -> ReconcileError {
    ReconcileError::Unanswered { what: format!("it answered {what}") }
}

/// A partition's row of an answer to `DIGEST`; of a resource there is one row.
fn row(answer: &Value, partition: u32) -> Result<HeldDigest, ReconcileError> {
    let Value::Array(rows) = answer else { return Err(unclear(&format!("{answer:?}"))) };
    let of_partition = |row: &&Value| match row {
        Value::Array(row) => rows.len() == 1 || row.first().and_then(integer) == Some(partition.into()),
        _ => false,
    };
    if let Some(Value::Array(row)) = rows.iter().find(of_partition)
        && let [_, sequence, digest] = row.as_slice()
        && let Some(Ok(sequence)) = integer(sequence).map(u64::try_from)
        && let Some(Ok(digest)) = text(digest).map(|digest| u128::from_str_radix(&digest, 16))
    {
        return Ok(HeldDigest { sequence, digest });
    }
    Err(unclear(&format!("{answer:?}")))
}
