//! A batch with a digest in it. A digest is taken beside the lane, so what stands behind it in the same batch is handed
//! in only when it is answered: requests of one batch are carried out in their order.

use std::sync::Arc;

use scarce_core::command::Command;
use scarce_core::state::StateSettings;
use scarce_engine::engine::{Answers, Failure, Reply, Request};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use super::lane::Mail;
use super::moved::MovedIds;

fn is_digest(request: &Request) -> bool {
    matches!(request, Request::Read(_, Command::Digest(_)))
}

/// Whether a batch has a digest and something else besides.
pub(super) fn is_mixed(batch: &[Request]) -> bool {
    batch.len() > 1 && batch.iter().any(is_digest)
}

/// Hands a batch in part by part, each when the one before is answered.
pub(super) async fn submit(
    inbox: Sender<Mail>,
    (settings, moved): (StateSettings, Option<Arc<MovedIds>>),
    batch: Vec<Request>,
    reply: Reply,
) {
    let mut answers = Answers::new();
    let parts: Vec<Vec<Request>> =
        batch.chunk_by(|one, next| !is_digest(one) && !is_digest(next)).map(<[Request]>::to_vec).collect();
    for part in parts {
        let count = part.len();
        let (sender, answered) = oneshot::channel();
        let mail = Mail::new(
            part,
            (&settings, moved.as_deref()),
            Box::new(move |answers| drop(sender.send(answers))),
        );
        let sent = inbox.send(mail).await;
        let stopped = Failure::Unavailable { reason: "the engine has stopped".to_owned() };
        let missing = || vec![Err(stopped); count];
        match (sent, answered.await) {
            (Ok(()), Ok(its)) => answers.extend(its),
            _ => answers.extend(missing()),
        }
    }
    reply(answers);
}
