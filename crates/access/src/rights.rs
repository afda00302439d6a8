//! What a key may do, worked out once so that a request costs little.

use std::fmt;

use scarce_core::command::{COMMANDS, Command, CommandSpec};
use scarce_core::types::ID_BYTES_MAX;

use super::need::Need;
use super::scope::{Part, Pattern, Scope};

/// What a key lacks for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The verb.
    pub verb: &'static str,
    /// The kind of resource.
    pub kind: &'static str,
    /// The resource, or `*` for all.
    pub resource: String,
}

impl Lack {
    fn of(need: Need, resource: &str) -> Self {
        let resource = if need.is_of_all() { "*" } else { resource };
        Self { verb: need.verb(), kind: need.kind(), resource: plain(resource) }
    }
}

/// A caller's text made safe for a message and a log: short, and of characters that ids and names can have.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_graphic();
    text.chars().map(|c| if is_plain(&c) { c } else { '?' }).take(ID_BYTES_MAX).collect()
}

/// The scope that is missing.
impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.resource.as_str()) {
            ("*", "*") => formatter.write_str(self.verb),
            (kind, resource) => write!(formatter, "{}:{kind}:{resource}", self.verb),
        }
    }
}

/// Whether scopes meet a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    /// On no resource.
    Never,
    /// On all resources.
    Always,
    /// It depends on the resource.
    ById,
}

/// What a key may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    scopes: Vec<Scope>,
    is_all: bool,
    /// By the numbers of commands.
    commands: Vec<Permit>,
}

impl Rights {
    /// The rights of scopes.
    #[must_use]
    pub fn new(scopes: Vec<Scope>) -> Self {
        let is_all = scopes.iter().any(Scope::is_all);
        let mut rights = Self { scopes, is_all, commands: Vec::new() };
        let numbers = COMMANDS.iter().map(|spec| usize::from(spec.number)).max().unwrap_or(0);
        let mut commands = vec![Permit::Never; numbers + 1];
        for spec in COMMANDS {
            commands[usize::from(spec.number)] = rights.permit(Need::of(spec));
        }
        rights.commands = commands;
        rights
    }

    /// Whether everything is allowed.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.is_all
    }

    /// Checks whether a command could be allowed, before it is read.
    ///
    /// # Errors
    /// What is missing, if it is allowed on no resource.
    pub fn check_any(&self, spec: &CommandSpec) -> Result<(), Lack> {
        match self.commands.get(usize::from(spec.number)) {
            Some(Permit::Always | Permit::ById) => Ok(()),
            Some(Permit::Never) | None => Err(Lack::of(Need::of(spec), "*")),
        }
    }

    /// Checks a command: every resource that it names must be covered.
    ///
    /// # Errors
    /// What is missing, for the first resource.
    #[inline]
    pub fn check(&self, spec: &CommandSpec, command: &Command) -> Result<(), Lack> {
        match self.commands.get(usize::from(spec.number)) {
            Some(Permit::Always) => Ok(()),
            // What it shows is what the key covers.
            Some(Permit::ById) if spec.is_list() => Ok(()),
            permit => self.check_named(spec, command, permit == Some(&Permit::ById)),
        }
    }

    fn check_named(&self, spec: &CommandSpec, command: &Command, may_some: bool) -> Result<(), Lack> {
        let need = Need::of(spec);
        let (mut uncovered, mut names_any) = (None, false);
        command.route(&mut |id| {
            names_any = true;
            if uncovered.is_none() && !(may_some && self.covers(need, id.as_str())) {
                uncovered = Some(Lack::of(need, id.as_str()));
            }
        });
        match uncovered {
            Some(lack) => Err(lack),
            None if names_any => Ok(()),
            // It is about all of them.
            None => Err(Lack::of(need, "*")),
        }
    }

    /// Checks what is no command of the table. Without an id it is about all resources.
    ///
    /// # Errors
    /// What is missing.
    pub fn check_need(&self, need: Need, id: Option<&str>) -> Result<(), Lack> {
        let is_met = match (self.permit(need), id) {
            (Permit::Always, _) => true,
            (Permit::ById, Some(id)) => self.covers(need, id),
            (Permit::Never, _) | (Permit::ById, None) => false,
        };
        if is_met { Ok(()) } else { Err(Lack::of(need, id.unwrap_or("*"))) }
    }

    /// Whether a need is met for some resource.
    #[must_use]
    pub fn meets_some(&self, need: Need) -> bool {
        self.permit(need) != Permit::Never
    }

    /// Where a list looks for what it shows of the names with a prefix; see [`Rights::shows`]. Ids with a tag behind other
    /// text are not found for a scope of that tag.
    #[must_use]
    pub fn parts(&self, spec: &CommandSpec, prefix: &str) -> Vec<Part> {
        let need = Need::of(spec);
        let patterns = self.scopes.iter().filter(|scope| scope.meets(need)).map(|scope| &scope.pattern);
        let mut parts: Vec<Part> = patterns.flat_map(Pattern::parts).collect();
        // What has others comes before them.
        parts.sort();
        let mut kept: Vec<Part> = Vec::new();
        for part in parts.into_iter().filter_map(|part| part.within(prefix)) {
            if !kept.iter().any(|other| other.has(&part)) {
                kept.push(part);
            }
        }
        kept
    }

    /// Whether a list shows the resource of a name.
    #[must_use]
    pub fn shows(&self, spec: &CommandSpec, id: &str) -> bool {
        self.covers(Need::of(spec), id)
    }

    fn permit(&self, need: Need) -> Permit {
        if need.is_everything() {
            return if self.is_all { Permit::Always } else { Permit::Never };
        }
        let meeting = || self.scopes.iter().filter(|scope| scope.meets(need));
        match meeting().any(|scope| scope.pattern == Pattern::All) {
            true => Permit::Always,
            false if !need.is_of_all() && meeting().next().is_some() => Permit::ById,
            false => Permit::Never,
        }
    }

    fn covers(&self, need: Need, id: &str) -> bool {
        self.scopes.iter().any(|scope| scope.meets(need) && scope.pattern.covers(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_core::command::rules::Verb;
    use scarce_core::command::{Effect, table};

    fn rights(scopes: &[&str]) -> Rights {
        Rights::new(scopes.iter().map(|text| Scope::parse(text).expect("a scope")).collect())
    }

    fn lack(rights: &Rights, line: &str) -> Option<String> {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let (command, _) =
            Command::parse(spec, &words[1..]).unwrap_or_else(|error| panic!("{line}: {error}"));
        rights.check(spec, &command).err().map(|lack| lack.to_string())
    }

    #[test]
    fn every_resource_of_a_command_must_be_covered() {
        let rights = rights(&["take:account:a-*", "read:stock:sku-1", "take:stock:{x}"]);
        assert_eq!(lack(&rights, "ACCOUNT.TRANSFER a-1 a-2 5"), None);
        assert_eq!(lack(&rights, "ACCOUNT.TRANSFER a-1 b-2 5").as_deref(), Some("take:account:b-2"));
        assert_eq!(lack(&rights, "ACCOUNT.TRANSFER b-1 a-2 5").as_deref(), Some("take:account:b-1"));
        assert_eq!(lack(&rights, "STOCK.GET sku-1"), None);
        assert_eq!(lack(&rights, "STOCK.GET sku-2").as_deref(), Some("read:stock:sku-2"));
        assert_eq!(lack(&rights, "STOCK.TAKE {x}1 1 u"), None);
        assert_eq!(lack(&rights, "STOCK.TAKE sku-1 1 u").as_deref(), Some("take:stock:sku-1"));
        assert_eq!(lack(&rights, "ACCOUNT.CREDIT a-1 5").as_deref(), Some("create:account:a-1"));
    }

    #[test]
    fn a_list_shows_what_the_scopes_cover() {
        let rights =
            rights(&["read:account:a-*", "read:account:{u7}", "read:account:ab", "take:account:z-*"]);
        let spec = table::find(b"ACCOUNT.LIST").expect("a command");
        let parts = |prefix: &str| {
            let texts = rights.parts(spec, prefix).into_iter().map(|part| match part {
                Part::Beginning(text) => format!("{text}*"),
                Part::One(id) => id,
            });
            texts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(lack(&rights, "ACCOUNT.LIST").as_deref(), None);
        assert_eq!(parts(""), "a-* {u7}* ab u7");
        assert_eq!((parts("a"), parts("a-1"), parts("z")), ("a-* ab".into(), "a-1*".into(), String::new()));
        let shown = ["a-1", "ab", "u7", "{u7}:x", "abc", "u77", "z-1"].map(|id| rights.shows(spec, id));
        assert_eq!(shown, [true, true, true, true, false, false, false]);
        assert_eq!(lack(&rights, "STOCK.LIST").as_deref(), Some("read:stock:*"));
        let all = Rights::new(vec![Scope::ALL, Scope::parse("read:account:b").expect("a scope")]);
        assert_eq!(all.parts(spec, "b"), [Part::Beginning("b".to_owned())]);
        assert_eq!(all.parts(spec, ""), [Part::Beginning(String::new())]);
    }

    #[test]
    fn everything_is_allowed_by_the_scope_of_everything_alone() {
        let all = rights(&["*"]);
        assert_eq!(all.check_need(Need::EVERYTHING, None), Ok(()));
        for scopes in [&["operate"][..], &["read", "take,settle", "create,administrate", "operate"]] {
            let lack = rights(scopes).check_need(Need::EVERYTHING, None).expect_err("it may not");
            assert_eq!((lack.to_string().as_str(), lack.verb, lack.kind), ("*", "*", "*"), "{scopes:?}");
        }
    }

    #[test]
    fn what_is_of_no_single_kind_needs_all_kinds() {
        let some = rights(&["read:account", "read:stock:sku-1"]);
        assert_eq!(lack(&some, "DIGEST").as_deref(), Some("read"));
        assert_eq!(lack(&some, "DIGEST sku-1").as_deref(), Some("read:*:sku-1"));
        assert_eq!(lack(&some, "ACCOUNT.WORLD coins ON a").as_deref(), Some("read"));
        let tagged = rights(&["read:*:{user-7}", "read:*:u-8", "read:*:u-*"]);
        for id in ["user-7", "u-8"] {
            assert_eq!(lack(&tagged, &format!("DIGEST {id}")), None);
            let world = format!("ACCOUNT.WORLD coins ON {id}");
            assert_eq!(lack(&tagged, &world).as_deref(), Some("read"), "it is of the whole partition");
        }
        assert_eq!(lack(&rights(&["read"]), "ACCOUNT.WORLD coins ON u-8"), None);
        assert_eq!(lack(&rights(&["read:*:sku-1"]), "DIGEST sku-1"), None);
        assert_eq!(lack(&rights(&["read"]), "DIGEST"), None);
    }

    #[test]
    fn who_sends_operations_may_ask_about_them_and_who_only_reads_may_settle_none() {
        let (get, resolve) = ("OPERATION.GET op-1 ON sku-1", "OPERATION.RESOLVE op-1 ON sku-1");
        for verb in ["take", "settle", "create", "administrate"] {
            let rights = rights(&[&format!("{verb}:stock:sku-1")]);
            assert_eq!((lack(&rights, get), lack(&rights, resolve)), (None, None), "{verb}");
        }
        let reader = rights(&["read:stock"]);
        assert_eq!(lack(&reader, get), None);
        assert_eq!(lack(&reader, resolve).as_deref(), Some("take:*:sku-1"));
        assert_eq!(lack(&rights(&["operate"]), get).as_deref(), Some("read:*:sku-1"));
        assert!(Scope::parse("take:*:sku-1").is_ok() && Scope::parse("read:*:sku-1").is_ok());
        assert!(lack(&rights(&["take:stock:sku-2"]), get).is_some());
        assert!(lack(&rights(&["take:script"]), get).is_some());
    }

    #[test]
    fn a_verb_allows_the_commands_of_its_row_and_no_others() {
        for verb in Verb::ALL {
            let rights = rights(&[verb.word()]);
            for spec in COMMANDS {
                let is_allowed = rights.commands[usize::from(spec.number)] == Permit::Always;
                let may = match spec.verb() {
                    Verb::Any if verb == Verb::Operate => false,
                    Verb::Any => verb != Verb::Read || spec.effect == Effect::Read,
                    its => its == verb,
                };
                assert_eq!(is_allowed, may, "{} by {}", spec.name, verb.word());
            }
            assert_eq!(rights.check_need(Need::OPERATE, None).is_ok(), verb == Verb::Operate);
            assert_eq!(rights.check_need(Need::READ_ALL, None).is_ok(), verb == Verb::Read);
        }
        assert!(rights(&["*"]).is_all() && !rights(&["read", "take"]).is_all());
        assert!(rights(&[]).commands.iter().all(|permit| *permit == Permit::Never));
    }

    #[test]
    fn what_is_named_of_a_caller_is_plain() {
        let need = Need::on(Verb::Take, crate::Kind::Script);
        let lack =
            rights(&["read"]).check_need(need, Some("a\n\u{1b}[31m\u{202e}b")).expect_err("it has none");
        assert_eq!(lack.to_string(), "take:script:a??[31m?b");
        let long = rights(&["read"]).check_need(need, Some(&"x".repeat(99))).expect_err("it has none");
        assert_eq!(long.resource.len(), 64);
    }

    #[test]
    fn nothing_that_only_reads_needs_another_verb_and_nothing_that_changes_is_read() {
        for spec in COMMANDS.iter().filter(|spec| spec.verb() != Verb::Any) {
            assert_eq!(spec.effect == Effect::Read, spec.verb() == Verb::Read, "{}", spec.name);
        }
    }
}
