//! `scarce packets verify`.

use std::io::{Read, Write};
use std::path::Path;

use scarce_api::packets::verification::{Verification, verify};
use scarce_core::packets::cut::Plan;
use scarce_engine::random::hex;
use serde_json::json;

use super::super::paint::{Paint, Tone};
use super::super::{Ended, Exit, Failed};
use super::{VerifyOptions, campaign, words_of};

/// The data of a closed campaign.
pub(super) struct Closed {
    /// How it was cut.
    pub(super) plan: Plan,
    /// The revealed seed.
    pub(super) seed: [u8; 32],
    /// The published commitment.
    pub(super) commitment: [u8; 32],
    /// Packets and amounts as they were claimed.
    pub(super) claims: Vec<(u64, u64)>,
    /// Inconsistencies among the claims themselves, independent of the cut.
    pub(super) objections: Vec<String>,
}

pub(super) fn run(options: &VerifyOptions) -> Ended {
    let closed = match &options.campaign {
        Some(name) => campaign::read(&options.target, name)?,
        None => given(options)?,
    };
    let found = verify(&closed.plan, &closed.seed, &closed.commitment, &closed.claims)
        .map_err(|invalid| Failed::text(Exit::Usage, format!("this cannot be cut: {invalid}")))?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", as_json(&closed, &found))?;
    } else {
        show(&mut out, &closed, &found, Paint::for_stream(&std::io::stdout()))?;
    }
    Ok(if found.holds() && closed.objections.is_empty() { Exit::Done } else { Exit::Broken })
}

/// The data on the command line; clap ensures that it is complete.
fn given(options: &VerifyOptions) -> Result<Closed, Failed> {
    let parts =
        options.total.zip(options.count).zip(options.method).zip(options.seed.zip(options.commitment));
    let Some((((total, count), method), (seed, commitment))) = parts else {
        return Err(Failed::text(Exit::Usage, "give --campaign, or commitment, seed and plan"));
    };
    let plan = Plan { total, count, method, min: options.min.unwrap_or(1), max: options.max };
    let claims = options.amounts.as_deref().map(read_amounts).transpose()?.unwrap_or_default();
    Ok(Closed { plan, seed, commitment, claims: (1..).zip(claims).collect(), objections: Vec::new() })
}

fn read_amounts(path: &Path) -> Result<Vec<u64>, Failed> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    let usage = |what: String| Failed::text(Exit::Usage, what);
    read.map_err(|error| usage(format!("cannot read the amounts in {}: {error}", path.display())))?;
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let amounts: Result<Vec<u64>, _> = numbers.map(str::parse).collect();
    match amounts {
        Ok(amounts) if !amounts.is_empty() => Ok(amounts),
        Ok(_) => Err(usage(format!("{} holds no amounts", path.display()))),
        Err(_) => Err(usage(format!("{} holds a number that no packet can have", path.display()))),
    }
}

fn show(out: &mut impl Write, closed: &Closed, found: &Verification, paint: Paint) -> std::io::Result<()> {
    let mut line = |is_kept: bool, name: &str, text: &str| {
        let (word, tone) = if is_kept { ("ok    ", Tone::Good) } else { ("BROKEN", Tone::Bad) };
        writeln!(out, "{}  {name:<10}  {text}", paint.paint(tone, word))
    };
    let hashed = hex(&closed.plan.commitment(&closed.seed));
    line(true, "plan", &words_of(&closed.plan))?;
    match found.seed_fits {
        true => line(true, "commitment", &format!("the hash of seed and plan is {hashed}, as was promised"))?,
        false => {
            let text = format!(
                "the hash of seed and plan is {hashed}, and {} was promised",
                hex(&closed.commitment)
            );
            line(false, "commitment", &text)?;
        }
    }
    for objection in &closed.objections {
        line(false, "claims", objection)?;
    }
    match (found.compared, found.differences.first()) {
        (0, _) => line(true, "amounts", "none were given to be compared; --amounts names a file of them"),
        (count, None) => {
            let text =
                format!("{count} of {} packets were claimed, each as the seed gives it", closed.plan.count);
            line(true, "amounts", &text)
        }
        (count, Some(first)) => {
            let cut = first.cut.map_or_else(|| "nothing".to_owned(), |amount| amount.to_string());
            let text = format!(
                "{} of {count} differ; the first is packet {}: claimed {}, by the seed {cut}",
                found.differences.len(),
                first.packet,
                first.claimed
            );
            line(false, "amounts", &text)
        }
    }
}

fn as_json(closed: &Closed, found: &Verification) -> serde_json::Value {
    let differences = found.differences.iter().map(|difference| {
        json!({ "packet": difference.packet, "cut": difference.cut, "claimed": difference.claimed })
    });
    json!({
        "holds": found.holds() && closed.objections.is_empty(),
        "seed_fits": found.seed_fits,
        "compared": found.compared,
        "differences": differences.collect::<Vec<_>>(),
        "objections": closed.objections,
        "total": closed.plan.total,
        "count": closed.plan.count,
        "method": closed.plan.method.word(),
        "min": closed.plan.min,
        "max": closed.plan.max,
        "seed": hex(&closed.seed),
        "commitment": hex(&closed.commitment),
    })
}
