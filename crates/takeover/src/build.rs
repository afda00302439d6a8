//! Turns resources into commands, and checks each as a server would.

use scarce_core::command::{Command, table};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::Problem;
use crate::map::hex;
use crate::plan::{Made, Step};
use crate::resources::{Account, Campaign, Coupon, Item, Place, Resources, sum};

/// Commands in one atomic batch: below what a server takes, and soon done.
const BATCH_LINES_MAX: usize = 500;

/// Words of a request that a server takes, with room for those of the operation.
const WORDS_MAX: usize = 4_090;

/// What is made of one resource so far.
struct Making<'a> {
    run: &'a str,
    made: Made,
    place: &'a Place,
    problems: &'a mut Vec<Problem>,
}

type Words = Vec<String>;

/// The operations for all resources, and what a server would not take.
pub(crate) fn build(resources: &Resources, run: &str) -> (Vec<Made>, Vec<Problem>) {
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for (id, account) in &resources.accounts {
        all.push(Making::new(run, "account", id, &account.place, &mut problems).account(account));
    }
    for (id, item) in &resources.items {
        all.push(Making::new(run, "stock", id, &item.place, &mut problems).item(item));
    }
    for (id, campaign) in &resources.campaigns {
        all.push(Making::new(run, "packets", id, &campaign.place, &mut problems).campaign(campaign));
    }
    for (id, coupon) in &resources.coupons {
        all.push(Making::new(run, "coupon", id, &coupon.place, &mut problems).coupon(coupon));
    }
    (all, problems)
}

impl<'a> Making<'a> {
    fn new(run: &'a str, kind: &str, id: &str, place: &'a Place, problems: &'a mut Vec<Problem>) -> Self {
        let read = match kind {
            "account" => "ACCOUNT.GET",
            "stock" => "STOCK.GET",
            "packets" => "PACKET.GET",
            _ => "COUPON.GET",
        };
        let made = Made {
            kind: kind.to_owned(),
            id: id.to_owned(),
            line: place.line,
            key: place.key.clone(),
            read: vec![read.to_owned(), id.to_owned()],
            expect: Value::Null,
            steps: Vec::new(),
        };
        Self { run, made, place, problems }
    }

    fn account(mut self, account: &Account) -> Made {
        let id = self.made.id.clone();
        let mut commands = vec![words(&["ACCOUNT.OPEN", &id, &account.asset])];
        if account.overdraft > 0 {
            commands[0].extend(["OVERDRAFT".to_owned(), account.overdraft.to_string()]);
        }
        let amount = account.balance.unsigned_abs().to_string();
        match account.balance {
            0 => {}
            1.. => commands.push(words(&["ACCOUNT.CREDIT", &id, &amount])),
            _ => commands.push(words(&["ACCOUNT.DEBIT", &id, &amount])),
        }
        self.step(commands, Vec::new());
        self.end(
            json!({ "asset": account.asset, "balance": account.balance, "overdraft": account.overdraft }),
        )
    }

    fn item(mut self, item: &Item) -> Made {
        let id = self.made.id.clone();
        let sold = sum(&item.taken);
        let total = item.left.saturating_add(sold);
        let mut create = words(&["STOCK.CREATE", &id, &total.to_string()]);
        create.extend(item.per_owner_max.iter().flat_map(|most| ["PEROWNER".to_owned(), most.to_string()]));
        let take = |(owner, count): &(String, u64)| words(&["STOCK.TAKE", &id, &count.to_string(), owner]);
        self.chunks([create].into_iter().chain(item.taken.iter().map(take)));
        self.end(json!({ "total": total, "available": item.left, "sold": sold }))
    }

    /// A campaign may take several steps and then cannot be part of a batch; the claims follow it.
    fn campaign(mut self, campaign: &Campaign) -> Made {
        let id = self.made.id.clone();
        let taken = campaign.taken.iter().map(|(_, amount)| *amount);
        let amounts: Vec<u64> = taken.chain(campaign.left.iter().copied()).collect();
        let mut create =
            words(&["PACKET.CREATE", &id, &campaign.asset, "AMOUNTS", &amounts.len().to_string()]);
        create.extend(amounts.iter().map(u64::to_string));
        if create.len() > WORDS_MAX {
            let most = WORDS_MAX - 5;
            self.wrong(format!(
                "has {} packets; a campaign of given amounts has at most {most}",
                amounts.len()
            ));
        } else {
            self.step(vec![create], Vec::new());
        }
        let mut packet = 0_u64;
        for users in campaign.taken.chunks(BATCH_LINES_MAX) {
            let claims = users.iter().map(|(user, _)| words(&["PACKET.CLAIM", &id, user])).collect();
            let answers = users.iter().map(|(_, amount)| {
                packet += 1;
                vec![packet, *amount]
            });
            let answers = answers.collect();
            self.step(claims, answers);
        }
        let claimed = sum(&campaign.taken);
        let total = amounts.iter().fold(0_u64, |sum, amount| sum.saturating_add(*amount));
        self.end(json!({
            "asset": campaign.asset, "count": amounts.len(), "total": total,
            "claimed_count": campaign.taken.len(), "claimed_amount": claimed,
        }))
    }

    fn coupon(mut self, coupon: &Coupon) -> Made {
        let id = self.made.id.clone();
        let mut create = words(&[
            "COUPON.CREATE",
            &id,
            "LIMIT",
            "all",
            &coupon.max.to_string(),
            "PER",
            "-",
            "WINDOW",
            "none",
        ]);
        if let Some(limit) = &coupon.limit {
            create.extend(words(&[
                "LIMIT",
                "own",
                &limit.max.to_string(),
                "PER",
                "user",
                "WINDOW",
                &limit.window,
            ]));
            create.extend(
                limit.offset_minutes.iter().flat_map(|minutes| ["OFFSET".to_owned(), minutes.to_string()]),
            );
        }
        let claim = |user: &str| words(&["COUPON.CLAIM", &id, "USER", user]);
        let claims = coupon.taken.iter().flat_map(|(user, count)| (0..*count).map(move |_| claim(user)));
        self.chunks([create].into_iter().chain(claims));
        self.end(json!({ "claimed": sum(&coupon.taken) }))
    }

    /// Commands in batches, each after the one before.
    fn chunks(&mut self, commands: impl Iterator<Item = Words>) {
        let mut chunk = Vec::new();
        for command in commands {
            chunk.push(command);
            if chunk.len() == BATCH_LINES_MAX {
                self.step(std::mem::take(&mut chunk), Vec::new());
            }
        }
        if !chunk.is_empty() {
            self.step(chunk, Vec::new());
        }
    }

    fn step(&mut self, commands: Vec<Words>, answers: Vec<Vec<u64>>) {
        if let Some(reason) = commands.iter().find_map(|words| check(words).err()) {
            self.wrong(reason);
        }
        let part = self.made.steps.len().to_string();
        let mut hasher = Sha256::new();
        for text in [self.run, &self.made.kind, &self.made.id, &part] {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        let id = format!("import-{}", hex(&hasher.finalize()));
        self.made.steps.push(Step { id, commands, answers });
    }

    fn wrong(&mut self, reason: String) {
        self.problems.push(self.place.problem(reason));
    }

    fn end(self, expect: Value) -> Made {
        Made { expect, ..self.made }
    }
}

/// Checks a command as the server would.
fn check(words: &[String]) -> Result<(), String> {
    let Some((name, arguments)) = words.split_first() else { return Ok(()) };
    let spec = table::find(name.as_bytes()).ok_or_else(|| format!("makes {name}, which is not a command"))?;
    let arguments: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
    let parsed = Command::parse(spec, &arguments);
    parsed.map(|_| ()).map_err(|problem| format!("makes {name}, in which {problem}"))
}

fn words(words: &[&str]) -> Words {
    words.iter().map(|word| (*word).to_owned()).collect()
}
