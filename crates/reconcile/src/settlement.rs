//! The claims of red packets against their credits: each is credited once.

mod difference;
mod left;

use std::collections::BTreeMap;

use scarce_core::event::{AccountEvent, Entry, Event, PacketsEvent};
use scarce_core::machine::Machine;
use scarce_core::packets::Forgotten;
use scarce_core::types::Id;
use scarce_delivery::{Delivery, Route, Settlement, SettlementFilter, SettlementState, settled_packet};
use tokio::runtime::Handle;

use crate::ReconcileError;
use crate::findings::Findings;
use crate::report::{CheckKind, EventPlace, Finding};
use crate::run::GoOn;

/// The consumer that writes claims down.
const CONSUMER: &str = "settlement";

/// How many rows are read at a time.
const ROWS_AT_ONCE: usize = 1_000;

/// What the table says of a claim.
#[derive(Clone, Copy, Debug)]
struct Noted {
    amount: u64,
    state: SettlementState,
    route: Option<Route>,
    next_at_ms: u64,
    is_credited_here: bool,
    /// Whether a person noted it as settled.
    is_resolved: bool,
    /// Whether its claim was lost with events of the engine, and was not made again.
    is_lost: bool,
}

/// How many packets are as they may be, but should be known of.
#[derive(Debug, Default)]
struct Counts {
    lost: u64,
    pending: u64,
    /// When the oldest pending one was claimed.
    pending_since: Option<u64>,
    unknown: u64,
}

/// A state that the log goes on from.
#[derive(Clone, Copy, Debug)]
struct Base {
    sequence: u64,
    at: u64,
}

/// A claim with what is known of it. There is one for each claim, so it is kept small.
#[derive(Clone, Debug, Default)]
struct Packet {
    noted: Option<Noted>,
    /// Who is to be paid by the table and in which asset, until the log says who claimed it.
    payee: Option<Box<Payee>>,
    /// Which account was paid by the table, until the log says it.
    account: Option<Box<str>>,
    /// The amount, the event and the time of the claim.
    claim: Option<(u64, u64, u64)>,
    /// The amount and the event of the first credit.
    credit: Option<(u64, u32, u64)>,
}

/// What the table says of who is paid.
#[derive(Clone, Debug)]
struct Payee {
    user: String,
    /// `None` before the first attempt.
    asset: Option<String>,
}

/// The packets of a campaign.
#[derive(Debug, Default)]
struct Campaign {
    partition: Option<u32>,
    packets: BTreeMap<u64, Packet>,
    /// Which claims had left memory where the log begins: only their sum is known here.
    left: Forgotten,
}

/// Claims and credits of the log, and what the table of settlements says of them.
#[derive(Debug, Default)]
pub(crate) struct Settlements {
    campaigns: BTreeMap<String, Campaign>,
    /// From where to where the table was filled when it was read, by partition; nothing if there is no table.
    noted: BTreeMap<u32, (u64, u64)>,
    /// The last sequence of each partition before any was read. A credit behind it may be of a claim that was not read.
    ends: BTreeMap<u32, u64>,
    /// Where logs begin that do not reach back to their beginning: earlier credits are not seen.
    bases: BTreeMap<u32, Base>,
    /// The last time of each partition's log.
    times: BTreeMap<u32, u64>,
    /// Whether there is a table.
    has_table: bool,
    counts: Counts,
    findings: Vec<Finding>,
}

impl Settlements {
    /// Reads the table first: what is settled in it is in the log that is read afterwards.
    pub(crate) fn read(
        &mut self,
        handle: &Handle,
        delivery: &Delivery,
        partitions: u32,
        go_on: GoOn<'_>,
    ) -> Result<(), ReconcileError> {
        let mut count = 0;
        self.has_table = true;
        for partition in 0..partitions {
            // What an earlier release read is not known: then no row is missed.
            let stretches = handle.block_on(delivery.stretches(CONSUMER, partition))?;
            if let (Some(first), Some(last)) = (stretches.first(), stretches.last()) {
                self.noted.insert(partition, (first.first, last.last));
            }
        }
        let mut after: Option<String> = None;
        loop {
            let filter = SettlementFilter::default();
            let page = handle.block_on(delivery.settlements(filter, after.as_deref(), ROWS_AT_ONCE))?;
            page.items.iter().for_each(|row| self.note(row));
            count += page.items.len() as u64;
            if !go_on(count) {
                return Err(ReconcileError::Stopped);
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn note(&mut self, row: &Settlement) {
        // Where it was settled outside, or a person says so, the log shows no credit.
        let is_credited_here = row.route != Some(Route::Outside) && row.resolved_at_ms.is_none();
        let noted = Noted {
            amount: row.amount,
            state: row.state,
            route: row.route,
            next_at_ms: row.next_at_ms,
            is_credited_here,
            is_resolved: row.resolved_at_ms.is_some(),
            is_lost: row.lost_at_ms.is_some(),
        };
        if row.state == SettlementState::Pending && !noted.is_lost {
            self.counts.pending += 1;
            let since = self.counts.pending_since.unwrap_or(u64::MAX);
            self.counts.pending_since = Some(since.min(row.claimed_at_ms));
        }
        let campaign = self.campaigns.entry(row.campaign.clone()).or_default();
        let packet = campaign.packets.entry(row.packet).or_default();
        packet.noted = Some(noted);
        packet.payee = Some(Box::new(Payee { user: row.user.clone(), asset: row.asset.clone() }));
        packet.account = row.account.as_deref().filter(|_| is_credited_here).map(Into::into);
    }

    /// Notes how far a partition's log is before any is read.
    pub(crate) fn end_at(&mut self, partition: u32, end: Option<u64>) {
        self.ends.extend(end.map(|end| (partition, end)));
    }

    /// Begins with a partition, whose state may have claims already.
    pub(crate) fn begin(&mut self, base: &Machine) {
        if base.sequence() == 0 {
            return;
        }
        self.bases.insert(base.partition(), Base { sequence: base.sequence(), at: base.now() });
        let campaigns = &base.state().campaigns;
        for (campaign, user, claim, amount) in campaigns.claims() {
            self.claim(base, (campaign, claim.packet, user), (amount, base.sequence(), claim.at));
        }
        for (campaign, _) in campaigns.iter() {
            let left = campaigns.forgotten(campaign);
            if left.through_packet > 0 {
                let its = self.campaigns.entry(campaign.as_str().to_owned()).or_default();
                (its.partition, its.left) = (Some(base.partition()), left);
            }
        }
    }

    fn claim(&mut self, machine: &Machine, (id, number, user): (&Id, u64, &Id), claim: (u64, u64, u64)) {
        let (partition, campaign) = (machine.partition(), id.as_str());
        let its = self.campaigns.entry(campaign.to_owned()).or_default();
        its.partition = Some(partition);
        let packet = its.packets.entry(number).or_default();
        packet.claim = Some(claim);
        let Some(payee) = packet.payee.take() else { return };
        let asset = machine.state().campaigns.get(id).map(|campaign| campaign.asset.as_str());
        let values = [
            ("user", Some(user.as_str()), Some(payee.user)),
            // Without an asset it was not tried.
            ("asset", asset.filter(|_| payee.asset.is_some()), payee.asset),
        ];
        for (field, expected, found) in values.into_iter().filter(|(_, one, other)| *one != other.as_deref())
        {
            let place = EventPlace { partition, sequence: claim.1, event: Some("packets.claimed") };
            let found = finding((campaign, number), field, expected, found.as_deref(), Some(place));
            self.findings.push(found);
        }
    }

    /// Notes the claims and credits of entries.
    pub(crate) fn take(&mut self, machine: &Machine, entries: &[Entry]) {
        let partition = machine.partition();
        self.times.insert(partition, machine.now());
        let end = self.ends.get(&partition).copied().unwrap_or(u64::MAX);
        for entry in entries {
            for (sequence, event) in (entry.head.sequence_first..).zip(&entry.events) {
                match event {
                    Event::Packets(PacketsEvent::PacketsClaimed(its)) => {
                        let claim = (its.amount, sequence, entry.head.at);
                        self.claim(machine, (&its.campaign, its.packet, &its.user), claim);
                    }
                    Event::Account(AccountEvent::AccountCredited(its)) if sequence <= end => {
                        let of = entry.head.operation.as_ref();
                        let settled = of.and_then(|of| settled_packet(&of.namespace, of.id.as_str()));
                        if let Some((campaign, packet)) = settled {
                            let credit = (its.amount, partition, sequence);
                            self.credit((&campaign, packet), &its.account, credit);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn credit(&mut self, (campaign, number): (&str, u64), account: &Id, credit: (u64, u32, u64)) {
        let campaigns = self.campaigns.entry(campaign.to_owned()).or_default();
        let packet = campaigns.packets.entry(number).or_default();
        let (_, partition, sequence) = credit;
        let place = EventPlace { partition, sequence, event: Some("account.credited") };
        if packet.credit.is_none() {
            packet.credit = Some(credit);
            if let Some(noted) = packet.account.take().filter(|noted| **noted != *account.as_str()) {
                let values = (Some(&*noted), Some(account.as_str()));
                let found = finding((campaign, number), "account credited", values.0, values.1, Some(place));
                self.findings.push(found);
            }
            return;
        }
        let values = ("1 credit", "2 credits");
        self.findings.push(finding(
            (campaign, number),
            "credits",
            Some(values.0),
            Some(values.1),
            Some(place),
        ));
    }

    /// Compares claims, credits and rows.
    pub(crate) fn compare(mut self, findings: &mut Findings) {
        std::mem::take(&mut self.findings).into_iter().for_each(|found| findings.add(found));
        if !self.has_table {
            findings.note("there is no table of settlements; only credits of the log were compared");
        }
        if !self.bases.is_empty() {
            findings.note(
                "the log's beginning is gone; credits of before are not known, and none of a claim of before is missed",
            );
        }
        let campaigns = std::mem::take(&mut self.campaigns);
        self.compare_left(&campaigns, findings);
        for (name, campaign) in &campaigns {
            let known = campaign
                .packets
                .iter()
                .filter(|(number, packet)| packet.claim.is_some() || **number > campaign.left.through_packet);
            for (number, packet) in known {
                findings.compare(1);
                if let Some(found) = self.difference((name, *number), campaign.partition, packet) {
                    findings.add(found);
                }
            }
        }
        self.tell(findings);
    }
}

fn finding(
    (campaign, packet): (&str, u64),
    field: &str,
    expected: Option<&str>,
    found: Option<&str>,
    first_event: Option<EventPlace>,
) -> Finding {
    Finding {
        check: CheckKind::Settlement,
        partition: first_event.as_ref().map(|its| its.partition),
        resource: Some(campaign.to_owned()),
        field: format!("{field} of packet {packet}"),
        expected: expected.map(str::to_owned),
        found: found.map(str::to_owned),
        first_event,
    }
}
