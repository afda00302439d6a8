//! `scarce reconcile adjust`: puts an account or a stock item right by a command that says why and by whom.

use std::io::Write;

use clap::{ArgGroup, Args, ValueEnum};
use redis::Value;
use scarce_client::{Client, Reply, integer, text};
use scarce_engine::random::hex;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::args::Target;
use crate::files::print_rows;
use crate::show;
use crate::{Ended, Exit, Failed};

/// How long author and reason may be, so that both are in the operation ID.
const AUTHOR_MAX: usize = 24;
const REASON_MAX: usize = 80;

/// What is adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// The balance of an account.
    Account,
    /// The units of a stock item.
    Stock,
}

/// `scarce reconcile adjust`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("way").args(["dry_run", "yes"]).required(true)))]
pub struct Adjust {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// What is adjusted.
    pub kind: Kind,
    /// Its ID.
    pub id: String,
    /// By how much: minor units or units, with a sign: +250, -3.
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    pub by: i64,
    /// Why, in words that an auditor understands: the cause must be known.
    #[arg(long)]
    pub reason: String,
    /// Who answers for it.
    #[arg(long)]
    pub author: String,
    /// The account that the money is taken from, or goes to; without it, it comes from outside, or goes there.
    #[arg(long, value_name = "ACCOUNT")]
    pub against: Option<String>,
    /// Refuse if the balance, or the total of units, is not this now.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub expect: Option<i64>,
    /// Only show what would be.
    #[arg(long)]
    pub dry_run: bool,
    /// Do it.
    #[arg(long)]
    pub yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

const COLUMNS: [&str; 7] = ["resource", "value", "before", "by", "after", "operation", "state"];

pub(super) fn run(options: &Adjust) -> Ended {
    let words = options.words()?;
    let mut client = options.target.connect()?;
    let before = options.value(&mut client)?;
    if let Some(expected) = options.expect.filter(|expected| *expected != before) {
        let text = format!("{} is {before} and not {expected}: nothing was changed", options.name());
        return Err(Failed::text(Exit::Refused, text));
    }
    let mut sent: Vec<&str> = if options.dry_run { vec!["DRYRUN"] } else { Vec::new() };
    sent.extend(words.iter().map(String::as_str));
    let answer = client.call(&sent)?;
    let exit = show::exit_of(&answer);
    let state = match Reply::of(answer) {
        Reply::Applied(_) if options.dry_run => "would be applied".to_owned(),
        Reply::Applied(_) => "applied".to_owned(),
        Reply::Refused(code, _) => format!("refused: {code}"),
        Reply::Error(error) => return Err(Failed::text(exit, error)),
    };
    let is_applied = exit == Exit::Done;
    let after = match (is_applied, options.dry_run) {
        (true, true) => before.saturating_add(options.by),
        // What was done before is not done again.
        (true, false) => options.value(&mut client)?,
        _ => before,
    };
    let row = json!({
        "resource": options.id, "value": options.name(), "before": before, "by": options.by, "after": after,
        "operation": options.operation(), "state": state,
    });
    print_rows(&[row], &COLUMNS, options.json)?;
    if options.dry_run && is_applied {
        writeln!(std::io::stderr(), "{} would be sent; do it with --yes", words.join(" "))?;
    }
    Ok(exit)
}

impl Adjust {
    /// The command.
    fn words(&self) -> Result<Vec<String>, Failed> {
        self.check()?;
        let (amount, operation) = (self.by.unsigned_abs().to_string(), self.operation());
        let mut words: Vec<String> = match (self.kind, &self.against) {
            (Kind::Account, None) if self.by > 0 => vec!["ACCOUNT.CREDIT".into(), self.id.clone(), amount],
            (Kind::Account, None) => vec!["ACCOUNT.DEBIT".into(), self.id.clone(), amount],
            (Kind::Account, Some(other)) => {
                let (from, to) = if self.by > 0 { (other, &self.id) } else { (&self.id, other) };
                vec!["ACCOUNT.TRANSFER".into(), from.clone(), to.clone(), amount]
            }
            (Kind::Stock, _) => {
                let reason = format!("{} ({})", self.reason, self.author);
                let delta = self.by.to_string();
                vec!["STOCK.ADJUST".into(), self.id.clone(), delta, "REASON".into(), reason]
            }
        };
        words.extend(["ID".to_owned(), operation]);
        Ok(words)
    }

    /// What would not be understood later is refused before anything is asked.
    fn check(&self) -> Result<(), Failed> {
        let refused = |text: &str| Err(Failed::text(Exit::Usage, text));
        let is_plain = |text: &str, max: usize, allowed: &[char]| {
            let is_well = |its: char| its.is_ascii_alphanumeric() || allowed.contains(&its);
            !text.is_empty() && text.len() <= max && text.chars().all(is_well)
        };
        if self.by == 0 {
            return refused("--by 0 changes nothing");
        }
        if !is_plain(&self.author, AUTHOR_MAX, &['.', '-', '_', '@']) {
            return refused("--author is a name of 1 to 24 letters, digits and . - _ @");
        }
        if !is_plain(&self.reason, REASON_MAX, &['.', '-', '_', '/', ' ', ',', '#'])
            || self.reason.trim().is_empty()
        {
            return refused(
                "--reason says the cause in 1 to 80 letters, digits, spaces and . - _ / , #: an adjustment whose cause is \
                 not known is not made",
            );
        }
        if self.kind == Kind::Stock && self.against.is_some() {
            return refused("--against is for accounts");
        }
        Ok(())
    }

    /// The operation ID: who and why, and the same for the same adjustment.
    fn operation(&self) -> String {
        let against = self.against.as_deref().unwrap_or_default();
        let digest = Sha256::digest(format!("{:?} {} {} {against}", self.kind, self.id, self.by));
        format!("adjust:{}:{}:{}", self.author, self.reason.trim().replace(' ', "_"), hex(&digest[..6]))
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Account => "balance",
            Kind::Stock => "total",
        }
    }

    /// The present value.
    fn value(&self, client: &mut Client) -> Result<i64, Failed> {
        let command = match self.kind {
            Kind::Account => "ACCOUNT.GET",
            Kind::Stock => "STOCK.GET",
        };
        match Reply::of(client.call(&[command, &self.id])?) {
            Reply::Applied(values) => value_of(&values, self.name()),
            Reply::Refused(code, _) => Err(Failed::text(Exit::Refused, format!("{}: {code}", self.id))),
            Reply::Error(error) => Err(Failed::text(Exit::Failed, error)),
        }
    }
}

fn value_of(values: &[Value], name: &str) -> Result<i64, Failed> {
    let pairs = values.chunks(2).filter(|pair| pair.len() == 2);
    let mut its = pairs.filter(|pair| text(&pair[0]).as_deref() == Some(name)).map(|pair| &pair[1]);
    its.next().and_then(integer).ok_or_else(|| {
        Failed::text(Exit::Failed, format!("the server shows no {name}; it is of another release"))
    })
}
