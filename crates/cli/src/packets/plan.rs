//! `scarce packets plan`.

use std::io::Write;

use scarce_api::packets::preview::{Preview, preview};
use scarce_core::packets::cut::Plan;
use scarce_engine::random::{self, hex};

use super::super::paint::{Paint, Tone};
use super::super::{Ended, Exit, Failed};
use super::{PlanOptions, words_of};

pub(super) fn run(options: &PlanOptions) -> Ended {
    let PlanOptions { total, count, method, min, max, .. } = *options;
    let seed = match options.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let shown = preview(&Plan { total, count, method, min, max }, &seed)
        .map_err(|invalid| Failed::text(Exit::Usage, format!("this cannot be cut: {invalid}")))?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", shown.json(options.amounts))?;
    } else {
        show(&mut out, &shown, Paint::for_stream(&std::io::stdout()))?;
        if options.amounts {
            amounts(&mut out, &shown.amounts)?;
        }
    }
    Ok(Exit::Done)
}

fn random_seed() -> Result<[u8; 32], Failed> {
    random::bytes().map_err(|_| Failed::text(Exit::Failed, "the system has no random bytes; give --seed"))
}

fn show(out: &mut impl Write, shown: &Preview, paint: Paint) -> std::io::Result<()> {
    writeln!(out, "{}\n", paint.paint(Tone::Name, words_of(&shown.plan)))?;
    bars(out, shown, paint)?;
    let figures = &shown.figures;
    writeln!(
        out,
        "\nmin {}, median {}, mean {:.2}, max {}",
        figures.min, figures.median, figures.mean, figures.max
    )?;
    writeln!(out, "standard deviation  {:.2}", figures.standard_deviation)?;
    writeln!(out, "Gini coefficient    {:.3}   (0: all the same)", figures.gini)?;
    writeln!(out, "largest share       {:.3} %", 100.0 * figures.largest_share)?;
    positions(out, shown, paint)?;
    writeln!(out, "\nseed        {}", hex(&shown.seed))?;
    writeln!(out, "commitment  {}", hex(&shown.commitment))
}

/// The length of the longest bar.
const BAR_WIDTH: u64 = 40;

fn bars(out: &mut impl Write, shown: &Preview, paint: Paint) -> std::io::Result<()> {
    let tallest = shown.buckets.iter().map(|bucket| bucket.count).max().unwrap_or(1).max(1);
    let width = shown.figures.max.to_string().len();
    for bucket in &shown.buckets {
        let range = if bucket.from == bucket.through {
            format!("{:>width$} {:1} {:>width$}", "", "", bucket.through)
        } else {
            format!("{:>width$} – {:>width$}", bucket.from, bucket.through)
        };
        let bar = bar(bucket.count, tallest);
        writeln!(out, "{range}  {} {}", paint.paint(Tone::Good, bar), bucket.count)?;
    }
    Ok(())
}

/// A bar in eighths of a character; any non-zero count is visible.
fn bar(count: u64, tallest: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths =
        (u128::from(count) * u128::from(8 * BAR_WIDTH) / u128::from(tallest)).max(u128::from(count > 0));
    let eighths = usize::try_from(eighths).unwrap_or(0);
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

fn positions(out: &mut impl Write, shown: &Preview, paint: Paint) -> std::io::Result<()> {
    if shown.positions.is_empty() {
        return Ok(());
    }
    let note = "what comes to whom, over many cuts (± one standard error)";
    writeln!(out, "\n{}", paint.paint(Tone::Aside, note))?;
    for group in &shown.positions {
        let place = if group.from == group.through {
            format!("claim {}", group.from)
        } else {
            format!("claims {} – {}", group.from, group.through)
        };
        writeln!(out, "{place:<22}{:>14.2} ± {:.2}", group.mean, group.standard_error)?;
    }
    Ok(())
}

fn amounts(out: &mut impl Write, amounts: &[u64]) -> std::io::Result<()> {
    writeln!(out)?;
    for line in amounts.chunks(10) {
        writeln!(out, "{}", line.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_counts() {
        assert_eq!(bar(10, 10).chars().count(), 40);
        assert_eq!(bar(5, 10), "█".repeat(20));
        assert_eq!(bar(1, 1_000_000), "▏", "what is there is seen");
        assert_eq!(bar(0, 10), "");
    }
}
