//! The steps by which a batch of packets is credited in the engine.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::command::table::{AccountCredit, AccountGet, AccountOpen, PacketGet};
use scarce_core::command::{Body, Command, Common, Envelope};
use scarce_core::event::Position;
use scarce_core::outcome::codes::Kind;
use scarce_core::outcome::{Code, Receipt};
use scarce_core::types::{Id, Natural, OperationId, Positive};
use scarce_engine::{Failure, Request};

use super::claims::ClaimedSettlement;
use super::doubts::other_credit;
use super::ids::IdScheme;
use super::inside::{Addressed, Settler, never};
use super::questions::{Answered, Question, ask, partition_of, read, text_at};
use crate::queue::{Ended, Failed, Resolution};
use crate::store::now_ms;

/// How many campaigns and how many accounts are cached.
const HELD_MAX: usize = 100_000;

/// What the engine knows of an account.
enum Standing {
    /// It keeps this asset.
    Keeps(String),
    /// It does not exist, and was not opened; the reason.
    Missing(String),
    /// The engine could not answer; the reason.
    Unclear(String),
}

impl Settler {
    /// Asks the engine for the assets of campaigns that were created before the consumer began. Each row gets its asset
    /// before it is credited: a credit whose asset is not known could be taken for one in another.
    pub(super) async fn learn_assets(&mut self, claimed: &[ClaimedSettlement]) {
        let without = claimed.iter().filter(|its| its.asset.is_none()).map(|its| its.campaign.as_str());
        let (known, unknown): (BTreeSet<&str>, BTreeSet<&str>) =
            without.partition(|campaign| self.assets.contains_key(*campaign));
        for campaign in known {
            if let Some(asset) = self.assets.get(campaign).cloned() {
                self.hold_asset(campaign, asset).await;
            }
        }
        let campaigns: Vec<Id> =
            unknown.into_iter().filter_map(|name| Id::parse(name.as_bytes(), "campaign").ok()).collect();
        let questions = campaigns
            .iter()
            .map(|id| read(&*self.engine, "", id, PacketGet { campaign: id.clone() }))
            .collect();
        let answers = ask(&self.engine, questions, self.patience()).await;
        for (campaign, answer) in campaigns.iter().zip(answers) {
            if let Ok(receipt) = answer
                && receipt.outcome.is_applied()
                && let Some(asset) = text_at(&receipt, 1)
            {
                self.hold_asset(campaign.as_str(), asset).await;
            }
        }
    }

    async fn hold_asset(&mut self, campaign: &str, asset: String) {
        let sql = "UPDATE delivery_settlements SET asset = ? WHERE campaign = ? AND asset IS NULL";
        // If this is not recorded, nothing is credited, and the engine is asked again.
        if self.delivery.store().execute(sql, &[asset.as_str().into(), campaign.into()]).await.is_err() {
            self.assets.remove(campaign);
            return;
        }
        if self.assets.len() >= HELD_MAX {
            self.assets.clear();
        }
        self.assets.insert(campaign.to_owned(), asset);
    }

    /// Finds accounts, and opens missing ones if the options say so. Accounts in another asset get nothing.
    pub(super) async fn find_accounts(&mut self, all: Vec<Addressed>, ended: &mut Ended) -> Vec<Addressed> {
        let standings = self.learn_accounts(&all).await;
        let mut found = Vec::with_capacity(all.len());
        for its in all {
            let account = its.account.as_str();
            let known = self.accounts.get(account).cloned().map(Standing::Keeps);
            let claimed = &its.claimed;
            match known.as_ref().or_else(|| standings.get(account)) {
                Some(Standing::Keeps(asset)) if asset == its.asset.as_str() => found.push(its),
                Some(Standing::Keeps(asset)) => {
                    let reason = format!(
                        "account '{account}' keeps {asset}, and the packet holds {}; have the template name the \
                         asset, or move the money by hand",
                        its.asset
                    );
                    ended.failed.push(never(claimed, reason, claimed.untouched()));
                }
                Some(Standing::Missing(reason)) => {
                    ended.failed.push(self.later(claimed, reason.clone(), claimed.untouched()));
                }
                Some(Standing::Unclear(reason)) => {
                    ended.failed.push(self.engine_failed(claimed, reason.clone(), claimed.untouched()));
                }
                None => {
                    let reason = format!("the engine did not say whether account '{account}' exists");
                    ended.failed.push(self.engine_failed(claimed, reason, claimed.untouched()));
                }
            }
        }
        found
    }

    /// Asks the engine for accounts that are not cached; caches facts that cannot change.
    async fn learn_accounts(&mut self, all: &[Addressed]) -> BTreeMap<String, Standing> {
        if self.accounts.len() >= HELD_MAX {
            self.accounts.clear();
        }
        let unknown: BTreeMap<&Id, &Id> = all
            .iter()
            .filter(|its| !self.accounts.contains_key(its.account.as_str()))
            .map(|its| (&its.account, &its.asset))
            .collect();
        let (mut asked, mut questions) = (Vec::with_capacity(unknown.len()), Vec::new());
        for (account, asset) in &unknown {
            let opening = if self.options.open_accounts { self.open(account, asset) } else { None };
            asked.push((*account, opening.is_some()));
            questions.extend(opening);
            questions.push(read(&*self.engine, "", account, AccountGet { account: (*account).clone() }));
        }
        let mut answers = ask(&self.engine, questions, self.patience()).await.into_iter();
        let mut standings = BTreeMap::new();
        for (account, was_opened) in asked {
            let opened = if was_opened { answers.next() } else { None };
            let standing = standing(account, opened, answers.next());
            if let Standing::Keeps(asset) = &standing {
                self.accounts.insert(account.as_str().to_owned(), asset.clone());
            }
            standings.insert(account.as_str().to_owned(), standing);
        }
        standings
    }

    /// Opens an account; without an id, so that a refusal because it exists is not remembered.
    fn open(&self, account: &Id, asset: &Id) -> Option<Question> {
        let (account, asset) = (account.clone(), asset.clone());
        let partition = partition_of(&*self.engine, &account);
        let command = AccountOpen { account, asset, overdraft: Natural::ZERO };
        let body = Body::Single(Command::from(command));
        let envelope = Envelope::new("", Common::default(), body, self.engine.secret()).ok()?;
        Some(self.bound(partition, envelope))
    }

    /// A change that the engine refuses in another epoch than that in which claims were compared with the log: a failover
    /// in between may have lost them.
    fn bound(&self, partition: u32, mut envelope: Envelope) -> Question {
        envelope.epoch = self.checked.as_ref().and_then(|checked| checked.epochs.get(&partition).copied());
        (partition, Request::Write(envelope))
    }

    /// Credits packets, each under its id, with a deadline before the engine may forget that id.
    pub(super) async fn credit(&mut self, all: Vec<Addressed>, ended: &mut Ended) {
        let (mut sent, mut questions) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
        for its in all {
            match self.credit_of(&its) {
                Some(question) => {
                    questions.push(question);
                    sent.push(its);
                }
                None => {
                    let reason = "its amount is not a valid amount".to_owned();
                    ended.failed.push(never(&its.claimed, reason, its.claimed.untouched()));
                }
            }
        }
        let answers = ask(&self.engine, questions, self.patience()).await;
        for (its, answer) in sent.iter().zip(answers) {
            match (self.judge(its, &answer), answer) {
                (None, Ok(receipt)) => ended.credit(its.claimed.id, receipt.partition, end_of(&receipt)),
                (failed, _) => ended.failed.extend(failed),
            }
        }
    }

    fn credit_of(&self, its: &Addressed) -> Option<Question> {
        let (partition, envelope) = self.credit_under(its, its.claimed.scheme)?;
        Some(self.bound(partition, envelope))
    }

    /// The credit of a packet under its id of a scheme, with its partition.
    pub(super) fn credit_under(&self, its: &Addressed, scheme: IdScheme) -> Option<(u32, Envelope)> {
        let Addressed { claimed, account, .. } = its;
        let operation = scheme.operation_id(&claimed.campaign, claimed.packet, claimed.round);
        // A clock that was ahead when it was first tried does not prolong what the engine is sure to remember.
        let deadline = claimed.first_tried_at_ms.min(now_ms()).saturating_add(self.window_ms());
        let common = Common {
            operation: Some(OperationId::parse(operation.as_bytes(), "ID").ok()?),
            deadline: Some(u64::try_from(deadline).ok()?),
            durability: None,
        };
        let command = AccountCredit { account: account.clone(), amount: Positive::new(claimed.amount)? };
        let body = Body::Single(Command::from(command));
        let envelope = Envelope::new(scheme.namespace(), common, body, self.engine.secret()).ok()?;
        Some((partition_of(&*self.engine, account), envelope))
    }

    /// The failure that an answer to a credit means; `None` if the credit was made.
    fn judge(&mut self, its: &Addressed, answer: &Answered) -> Option<Failed> {
        let claimed = &its.claimed;
        let receipt = match answer {
            Ok(receipt) => receipt,
            Err(failure @ Failure::Unknown { .. }) => {
                return Some(self.engine_failed(claimed, failure.to_string(), Resolution::Open));
            }
            Err(failure) => {
                return Some(self.engine_failed(claimed, failure.to_string(), claimed.untouched()));
            }
        };
        let code = receipt.outcome.code;
        let reason = receipt.outcome.to_string();
        Some(match (code, code.kind()) {
            (_, Kind::Applied) => return None,
            (Code::Unknown, _) => self.engine_failed(claimed, reason, Resolution::Open),
            (_, Kind::Failure) => self.engine_failed(claimed, reason, claimed.untouched()),
            // The engine would have repeated the answer of an attempt that it remembers; the next attempt
            // looks it up.
            (Code::DeadlinePassed, _) => self.later(claimed, reason, claimed.untouched()),
            (_, Kind::Rejected) => never(claimed, reason, claimed.untouched()),
            (Code::IdReused, _) => {
                let found = format!(
                    "{reason} (somebody else uses ids that begin with 'settle:', or the log has another history)"
                );
                let reason = other_credit(claimed, its.account.as_str(), &found);
                never(claimed, reason, Resolution::Open)
            }
            (Code::ResolvedAbsent, _) => self.later(claimed, reason, Resolution::Refused),
            (Code::AccountNotFound, _) => {
                // The account existed; an engine restored from a backup may have lost it.
                self.accounts.remove(its.account.as_str());
                self.later(claimed, reason, Resolution::Refused)
            }
            _ if code.is_retryable() => self.later(claimed, reason, Resolution::Refused),
            _ => never(claimed, reason, Resolution::Refused),
        })
    }
}

/// Where the credit is that an answer is about.
pub(super) fn end_of(receipt: &Receipt) -> Position {
    Position { epoch: receipt.epoch, sequence: receipt.sequence_last }
}

/// What the engine's answers mean for an account.
fn standing(account: &Id, opened: Option<Answered>, got: Option<Answered>) -> Standing {
    let said = |receipt: Option<Result<Receipt, Failure>>| match receipt {
        Some(Ok(receipt)) => receipt.outcome.to_string(),
        Some(Err(failure)) => failure.to_string(),
        None => "it was not to be opened".to_owned(),
    };
    match got {
        Some(Ok(receipt)) if receipt.outcome.is_applied() => match text_at(&receipt, 1) {
            Some(asset) => Standing::Keeps(asset),
            None => Standing::Unclear(format!("the engine did not say what account '{account}' keeps")),
        },
        Some(Ok(receipt)) if receipt.outcome.code == Code::AccountNotFound => match opened {
            Some(Err(failure)) => Standing::Unclear(failure.to_string()),
            Some(Ok(opened)) if opened.outcome.code.kind() == Kind::Failure => {
                Standing::Unclear(opened.outcome.to_string())
            }
            opened => Standing::Missing(format!("account '{account}' does not exist: {}", said(opened))),
        },
        other => Standing::Unclear(said(other)),
    }
}
