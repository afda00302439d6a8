//! All limits, with what was used of them.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use governor::clock::DefaultClock;
use scarce_access::Kind;
use scarce_core::command::rules::Verb;
use scarce_core::command::{COMMANDS, Command, CommandSpec};

use super::concurrency::{Concurrency, Entered};
use super::limiter::{Limiter, Refused, Standing};
use super::rule::{Per, Rule};

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// From where.
    pub address: IpAddr,
    /// With which key.
    pub key: Option<&'a str>,
}

/// The limits that count a command.
#[derive(Clone, Debug, Default)]
struct Counted {
    /// By their numbers.
    limiters: Vec<usize>,
    asks_for_resources: bool,
    /// Those of concurrency.
    concurrencies: Vec<usize>,
}

/// What a request in progress counts for. It has ended when this is dropped.
#[derive(Debug, Default)]
pub struct Permit {
    entered: Vec<Entered>,
    /// Where the caller stands with the limit that is nearest.
    pub nearest: Option<Standing>,
}

/// All limits.
#[derive(Debug)]
pub struct Limits {
    rules: Vec<Rule>,
    limiters: Vec<Arc<Limiter>>,
    concurrencies: Vec<Concurrency>,
    /// By the numbers of commands.
    commands: Vec<Counted>,
}

impl Limits {
    /// The limits of a file. Those that were there before go on with what was used of them, and what is in progress stays so.
    #[must_use]
    pub fn new(rules: Vec<Rule>, former: Option<&Self>) -> Self {
        let clock = DefaultClock::default();
        let limiter = |rule: &Rule| {
            let same = former.and_then(|former| former.limiters.iter().find(|its| its.rule == *rule));
            let fresh = || Some(Limiter::new(rule.clone(), rule.rate?, clock.clone()).into());
            same.cloned().or_else(fresh)
        };
        let concurrency = |rule: &Rule| {
            let named = |its: &&Concurrency| its.rule.name == rule.name && its.rule.per == rule.per;
            let same = former.and_then(|former| former.concurrencies.iter().find(named));
            Some(Concurrency::new(rule.clone(), rule.concurrent?, same))
        };
        let limiters: Vec<Arc<Limiter>> = rules.iter().filter_map(limiter).collect();
        let concurrencies: Vec<Concurrency> = rules.iter().filter_map(concurrency).collect();
        let numbers = COMMANDS.iter().map(|spec| usize::from(spec.number)).max().unwrap_or(0);
        let mut commands = vec![Counted::default(); numbers + 1];
        for spec in COMMANDS {
            let counts = |rule: &Rule| rule.counts(spec.verb(), spec.resource.map(Kind::from));
            let counted = &mut commands[usize::from(spec.number)];
            for (at, limiter) in limiters.iter().enumerate().filter(|(_, its)| counts(&its.rule)) {
                counted.limiters.push(at);
                counted.asks_for_resources |= limiter.rule.asks_for_resources();
            }
            let of_progress = concurrencies.iter().enumerate().filter(|(_, its)| counts(&its.rule));
            counted.concurrencies.extend(of_progress.map(|(at, _)| at));
        }
        Self { rules, limiters, concurrencies, commands }
    }

    /// Whether it is limited how many commands of a row are in progress.
    #[inline]
    #[must_use]
    pub fn bounds_progress(&self, spec: &CommandSpec) -> bool {
        !self.concurrencies.is_empty()
            && self
                .commands
                .get(usize::from(spec.number))
                .is_some_and(|counted| !counted.concurrencies.is_empty())
    }

    /// Lets commands begin that are sent together.
    ///
    /// # Errors
    /// The first limit of which too many are in progress; then none begins.
    pub fn enter<'a>(
        &self,
        asker: Asker<'_>,
        commands: impl Iterator<Item = &'a Command>,
    ) -> Result<Permit, Box<Refused>> {
        let mut permit = Permit::default();
        if self.concurrencies.is_empty() {
            return Ok(permit);
        }
        for command in commands {
            let counted = self.commands.get(usize::from(command.spec().number));
            let its = counted.into_iter().flat_map(|counted| &counted.concurrencies);
            for limit in its.filter_map(|at| self.concurrencies.get(*at)) {
                permit.enter(limit, asker, command)?;
            }
        }
        Ok(permit)
    }

    /// Lets what is no command of the table begin.
    ///
    /// # Errors
    /// As [`Self::enter`].
    pub fn enter_other(
        &self,
        asker: Asker<'_>,
        verb: Verb,
        kind: Option<Kind>,
    ) -> Result<Permit, Box<Refused>> {
        let mut permit = Permit::default();
        let counts = |limit: &&Concurrency| limit.rule.counts(verb, kind) && !limit.rule.asks_for_resources();
        for limit in self.concurrencies.iter().filter(counts) {
            permit.take(limit, &asker.subject(limit.rule.per))?;
        }
        Ok(permit)
    }

    /// Whether a command must be read before it can be counted.
    #[must_use]
    pub fn asks_for_resources(&self, spec: &CommandSpec) -> bool {
        self.commands.get(usize::from(spec.number)).is_some_and(|counted| counted.asks_for_resources)
    }

    /// Counts a command; it must be given where a limit asks for its resources. Returns where the caller stands with the limit
    /// that is nearest.
    ///
    /// # Errors
    /// The first limit that it goes beyond. Those before it have counted it.
    pub fn count(
        &self,
        asker: Asker<'_>,
        spec: &CommandSpec,
        command: Option<&Command>,
    ) -> Result<Option<Standing>, Box<Refused>> {
        let counted =
            self.commands.get(usize::from(spec.number)).map_or(&[][..], |counted| &counted.limiters);
        let mut nearest = None;
        for limiter in counted.iter().filter_map(|at| self.limiters.get(*at)) {
            match command.filter(|_| limiter.rule.asks_for_resources()) {
                None => nearest = nearer(nearest, limiter.count(&asker.subject(limiter.rule.per))?),
                Some(command) => count_named(limiter, asker, command, &mut nearest)?,
            }
        }
        Ok(nearest)
    }

    /// Counts what is no command of the table: it is about all resources of its kind.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_other(
        &self,
        asker: Asker<'_>,
        verb: Verb,
        kind: Option<Kind>,
    ) -> Result<Option<Standing>, Box<Refused>> {
        let mut nearest = None;
        let counts =
            |limiter: &&Arc<Limiter>| limiter.rule.counts(verb, kind) && !limiter.rule.asks_for_resources();
        for limiter in self.limiters.iter().filter(counts) {
            nearest = nearer(nearest, limiter.count(&asker.subject(limiter.rule.per))?);
        }
        Ok(nearest)
    }

    /// The limits as they are written.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The limits with how many requests each refused.
    pub fn refused(&self) -> impl Iterator<Item = (&Rule, u64)> {
        let of_rates = self.limiters.iter().map(|limiter| (&limiter.rule, limiter.refused()));
        of_rates.chain(self.concurrencies.iter().map(|limit| (&limit.rule, limit.refused())))
    }
}

impl Permit {
    /// Whether nothing counts it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entered.is_empty()
    }

    /// Counts a command for each of its resources that a limit covers, or once if the limit does not count them apart.
    fn enter(
        &mut self,
        limit: &Concurrency,
        asker: Asker<'_>,
        command: &Command,
    ) -> Result<(), Box<Refused>> {
        if !limit.rule.asks_for_resources() {
            return self.take(limit, &asker.subject(limit.rule.per));
        }
        let (mut taken, mut is_taken) = (Ok(()), false);
        command.route(&mut |id| {
            let is_apart = limit.rule.per == Per::Resource;
            if taken.is_err() || is_taken && !is_apart || !limit.rule.covers(id.as_str()) {
                return;
            }
            is_taken = true;
            let subject =
                if is_apart { id.as_str().as_bytes().into() } else { asker.subject(limit.rule.per) };
            taken = self.take(limit, &subject);
        });
        taken
    }

    fn take(&mut self, limit: &Concurrency, subject: &[u8]) -> Result<(), Box<Refused>> {
        let (entered, standing) = limit.enter(subject)?;
        self.entered.push(entered);
        self.nearest = nearer(self.nearest.take(), standing);
        Ok(())
    }
}

/// Counts a command for each of its resources that a limit covers, or once if the limit does not count them apart.
fn count_named(
    limiter: &Limiter,
    asker: Asker<'_>,
    command: &Command,
    nearest: &mut Option<Standing>,
) -> Result<(), Box<Refused>> {
    let (mut counted, mut is_counted) = (Ok(()), false);
    command.route(&mut |id| {
        let is_apart = limiter.rule.per == Per::Resource;
        if counted.is_err() || is_counted && !is_apart || !limiter.rule.covers(id.as_str()) {
            return;
        }
        is_counted = true;
        let subject = if is_apart { id.as_str().as_bytes().into() } else { asker.subject(limiter.rule.per) };
        counted = limiter.count(&subject).map(|standing| *nearest = nearer(nearest.take(), standing));
    });
    counted
}

/// The standing with fewer requests left.
fn nearer(one: Option<Standing>, other: Standing) -> Option<Standing> {
    match one {
        Some(one) if one.remaining <= other.remaining => Some(one),
        _ => Some(other),
    }
}

impl<'a> Asker<'a> {
    fn subject(&self, per: Per) -> Cow<'a, [u8]> {
        match (per, self.key) {
            (Per::Key, Some(key)) => key.as_bytes().into(),
            (Per::Server | Per::Resource, _) => (&b""[..]).into(),
            (Per::Address | Per::Key, _) => match network(self.address) {
                IpAddr::V4(address) => address.octets().to_vec().into(),
                IpAddr::V6(address) => address.octets().to_vec().into(),
            },
        }
    }
}

/// What is counted together of addresses: one of version 4, also if it is written as one of version 6; of version 6, the network that one
/// customer gets.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use scarce_core::command::table;

    use super::*;
    use crate::file::read;

    fn asker<'a>(address: &str, key: Option<&'a str>) -> Asker<'a> {
        Asker { address: address.parse().expect("an address"), key }
    }

    fn send(limits: &Limits, asker: Asker<'_>, line: &str) -> Result<Option<Standing>, String> {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let command = Command::parse(spec, &words[1..]).expect("well-formed").0;
        let command = Some(&command).filter(|_| limits.asks_for_resources(spec));
        limits.count(asker, spec, command).map_err(|refused| refused.limit)
    }

    fn limits(text: &str) -> Limits {
        Limits::new(read(text).expect("limits"), None)
    }

    /// One in a day, so that no time of a test counts.
    fn rule(name: &str, more: &str) -> String {
        format!("[[limit]]\nname = \"{name}\"\nrate = \"1/d\"\n{more}\n")
    }

    #[test]
    fn each_subject_is_counted_by_itself() {
        let limits = limits(&rule("a", "per = \"address\"\nverbs = [\"take\"]"));
        let (one, other) = (asker("203.0.113.7", Some("k")), asker("203.0.113.8", Some("k")));
        let take = "STOCK.TAKE sku 1 u";
        assert_eq!(send(&limits, one, "STOCK.GET sku"), Ok(None), "a read is not counted");
        assert!(send(&limits, one, take).is_ok());
        assert_eq!(send(&limits, one, take), Err("a".to_owned()));
        assert_eq!(send(&limits, asker("::ffff:203.0.113.7", None), take), Err("a".to_owned()));
        assert!(send(&limits, other, take).is_ok());
        assert!(send(&limits, asker("2001:db8::1", None), take).is_ok());
        assert_eq!(send(&limits, asker("2001:db8::2", None), take), Err("a".to_owned()), "the same network");
        assert!(send(&limits, asker("2001:db8:0:1::1", None), take).is_ok());
        assert_eq!(limits.refused().map(|(_, refused)| refused).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_key_counts_wherever_it_comes_from_and_strangers_by_address() {
        let limits = limits(&rule("k", "per = \"key\""));
        let get = "STOCK.GET sku";
        assert!(send(&limits, asker("203.0.113.7", Some("k1")), get).is_ok());
        assert!(send(&limits, asker("203.0.113.8", Some("k1")), get).is_err());
        assert!(send(&limits, asker("203.0.113.7", Some("k2")), get).is_ok());
        assert!(send(&limits, asker("203.0.113.7", None), get).is_ok());
        assert!(send(&limits, asker("203.0.113.7", None), get).is_err());
        assert!(limits.count_other(asker("203.0.113.7", None), Verb::Operate, None).is_err());
    }

    #[test]
    fn resources_are_counted_apart_and_only_those_of_the_rule() {
        let text = rule("r", "per = \"resource\"\nkinds = [\"account\"]\nresources = [\"a-*\"]");
        let (limits, me) = (limits(&text), asker("203.0.113.7", None));
        assert!(send(&limits, me, "ACCOUNT.TRANSFER a-1 a-2 5").is_ok());
        for line in ["ACCOUNT.DEBIT a-1 5", "ACCOUNT.DEBIT a-2 5", "ACCOUNT.TRANSFER b-1 a-2 5"] {
            assert!(send(&limits, me, line).is_err(), "{line}");
        }
        for line in ["ACCOUNT.DEBIT b-1 5", "ACCOUNT.DEBIT b-1 5", "STOCK.GET a-1", "ACCOUNT.DEBIT a-3 5"] {
            assert!(send(&limits, me, line).is_ok(), "{line}");
        }
        assert_eq!(limits.count_other(me, Verb::Operate, None), Ok(None));
    }

    #[test]
    fn a_command_with_two_covered_resources_counts_once_for_its_caller() {
        let text = rule("r", "per = \"address\"\nresources = [\"a-*\"]\nburst = 2");
        let (limits, me) = (limits(&text), asker("203.0.113.7", None));
        let standing = send(&limits, me, "ACCOUNT.TRANSFER a-1 a-2 5").expect("counted").expect("a limit");
        assert_eq!((standing.remaining, standing.burst, standing.window_s), (1, 2, Some(172_800)));
    }

    #[test]
    fn the_nearest_limit_is_told_and_the_first_that_is_reached_refuses() {
        let text =
            rule("wide", "per = \"server\"\nburst = 9") + &rule("near", "per = \"address\"\nburst = 2");
        let (limits, me) = (limits(&text), asker("203.0.113.7", None));
        let told = send(&limits, me, "STOCK.GET sku").expect("counted").expect("a limit");
        assert_eq!((told.limit.as_str(), told.remaining), ("near", 1));
        assert!(send(&limits, me, "STOCK.GET sku").is_ok());
        assert_eq!(send(&limits, me, "STOCK.GET sku"), Err("near".to_owned()));
    }

    #[test]
    fn commands_in_progress_are_counted_for_their_callers_or_their_resources() {
        let text = "[[limit]]\nname = \"a\"\nper = \"address\"\nverbs = [\"take\"]\nconcurrent = 2\n";
        let hot = "[[limit]]\nname = \"r\"\nper = \"resource\"\nresources = [\"hot-*\"]\nconcurrent = 1\n";
        let limits = limits(&format!("{text}{hot}"));
        let (me, you) = (asker("203.0.113.7", None), asker("203.0.113.8", None));
        let enter = |asker, line: &str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            let spec = table::find(words[0]).expect("a command");
            let command = Command::parse(spec, &words[1..]).expect("well-formed").0;
            limits.enter(asker, std::iter::once(&command)).map_err(|refused| refused.limit)
        };
        assert!(enter(me, "STOCK.GET sku").expect("not counted").is_empty());
        let one = enter(me, "STOCK.TAKE sku 1 u").expect("the first");
        let hot = enter(me, "STOCK.TAKE hot-1 1 u").expect("the second");
        assert_eq!(enter(me, "STOCK.TAKE sku 1 u").err().as_deref(), Some("a"));
        assert_eq!(enter(you, "STOCK.GET hot-1").err().as_deref(), Some("r"));
        assert!(enter(you, "STOCK.TAKE hot-2 1 u").is_ok());
        drop(hot);
        assert!(enter(you, "STOCK.GET hot-1").is_ok());
        // What is refused in the end counts for nothing.
        let twice = enter(you, "ACCOUNT.TRANSFER hot-3 hot-3 1");
        assert!(twice.is_err() && enter(you, "STOCK.GET hot-3").is_ok());
        drop(one);
        assert_eq!(limits.refused().map(|(_, refused)| refused).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn another_file_forgets_nothing_of_the_limits_that_are_in_it_too() {
        let open = |max: u32| format!("[[limit]]\nname = \"open\"\nper = \"address\"\nconcurrent = {max}\n");
        let text = |max: u32, more: &str| rule("day", "per = \"address\"") + &open(max) + more;
        let (first, me) = (limits(&text(1, "")), asker("203.0.113.7", None));
        let command =
            Command::parse(table::find(b"STOCK.GET").expect("a command"), &[b"sku"]).expect("read").0;
        let enter = |limits: &Limits| limits.enter(me, std::iter::once(&command)).map_err(|its| its.limit);
        let held = enter(&first).expect("one");
        assert!(send(&first, me, "STOCK.GET sku").is_ok());
        let more = rule("other", "per = \"key\"");
        let second = Limits::new(read(&text(1, &more)).expect("limits"), Some(&first));
        assert_eq!(send(&second, me, "STOCK.GET sku"), Err("day".to_owned()));
        assert_eq!(enter(&second).err().as_deref(), Some("open"));
        let third = Limits::new(read(&text(2, "")).expect("limits"), Some(&second));
        let again = enter(&third).expect("two may be");
        assert!(enter(&third).is_err());
        drop((held, first));
        assert!(enter(&third).is_ok(), "what was in progress before has ended");
        drop(again);
    }
}
