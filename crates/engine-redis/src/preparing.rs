//! Campaigns of more packets than one call lays ready. The first call creates the campaign; its further packets are laid
//! ready call by call, and other batches of the partition are served between these. Until the last one nobody gets a packet.

use std::collections::VecDeque;

use scarce_core::command::{Body, Command};
use scarce_core::types::Id;
use scarce_engine::engine::{Failure, Request};

use super::call::{self, EncodedRequest, Owed};
use super::lane::{Lane, Mail, filled};
use super::settle::{Answered, Decided, levels};

/// How many batches with such campaigns may wait: each may have a million packets.
const WAITING_MAX: usize = 16;

/// A batch whose requests are carried out in their order: what is behind a campaign waits until it has its packets.
struct Batch {
    mail: Mail,
    answers: Vec<Answered>,
    /// The campaign that was created last, while packets of it are missing.
    campaign: Option<Id>,
}

/// The batches with campaigns that take several calls, one after the other.
#[derive(Default)]
pub(super) struct Campaigns {
    waiting: VecDeque<Batch>,
}

/// The campaign that a request creates, if one call cannot lay all of its packets ready.
fn long_campaign(request: &Request, step_max: usize) -> Option<&Id> {
    let Request::Write(envelope) = request else { return None };
    match (&envelope.body, envelope.prepared()) {
        (Body::Single(Command::PacketCreate(create)), [prepared])
            if prepared.amounts().len() > step_max.max(1) =>
        {
            Some(&create.campaign)
        }
        _ => None,
    }
}

impl Campaigns {
    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the batches out that create such campaigns.
    pub(super) fn set_aside(&mut self, mails: &mut Vec<Mail>, step_max: usize) {
        let is_long = |mail: &mut Mail| mail.batch.iter().any(|its| long_campaign(its, step_max).is_some());
        for mail in mails.extract_if(.., is_long) {
            if self.waiting.len() < WAITING_MAX {
                self.waiting.push_back(Batch { mail, answers: Vec::new(), campaign: None });
            } else {
                let failure = Failure::Overloaded { queue: "campaigns" };
                (mail.reply)(vec![Err(failure); mail.batch.len()]);
            }
        }
    }
}

impl Batch {
    fn is_answered(&self) -> bool {
        self.campaign.is_none() && self.answers.len() == self.mail.batch.len()
    }

    /// The campaign is there, and its packets are not; what is behind it is not carried out.
    fn fail(&mut self, failure: &Failure) {
        let reason = format!("the campaign was created, and not all of its packets are prepared: {failure}");
        self.answers.pop();
        self.answers.push(Failure::Unknown { reason }.into());
        self.answers = filled(std::mem::take(&mut self.answers), self.mail.batch.len(), failure);
    }
}

impl Lane {
    /// Takes one turn of the batch in front. Gives it when it is answered.
    pub(super) async fn serve_campaigns(&mut self, campaigns: &mut Campaigns) -> Option<Decided> {
        let Some(batch) = campaigns.waiting.front_mut() else {
            self.go_on_preparing().await;
            return None;
        };
        match batch.campaign.take() {
            None => self.serve_through_campaign(batch).await,
            Some(campaign) => match self.prepare(&campaign).await {
                Ok(is_missing) => batch.campaign = is_missing.then_some(campaign),
                Err(failure) => batch.fail(&failure),
            },
        }
        if !batch.is_answered() {
            return None;
        }
        let Batch { mail, answers, .. } = campaigns.waiting.pop_front()?;
        let levels = levels(&mail.batch.iter().collect::<Vec<_>>(), self.durability);
        Some(Decided { levels, answers, reply: mail.reply })
    }

    /// Serves the requests of a batch up to the next campaign that takes several calls.
    async fn serve_through_campaign(&mut self, batch: &mut Batch) {
        let step_max = self.settings.packets_per_step_max;
        let first = batch.answers.len();
        let rest = &batch.mail.batch[first..];
        let campaign = rest.iter().position(|request| long_campaign(request, step_max).is_some());
        let count = campaign.map_or(rest.len(), |at| at + 1);
        let requests: Vec<&Request> = rest[..count].iter().collect();
        let encoded: &[EncodedRequest] = &batch.mail.encoded[first..first + count];
        batch.answers.extend(self.decide(&requests, encoded).await);
        let is_created = batch.answers.last().is_some_and(is_applied);
        batch.campaign = campaign.and_then(|at| long_campaign(&rest[at], step_max)).cloned();
        batch.campaign = batch.campaign.take().filter(|_| is_created);
    }

    /// Lays the next packets of a campaign ready. Whether more are missing.
    async fn prepare(&mut self, campaign: &Id) -> Result<bool, Failure> {
        match self.call(&[&call::prepare(campaign)]).await {
            Ok((reply, _)) => Ok(reply.owed != Owed::Nothing),
            Err(refused) => {
                self.is_full |= refused.is_full();
                self.status.note_full(self.is_full);
                Err(refused.into())
            }
        }
    }

    /// Goes on with a campaign that another process has left, as the sweeper has found.
    async fn go_on_preparing(&mut self) {
        let Some(campaign) = self.status.unprepared() else { return };
        if !self.prepare(&campaign).await.unwrap_or(false) {
            self.status.note_unprepared(None);
        }
    }
}

/// Whether something was applied, by this request or by the first one with its ID.
fn is_applied(answer: &Answered) -> bool {
    answer.result.as_ref().is_ok_and(|receipt| receipt.outcome.is_applied())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use scarce_core::command::table::{Command as Parsed, find};
    use scarce_core::command::{Common, Envelope};

    use super::super::settings::default_state;
    use super::*;

    fn mail(line: &str, refused: &Arc<AtomicUsize>) -> Mail {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let command = Parsed::parse(find(words[0]).expect("a command"), &words[1..]).expect(line).0;
        let envelope = Envelope::new("", Common::default(), Body::Single(command), &[0; 32]).expect(line);
        let refused = Arc::clone(refused);
        let reply = Box::new(move |answers: Vec<_>| {
            refused.fetch_add(answers.len(), Ordering::Relaxed);
        });
        Mail::new(vec![Request::Write(envelope)], (&default_state(), None), reply)
    }

    #[test]
    fn batches_with_long_campaigns_wait_aside_and_not_more_than_there_is_room_for() {
        let refused = Arc::new(AtomicUsize::new(0));
        let (mut campaigns, step_max) = (Campaigns::default(), default_state().packets_per_step_max);
        let short = format!("PACKET.CREATE c EUR PLAN {step_max} {step_max} EVEN");
        let mut mails = vec![mail("ACCOUNT.CREDIT a 5", &refused), mail(&short, &refused)];
        let long = format!("PACKET.CREATE c EUR PLAN {0} {0} EVEN", step_max + 1);
        mails.extend((0..WAITING_MAX + 2).map(|_| mail(&long, &refused)));
        campaigns.set_aside(&mut mails, step_max);
        let left = (mails.len(), campaigns.waiting.len(), refused.load(Ordering::Relaxed));
        assert_eq!(left, (2, WAITING_MAX, 2));
    }
}
