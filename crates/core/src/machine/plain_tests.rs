//! The plain way against the general way: the same answers, the same log and the same state for random requests.

use super::bench::Bench;
use crate::command::plain::Plain;
use crate::command::table::find;
use crate::facts;
use crate::outcome::Outcome;
use crate::state::StateSettings;

/// Runs a line in the plain way, if that takes it.
fn run_plain(bench: &mut Bench, line: &str) -> Option<String> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let plain = Plain::read(find(words[0])?, &words[1..])?;
    let [first, second] = bench.machine.submit_plain(&plain, bench.clock, &mut bench.log)?;
    Some(Outcome::applied(facts![first, second]).to_string())
}

/// Random numbers, the same for a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        let at = self.below(items.len() as u64);
        items[usize::try_from(at).expect("small")]
    }

    fn account(&mut self) -> &'static str {
        self.of(&["a", "b", "{shop}:c", "dollars", "an-account-with-a-name-that-is-long", "none"])
    }

    fn amount(&mut self) -> u64 {
        match self.below(12) {
            0 => 9_007_199_254_740_991,
            1 => 9_007_199_254_740_000,
            2 => 1 << self.below(53),
            _ => 1 + self.below(300),
        }
    }

    /// An ID: new, used before, or with a time from before, in or after the window.
    fn id(&mut self, clock: u64) -> String {
        match self.below(9) {
            0 => String::new(),
            1 | 2 => format!(" ID op-{}", self.below(40)),
            3 => {
                let at = (clock + self.below(3_000)).saturating_sub(self.below(9_000));
                format!(" ID {:08x}-{:04x}-7000-8000-{:012x}", at >> 16, at & 0xffff, self.below(1 << 40))
            }
            4 => format!(" id {}", "x".repeat(1 + usize::try_from(self.below(128)).expect("small"))),
            5 => format!(" ID 01ARZ3NDEKTSV4RRFFQ69G5F{:02}", self.below(100)),
            _ => format!(" ID fresh-{}", self.below(u64::MAX)),
        }
    }

    fn line(&mut self, clock: u64) -> String {
        let (account, amount, id) = (self.account(), self.amount(), self.id(clock));
        match self.below(16) {
            0 => {
                format!("ACCOUNT.HOLD {account} h{} {amount} TTL {}{id}", self.below(5), 1 + self.below(900))
            }
            1 => format!("ACCOUNT.CAPTURE {account} h{}{id}", self.below(5)),
            2 if self.below(4) == 0 => format!("ACCOUNT.FREEZE {account}{id}"),
            2 => format!("ACCOUNT.UNFREEZE {account}{id}"),
            3 if self.below(10) == 0 => format!("ACCOUNT.CLOSE {account}{id}"),
            4 => format!("ACCOUNT.OVERDRAFT {account} {amount}{id}"),
            5 => format!("ACCOUNT.DEBIT {account} {amount} DEADLINE {}{id}", clock + self.below(3)),
            6..9 => format!("ACCOUNT.TRANSFER {account} {} {amount}{id}", self.account()),
            9..12 => format!("ACCOUNT.CREDIT {account} {amount}{id}"),
            _ => format!("ACCOUNT.DEBIT {account} {amount}{id}"),
        }
    }
}

fn settings(random: &mut Random) -> StateSettings {
    StateSettings {
        window_ms: 4_000,
        window_ms_min: 2_000,
        retention_ms: 1_500,
        operations_max: usize::try_from(random.of(&[20, 200, 5_000])).expect("small"),
        ulid_times: random.below(2) == 0,
        hash_seed: random.below(1 << 60),
        ..StateSettings::default()
    }
}

#[test]
fn both_ways_give_the_same_bytes_for_random_requests() {
    let (mut taken, mut count) = (0, 0);
    for seed in 1..=60 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let settings = settings(&mut random);
        let (mut plain, mut general) = (Bench::with(settings.clone()), Bench::with(settings));
        for bench in [&mut plain, &mut general] {
            for account in ["a", "b", "{shop}:c", "an-account-with-a-name-that-is-long"] {
                bench.run(&[&format!("ACCOUNT.OPEN {account} EUR OVERDRAFT 1000")]);
            }
            bench.run(&["ACCOUNT.OPEN dollars USD"]);
        }
        for _ in 0..400 {
            let line = random.line(plain.clock);
            let answered = run_plain(&mut plain, &line);
            taken += u64::from(answered.is_some());
            count += 1;
            let answered = answered.unwrap_or_else(|| plain.run(&[&line]));
            assert_eq!(answered, general.run(&[&line]), "seed {seed}: {line}");
            assert!(plain.log == general.log, "seed {seed}: {line} left another entry");
            let passed = random.of(&[0, 0, 0, 1, 7, 500]);
            (plain.clock, general.clock) = (plain.clock + passed, general.clock + passed);
        }
        assert!(plain.image() == general.image(), "seed {seed}");
        assert_eq!(plain.digest(), general.digest(), "seed {seed}");
        plain.check_fold();
    }
    assert!(taken * 6 > count, "only {taken} of {count} requests took the plain way");
}

#[test]
fn what_is_unusual_is_left_to_the_general_way_without_a_trace() {
    let mut bench = Bench::new();
    for line in [
        "ACCOUNT.OPEN a EUR",
        "ACCOUNT.OPEN closed EUR",
        "ACCOUNT.CLOSE closed",
        "ACCOUNT.OPEN dollars USD",
        "ACCOUNT.CREDIT a 10 ID used",
    ] {
        assert!(bench.run(&[line]).starts_with("APPLIED"), "{line}");
    }
    let before = (bench.image(), bench.log.clone());
    for line in [
        "ACCOUNT.DEBIT a 11 ID new",
        "ACCOUNT.DEBIT none 1",
        "ACCOUNT.CREDIT closed 1",
        "ACCOUNT.CREDIT a 9007199254740991",
        "ACCOUNT.CREDIT a 10 ID used",
        "ACCOUNT.CREDIT a 11 ID used",
        "ACCOUNT.DEBIT a 1 DEADLINE 5",
        "ACCOUNT.DEBIT a 1 ID x ID y",
        "ACCOUNT.DEBIT a 0 ID new",
        "ACCOUNT.DEBIT a! 1 ID new",
        "ACCOUNT.DEBIT a 1 ID \u{e9}",
        "ACCOUNT.DEBIT a",
        "ACCOUNT.TRANSFER a a 1",
        "ACCOUNT.TRANSFER a dollars 1",
        "ACCOUNT.TRANSFER a closed 1",
        "ACCOUNT.TRANSFER a b! 1",
        "ACCOUNT.FREEZE a",
    ] {
        assert_eq!(run_plain(&mut bench, line), None, "{line}");
        assert!((bench.image(), &bench.log) == (before.0.clone(), &before.1), "{line}");
    }
    assert_eq!(run_plain(&mut bench, "ACCOUNT.DEBIT a 4 ID new").as_deref(), Some("APPLIED 6 6"));
}

#[test]
fn the_longest_request_has_room() {
    let (from, to) = ("f".repeat(64), "t".repeat(64));
    let [mut plain, mut general] = [(), ()].map(|()| {
        let mut bench = Bench::new();
        bench.machine.set_epoch(u64::MAX);
        bench.clock = 9_007_199_254_740_991;
        for account in [&from, &to] {
            bench.run(&[&format!("ACCOUNT.OPEN {account} EUR OVERDRAFT 9007199254740991")]);
        }
        bench
    });
    for at in 0..3 {
        let line = format!("ACCOUNT.TRANSFER {from} {to} 3002399751580330 ID {}{at}", "i".repeat(127));
        let answered = run_plain(&mut plain, &line).expect("the plain way");
        assert_eq!(answered, general.run(&[&line]));
    }
    assert!(plain.log == general.log && plain.image() == general.image());
}
