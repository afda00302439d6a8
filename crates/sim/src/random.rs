//! Random command sequences from a seed: few names, so that commands interact; values at the edges of
//! their ranges; retries, late duplicates, deadlines hit to the millisecond, clocks that stand still,
//! jump and go back; atomic batches; restarts.

mod lines;

use std::fmt;

use scarce_core::state::StateSettings;
use scarce_core::types::TimeMs;

/// The start of sequences: a Tuesday evening in November 2023.
pub const EPOCH_MS: TimeMs = 1_700_000_000_000;

/// A small generator of random numbers (SplitMix64) whose output must never change.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// True with the given probability in percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// A random element.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = self.below(of.len() as u64);
        &of[usize::try_from(at).unwrap_or(0)]
    }
}

/// One step of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// One command, or an atomic batch of several lines.
    Submit {
        /// The wall clock.
        clock: TimeMs,
        /// The namespace of the operation ids.
        namespace: String,
        /// `ID …` and `DEADLINE …`, as written after a command.
        options: String,
        /// The commands.
        lines: Vec<String>,
    },
    /// The sweeper runs.
    Expire {
        /// The wall clock.
        clock: TimeMs,
        /// The maximum number of deadlines.
        limit: usize,
    },
    /// The core is restarted from a snapshot.
    Reload,
    /// The core is restarted from the whole log.
    Fold,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submit { clock, namespace, options, lines } => {
                let namespace = if namespace.is_empty() { "-" } else { namespace };
                write!(f, "{clock} {namespace} {options} | {}", lines.join(" | "))
            }
            Self::Expire { clock, limit } => write!(f, "{clock} EXPIRE {limit}"),
            Self::Reload => f.write_str("RELOAD"),
            Self::Fold => f.write_str("FOLD"),
        }
    }
}

impl Step {
    /// Parses the output of `Display`.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split('|').map(str::trim);
        let head: Vec<&str> = parts.next()?.split_whitespace().collect();
        match head.as_slice() {
            ["RELOAD"] => Some(Self::Reload),
            ["FOLD"] => Some(Self::Fold),
            [clock, "EXPIRE", limit] => {
                Some(Self::Expire { clock: clock.parse().ok()?, limit: limit.parse().ok()? })
            }
            [clock, namespace, options @ ..] => Some(Self::Submit {
                clock: clock.parse().ok()?,
                namespace: if *namespace == "-" { String::new() } else { (*namespace).to_owned() },
                options: options.join(" "),
                lines: parts.map(str::to_owned).collect(),
            }),
            _ => None,
        }
    }
}

/// A sequence of steps with its own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Its seed.
    pub seed: u64,
    /// The settings that outcomes depend on besides the steps.
    pub settings: StateSettings,
    /// The steps.
    pub steps: Vec<Step>,
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# seed {}", self.seed)?;
        let its = &self.settings;
        let figures = [its.window_ms, its.window_ms_min, its.retention_ms];
        let counts = [
            its.operations_max,
            its.step_max,
            its.packets_per_step_max,
            its.due_per_command_max,
            its.receipts_per_audit_max,
            its.batch_step_max,
            its.batch_packets_max,
        ];
        let (ulid_times, receipts) = (its.ulid_times, its.receipt_retention_ms);
        writeln!(f, "SETTINGS {figures:?} {counts:?} {ulid_times} {receipts}")?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl Sequence {
    /// Makes a sequence of `length` steps from a seed.
    #[must_use]
    pub fn random(seed: u64, length: usize) -> Self {
        let mut random = Random::new(seed);
        let settings = settings(&mut random);
        let steps = lines::Writer::new(random, &settings).write(length);
        Self { seed, settings, steps }
    }

    /// Parses the output of `Display`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut sequence = Self { seed: 0, settings: StateSettings::default(), steps: Vec::new() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with("SETTINGS") {
                sequence.settings = parse_settings(line)?;
            } else {
                sequence.steps.push(Step::parse(line)?);
            }
        }
        Some(sequence)
    }
}

fn parse_settings(line: &str) -> Option<StateSettings> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.skip(1).collect();
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let count = |at: usize| words.get(at)?.parse::<usize>().ok();
    Some(StateSettings {
        window_ms: number(0)?,
        window_ms_min: number(1)?,
        retention_ms: number(2)?,
        operations_max: count(3)?,
        step_max: count(4)?,
        packets_per_step_max: count(5)?,
        due_per_command_max: count(6)?,
        receipts_per_audit_max: count(7)?,
        batch_step_max: count(8)?,
        batch_packets_max: count(9)?,
        ulid_times: words.get(10)? == &"true",
        // Sequences of before there was such a setting end here.
        receipt_retention_ms: number(11).unwrap_or_else(|| StateSettings::default().receipt_retention_ms),
        hash_seed: 0,
    })
}

/// The default settings, or settings whose bounds a few commands reach.
fn settings(random: &mut Random) -> StateSettings {
    let mut settings = StateSettings::default();
    if random.percent(25) {
        return settings;
    }
    let small = |random: &mut Random, usual: usize| *random.pick(&[usual, 2, 3, 5]);
    settings.step_max = small(random, settings.step_max);
    settings.packets_per_step_max = small(random, settings.packets_per_step_max);
    // Shorter steps than a batch may take, or equal ones.
    settings.batch_step_max = *random.pick(&[settings.step_max, settings.step_max + 2]);
    settings.batch_packets_max =
        *random.pick(&[settings.packets_per_step_max, settings.packets_per_step_max + 2]);
    settings.due_per_command_max = small(random, settings.due_per_command_max);
    settings.receipts_per_audit_max = small(random, settings.receipts_per_audit_max);
    settings.operations_max = *random.pick(&[settings.operations_max, settings.operations_max, 4, 30]);
    settings.window_ms = *random.pick(&[settings.window_ms, settings.window_ms, 10_000, 1_000]);
    settings.window_ms_min = *random.pick(&[600_000, 500, 5]).min(&settings.window_ms);
    settings.retention_ms = *random.pick(&[settings.retention_ms, settings.retention_ms, 10_000, 20]);
    settings.ulid_times = random.percent(30);
    settings.receipt_retention_ms =
        *random.pick(&[settings.receipt_retention_ms, settings.receipt_retention_ms, 10_000, 20]);
    settings
}
