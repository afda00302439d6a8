//! The words of random commands.

mod commands;

use scarce_core::state::StateSettings;
use scarce_core::types::{INTEGER_MAX, TimeMs};

use super::{EPOCH_MS, Random, Step};

const ACCOUNTS: &[&str] = &["a", "b", "c", "x", "{t}d"];
const ASSETS: &[&str] = &["EUR", "EUR", "USD"];
const HOLDS: &[&str] = &["h1", "h2", "h3", "h4"];
const SKUS: &[&str] = &["s", "t", "x"];
const RESERVATIONS: &[&str] = &["r1", "r2", "r3", "r4"];
const OWNERS: &[&str] = &["o", "p", "q"];
const LIMITS: &[&str] = &["l1", "l2", "l3"];
const MARKETS: &[&str] = &["m", "n"];
const DAY_MS: u64 = 86_400_000;

/// Writes the steps of a sequence; remembers just enough to hit deadlines and to repeat itself.
pub(super) struct Writer {
    random: Random,
    clock: TimeMs,
    /// The time spans that matter under the settings.
    spans: Vec<u64>,
    deadlines: Vec<TimeMs>,
    written: Vec<(String, String, Vec<String>)>,
    operations: u64,
    orders: u64,
    campaigns: u64,
    coupons: u64,
    /// The latest holds, reservations and orders: resource, name, owner, price, quantity.
    holds: Vec<(&'static str, &'static str)>,
    reservations: Vec<(&'static str, &'static str)>,
    placed: Vec<(String, String, String, u64, u64)>,
    /// The relative frequency of each domain.
    weights: [u64; 5],
    batches: bool,
}

impl Writer {
    pub(super) fn new(mut random: Random, settings: &StateSettings) -> Self {
        let weights = [(); 5].map(|()| *random.pick(&[0, 0, 1, 3]));
        let spans = vec![
            settings.window_ms,
            settings.retention_ms,
            settings.receipt_retention_ms,
            settings.window_ms_min,
        ];
        let batches = random.percent(60);
        Self {
            random,
            clock: EPOCH_MS,
            spans,
            deadlines: Vec::new(),
            written: Vec::new(),
            operations: 0,
            orders: 0,
            campaigns: 1,
            coupons: 1,
            holds: Vec::new(),
            reservations: Vec::new(),
            placed: Vec::new(),
            weights,
            batches,
        }
    }

    pub(super) fn write(mut self, length: usize) -> Vec<Step> {
        if self.weights.iter().sum::<u64>() == 0 {
            self.weights = [1; 5];
        }
        let mut steps: Vec<Step> = self.prelude();
        while steps.len() < length {
            self.tick();
            steps.push(self.step());
        }
        steps
    }

    fn prelude(&mut self) -> Vec<Step> {
        let mut lines = Vec::new();
        if self.weights[0] > 0 {
            lines.extend(ACCOUNTS.iter().take(3).map(|account| format!("ACCOUNT.OPEN {account} EUR")));
            lines.push(format!("ACCOUNT.CREDIT a {}", 1 + self.random.below(200)));
        }
        if self.weights[1] > 0 {
            lines.push(format!("STOCK.CREATE s {}", self.random.below(100)));
        }
        if self.weights[2] > 0 {
            lines.push(format!("PACKET.CREATE g1 EUR {}", self.cut()));
        }
        if self.weights[3] > 0 {
            let ttl = *self.random.pick(&["", " CLAIMTTL 10", " CLAIMTTL 1000", " CLAIMTTL 60000"]);
            lines.push(format!("COUPON.CREATE k1 LIMIT {}{ttl}", self.limit("l1", true)));
        }
        if self.weights[4] > 0 {
            lines.push("MARKET.CREATE m".to_owned());
        }
        lines.into_iter().map(|line| self.submit(vec![line], String::new())).collect()
    }

    /// Advances the clock, leaves it, or sets it back.
    fn tick(&mut self) {
        let random = &mut self.random;
        let clock = self.clock;
        self.deadlines.retain(|deadline| (clock + 1..clock + 40 * DAY_MS).contains(deadline));
        let deadline =
            self.deadlines.get(usize::try_from(random.below(self.deadlines.len() as u64)).unwrap_or(0));
        let span = *random.pick(&self.spans);
        self.clock = match random.below(100) {
            0..=54 => clock,
            55..=69 => clock + 1,
            70..=79 => deadline.copied().unwrap_or(clock),
            80..=82 => deadline.map_or(clock, |deadline| deadline - 1),
            83..=88 => clock + random.below(2_000),
            89..=90 => clock + 3_600_000,
            91 => clock + DAY_MS,
            92..=93 => clock + span,
            94 => clock + span - 1,
            95..=97 => clock - random.below(10_000),
            98 => clock + 31 * DAY_MS * random.below(2),
            _ => clock + random.below(3 * 3_600_000),
        };
    }

    fn step(&mut self) -> Step {
        match self.random.below(100) {
            0 => Step::Reload,
            1 => Step::Fold,
            2..=5 => Step::Expire { clock: self.clock, limit: *self.random.pick(&[1, 2, 3, 100]) },
            6..=10 if !self.written.is_empty() => self.again(),
            11..=14 => self.ask(),
            15..=24 => {
                let line = self.read();
                self.submit(vec![line], String::new())
            }
            25..=34 if self.batches => self.batch(),
            _ => {
                let line = self.line();
                let options = self.options();
                self.submit(vec![line], options)
            }
        }
    }

    fn submit(&mut self, lines: Vec<String>, options: String) -> Step {
        let namespace = if self.random.percent(5) { "other" } else { "" }.to_owned();
        if options.contains("ID ") {
            self.written.push((namespace.clone(), options.clone(), lines.clone()));
        }
        Step::Submit { clock: self.clock, namespace, options, lines }
    }

    /// A batch: often two lines of one kind, sometimes the same line twice.
    fn batch(&mut self) -> Step {
        let mut lines: Vec<String> = (0..2 + self.random.below(3)).map(|_| self.line()).collect();
        if self.random.percent(30) {
            lines.push(lines[0].clone());
        }
        if self.random.percent(5) {
            // A batch of one line or none: empty lines are dropped.
            lines.truncate(usize::try_from(self.random.below(2)).unwrap_or(0));
            lines.resize(2, String::new());
        }
        let options = self.options();
        self.submit(lines, options)
    }

    /// A duplicate of an earlier request, unchanged or with other content under its id.
    fn again(&mut self) -> Step {
        let (namespace, options, lines) = self.random.pick(&self.written).clone();
        let lines = match self.random.below(10) {
            0 => vec![self.line()],
            1 => lines.into_iter().rev().collect(),
            _ => lines,
        };
        Step::Submit { clock: self.clock, namespace, options, lines }
    }

    /// A query of an operation, or a resolution of it.
    fn ask(&mut self) -> Step {
        let (namespace, id) = if self.written.is_empty() || self.random.percent(20) {
            (String::new(), format!("op{}", self.operations + self.random.below(4)))
        } else {
            let (namespace, options, _) = self.random.pick(&self.written);
            (namespace.clone(), options.split_whitespace().nth(1).unwrap_or("op").to_owned())
        };
        let word = *self.random.pick(&["GET", "RESOLVE"]);
        let lines = vec![format!("OPERATION.{word} {id} ON a")];
        Step::Submit { clock: self.clock, namespace, options: String::new(), lines }
    }

    fn options(&mut self) -> String {
        let mut options = String::new();
        if self.random.percent(60) {
            options = format!("ID {}", self.operation());
        }
        if self.random.percent(8) {
            let deadline = self.clock + self.random.below(20);
            self.deadlines.push(deadline);
            options = format!("{options} DEADLINE {deadline}").trim_start().to_owned();
        }
        options
    }

    fn operation(&mut self) -> String {
        self.operations += 1;
        let span = *self.random.pick(&self.spans);
        let time = self.clock - *self.random.pick(&[0, 0, 1, span - 1, span, span + 1]);
        match self.random.below(12) {
            0 => format!("{:08x}-{:04x}-7000-8000-{:012x}", time >> 16, time & 0xffff, self.operations),
            1 => ulid(time, self.operations),
            _ => format!("op{}", self.operations),
        }
    }

    fn line(&mut self) -> String {
        let mut at = self.random.below(self.weights.iter().sum());
        for (domain, weight) in self.weights.into_iter().enumerate() {
            if at < weight {
                return match domain {
                    0 => self.account_line(),
                    1 => self.stock_line(),
                    2 => self.packet_line(),
                    3 => self.coupon_line(),
                    _ => self.market_line(),
                };
            }
            at -= weight;
        }
        self.account_line()
    }

    fn name(&mut self, of: &[&'static str]) -> &'static str {
        // The first names are used more often than the last.
        let bound = 1 + self.random.below(of.len() as u64);
        of[usize::try_from(self.random.below(bound)).unwrap_or(0)]
    }

    fn amount(&mut self) -> u64 {
        let random = &mut self.random;
        match random.below(20) {
            0..=10 => 1 + random.below(5),
            11..=13 => *random.pick(&[10, 20, 50, 100]),
            14..=17 => 1 + random.below(200),
            _ => *random.pick(&[
                INTEGER_MAX,
                INTEGER_MAX - 1,
                INTEGER_MAX - 10,
                INTEGER_MAX - random.clone().below(200),
                INTEGER_MAX / 2,
                INTEGER_MAX / 2 + 1,
            ]),
        }
    }

    fn ttl(&mut self) -> u64 {
        let ttl = *self.random.pick(&[1, 2, 5, 10, 10, 500, 1_000, 60_000, DAY_MS, 3 * DAY_MS, INTEGER_MAX]);
        self.deadlines.push(self.clock.saturating_add(ttl).min(INTEGER_MAX));
        ttl
    }

    /// Usually one of the last few.
    fn recent<T: Clone>(random: &mut Random, of: &[T]) -> Option<T> {
        let last = &of[of.len().saturating_sub(6)..];
        let found = !last.is_empty() && random.percent(80);
        found.then(|| random.pick(last).clone())
    }

    fn campaign(&mut self) -> String {
        format!("g{}", self.campaigns.saturating_sub(self.random.below(3)).max(1))
    }

    fn coupon(&mut self) -> String {
        format!("k{}", self.coupons.saturating_sub(self.random.below(2)).max(1))
    }

    fn read(&mut self) -> String {
        if self.random.percent(8) {
            let all = [ACCOUNTS, SKUS, &["g1", "k1", "k2"], MARKETS, &["", "$world:EUR"]];
            let of = *self.random.pick(&all);
            return format!("DIGEST {}", self.random.pick(of)).trim_end().to_owned();
        }
        let is_list = self.random.percent(8);
        let mut at = self.random.below(self.weights.iter().sum());
        for (domain, weight) in self.weights.into_iter().enumerate() {
            if at < weight && is_list {
                return self.list_of(domain);
            }
            if at < weight {
                return self.read_of(domain);
            }
            at -= weight;
        }
        self.read_of(0)
    }

    fn list_of(&mut self, domain: usize) -> String {
        const GROUPS: [&str; 5] = ["ACCOUNT", "STOCK", "PACKET", "COUPON", "MARKET"];
        let prefix = *self.random.pick(&["", "", " PREFIX a", " PREFIX s", " PREFIX g1", " PREFIX k"]);
        let after =
            *self.random.pick(&["", "", " AFTER a", " AFTER s", " AFTER g1", " AFTER k1", " AFTER m"]);
        let count = self.random.pick(&[1, 2, 3, 1_000]);
        format!("{}.LIST{prefix}{after} COUNT {count}", GROUPS[domain])
    }

    fn list_of_orders(&mut self) -> String {
        let mut line =
            format!("ORDER.LIST {} COUNT {}", self.name(MARKETS), self.random.pick(&[1, 3, 1_000]));
        if self.random.percent(60) {
            line += &format!(" OWNER {}", self.name(OWNERS));
        }
        if self.random.percent(70) {
            let (side, order) = (*self.random.pick(&["BUY", "SELL"]), self.order());
            let (price, priority) = (1 + self.random.below(12), 1 + self.random.below(30));
            line += &format!(" AFTER {side}-{price}-{priority}-{order}");
        }
        line
    }

    fn read_of(&mut self, domain: usize) -> String {
        let serial = self.serial();
        let choice = self.random.below(3);
        match (domain, choice) {
            (0, 0) => format!("ACCOUNT.GET {}", self.name(ACCOUNTS)),
            (0, 1) => {
                let (account, after) = (self.name(ACCOUNTS), self.name(HOLDS));
                let count = self.random.pick(&[1, 2, 1_000]);
                format!("ACCOUNT.HOLDS {account} AFTER {after} COUNT {count}")
            }
            (0, 2) => format!("ACCOUNT.HOLDS {}", self.name(ACCOUNTS)),
            (0, _) => format!("ACCOUNT.WORLD {} ON a", self.name(ASSETS)),
            (1, 0 | 1) => format!("STOCK.GET {}", self.name(SKUS)),
            (1, _) => format!("STOCK.RESERVATION {} {}", self.name(SKUS), self.name(RESERVATIONS)),
            (2, 0) => format!("PACKET.GET {}", self.campaign()),
            (2, 1) => {
                format!(
                    "PACKET.CLAIMS {} AFTER {} COUNT {}",
                    self.campaign(),
                    self.random.below(4),
                    1 + self.random.below(4)
                )
            }
            (2, _) => format!("PACKET.CLAIMED {} u{}", self.campaign(), self.random.below(9)),
            (3, 0) => format!("COUPON.GET {}", self.coupon()),
            (3, 1) => format!("COUPON.CLAIMED {} {serial}", self.coupon()),
            (3, _) => format!("COUPON.CHECK {} {}", self.coupon(), self.subject()),
            (_, 0) if serial.is_multiple_of(2) => format!("MARKET.TICKER {}", self.name(MARKETS)),
            (_, 0) => format!("MARKET.GET {}", self.name(MARKETS)),
            (_, 1) => format!("MARKET.DEPTH {} LEVELS {serial}", self.name(MARKETS)),
            (_, 2) if serial.is_multiple_of(2) => {
                format!("MARKET.TRADES {} COUNT {serial}", self.name(MARKETS))
            }
            (_, 2) => self.list_of_orders(),
            (_, _) => format!("ORDER.GET {} {}", self.name(MARKETS), self.order()),
        }
    }
}

/// A ULID of that time.
fn ulid(time: TimeMs, number: u64) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let figure =
        |value: u64, shift: u64| char::from(ALPHABET[usize::try_from((value >> shift) & 31).unwrap_or(0)]);
    let time = (0..10).rev().map(|at| figure(time, at * 5));
    time.chain((0..16).rev().map(|at| figure(number, (at * 5).min(60)))).collect()
}
