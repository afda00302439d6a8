//! What a text in Lua says: which names it takes from outside, which members of which tables it reads and writes,
//! and what it hands to which function. A walk over the tokens that knows blocks and local variables.

use super::tokens::{Kind, Token, tokens};

/// A member that is read or written: `base.name`; the base is empty where it is no variable.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    pub base: &'a str,
    pub name: &'a str,
    pub is_write: bool,
    pub line: usize,
    /// The entry of a table in which this stands, as `evolve` and `account.opened`.
    pub entry: Option<(&'a str, &'a str)>,
}

/// A table that is written down with names.
#[derive(Clone, Debug, Default)]
pub struct Constructor<'a> {
    /// The function that it is handed to, and that function's first argument where it is a string.
    pub callee: String,
    pub first: Option<&'a str>,
    /// The variable that the call's result goes to.
    pub variable: Option<&'a str>,
    pub keys: Vec<&'a str>,
    pub line: usize,
}

/// A call: the function, its first argument, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Call<'a> {
    pub callee: String,
    pub first: Option<&'a str>,
    /// The member that is the first argument.
    pub first_member: Option<(&'a str, &'a str)>,
    pub count: usize,
    pub line: usize,
    /// The variable that the result goes to.
    pub variable: Option<&'a str>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Findings<'a> {
    pub globals: Vec<(&'a str, usize)>,
    pub members: Vec<Member<'a>>,
    pub constructors: Vec<Constructor<'a>>,
    pub calls: Vec<Call<'a>>,
    pub texts: Vec<(&'a str, usize)>,
    /// Fields that are given a string or compared with one.
    pub words: Vec<(&'a str, &'a str, usize)>,
    /// Local variables within blocks.
    pub locals: Vec<(&'a str, usize)>,
    /// First line and number of lines of each function.
    pub functions: Vec<(usize, usize)>,
}

enum Bracket<'a> {
    Round(Call<'a>),
    Curly(Constructor<'a>),
    Square,
    /// A function's body, within which a statement begins afresh.
    Body,
}

struct Scope<'a> {
    names: Vec<&'a str>,
    /// The line of the function whose body it is.
    function: Option<usize>,
    entry: Option<(&'a str, &'a str)>,
}

struct Walk<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    scopes: Vec<Scope<'a>>,
    brackets: Vec<Bracket<'a>>,
    /// The variables of loops whose `do` is still to come, and how deep that is.
    loops: Vec<(usize, Vec<&'a str>)>,
    found: Findings<'a>,
}

/// Walks over a text.
pub fn walk(text: &str) -> Findings<'_> {
    let top = Scope { names: Vec::new(), function: None, entry: None };
    let mut walk = Walk {
        tokens: tokens(text),
        at: 0,
        scopes: vec![top],
        brackets: Vec::new(),
        loops: Vec::new(),
        found: Findings::default(),
    };
    while walk.at < walk.tokens.len() {
        walk.step();
    }
    assert!(walk.scopes.len() == 1 && walk.brackets.is_empty(), "blocks and brackets do not match");
    walk.found
}

impl<'a> Walk<'a> {
    fn token(&self, at: usize) -> Option<Token<'a>> {
        self.tokens.get(at).copied()
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.token(at).is_some_and(|token| token.is(text))
    }

    fn is_behind(&self, text: &str) -> bool {
        self.at > 0 && self.is(self.at - 1, text)
    }

    fn name_at(&self, at: usize) -> Option<&'a str> {
        self.token(at).filter(|token| token.kind == Kind::Name).map(|token| token.text)
    }

    fn step(&mut self) {
        let Some(token) = self.token(self.at) else { return };
        self.at += 1;
        match token.kind {
            Kind::Keyword => self.keyword(token),
            Kind::Symbol => self.symbol(token),
            Kind::Name => {
                self.at -= 1;
                self.name(token);
            }
            Kind::Text => {
                self.found.texts.push((token.text, token.line));
                let is_given =
                    self.at >= 3 && ["=", "==", "~="].iter().any(|sign| self.is(self.at - 2, sign));
                if let (true, Some(field)) =
                    (is_given, self.at.checked_sub(3).and_then(|at| self.name_at(at)))
                {
                    self.found.words.push((field, token.text, token.line));
                }
                self.first_argument(token.text);
            }
            Kind::Number => {}
        }
    }

    fn keyword(&mut self, token: Token<'a>) {
        match token.text {
            "function" => self.function(token.line),
            "do" => {
                let depth = self.scopes.len();
                let names = self.loops.pop_if(|(at, _)| *at == depth).map(|(_, names)| names);
                self.open(names.unwrap_or_default(), None, None);
            }
            "for" => {
                let names = self.names_list();
                self.loops.push((self.scopes.len(), names));
            }
            "while" => self.loops.push((self.scopes.len(), Vec::new())),
            "then" | "repeat" => self.open(Vec::new(), None, None),
            "else" => {
                self.close(token.line);
                self.open(Vec::new(), None, None);
            }
            "elseif" | "end" | "until" => self.close(token.line),
            "local" if self.is(self.at, "function") => {
                let name = self.name_at(self.at + 1).expect("a function's name");
                self.declare(name);
                self.at += 2;
                self.parameters(token.line, None);
            }
            "local" => {
                let names = self.names_list();
                names.into_iter().for_each(|name| self.declare(name));
            }
            _ => {}
        }
    }

    fn open(&mut self, names: Vec<&'a str>, function: Option<usize>, entry: Option<(&'a str, &'a str)>) {
        let entry = entry.or_else(|| self.scopes.last().and_then(|scope| scope.entry));
        let line = self.token(self.at.saturating_sub(1)).map_or(0, |token| token.line);
        self.found.locals.extend(names.iter().map(|name| (*name, line)));
        self.scopes.push(Scope { names, function, entry });
    }

    fn close(&mut self, line: usize) {
        let scope = self.scopes.pop().expect("a block that is open");
        if let Some(first) = scope.function {
            self.found.functions.push((first, line + 1 - first));
            assert!(matches!(self.brackets.pop(), Some(Bracket::Body)), "brackets in line {line}");
        }
    }

    fn declare(&mut self, name: &'a str) {
        if self.scopes.len() > 1 {
            let line = self.token(self.at.saturating_sub(1)).map_or(0, |token| token.line);
            self.found.locals.push((name, line));
        }
        self.scopes.last_mut().expect("a block").names.push(name);
    }

    /// Names and commas.
    fn names_list(&mut self) -> Vec<&'a str> {
        let mut names = Vec::new();
        while let Some(name) = self.name_at(self.at) {
            names.push(name);
            self.at += if self.is(self.at + 1, ",") { 2 } else { 1 };
        }
        names
    }

    /// What stands behind the word `function`: a name, unless it is an expression, and parameters.
    fn function(&mut self, line: usize) {
        let mut entry = None;
        if let Some(base) = self.name_at(self.at) {
            self.variable(base, line);
            while self.is(self.at + 1, ".") {
                let name = self.name_at(self.at + 2).expect("a member's name");
                self.member(base, name, true, line);
                self.at += 2;
            }
            self.at += 1;
        } else if self.at >= 6 && self.is(self.at - 2, "=") && self.is(self.at - 3, "]") {
            // base["text"] = function
            let text = self.token(self.at - 4).filter(|token| token.kind == Kind::Text);
            entry = self.name_at(self.at - 6).zip(text.map(|token| token.text));
        }
        self.parameters(line, entry);
    }

    fn parameters(&mut self, line: usize, entry: Option<(&'a str, &'a str)>) {
        assert!(self.is(self.at, "("), "a function without parameters in line {line}");
        self.at += 1;
        let names = self.names_list();
        while !self.is(self.at, ")") {
            self.at += 1;
        }
        self.at += 1;
        self.brackets.push(Bracket::Body);
        self.open(names, Some(line), entry);
    }

    fn symbol(&mut self, token: Token<'a>) {
        match token.text {
            "(" => {
                let (callee, variable) = self.callee(self.at - 1);
                let is_empty = self.is(self.at, ")");
                let count = usize::from(!is_empty);
                self.brackets.push(Bracket::Round(Call {
                    callee,
                    count,
                    line: token.line,
                    variable,
                    ..Call::default()
                }));
            }
            "{" => {
                let mut constructor = Constructor { line: token.line, ..Constructor::default() };
                if let Some(Bracket::Round(call)) = self.brackets.last() {
                    (constructor.callee, constructor.first) = (call.callee.clone(), call.first);
                    constructor.variable = call.variable;
                }
                self.brackets.push(Bracket::Curly(constructor));
            }
            "[" => self.brackets.push(Bracket::Square),
            ")" | "}" | "]" => match self.brackets.pop() {
                Some(Bracket::Round(call)) => self.found.calls.push(call),
                Some(Bracket::Curly(constructor)) => self.found.constructors.push(constructor),
                Some(Bracket::Square) => {}
                Some(Bracket::Body) | None => panic!("brackets do not match in line {}", token.line),
            },
            "," => {
                if let Some(Bracket::Round(call)) = self.brackets.last_mut() {
                    call.count += 1;
                }
            }
            _ => {}
        }
    }

    /// The function that the bracket at a place calls, and the local variable that gets the result.
    fn callee(&self, bracket: usize) -> (String, Option<&'a str>) {
        let Some(last) = bracket.checked_sub(1).and_then(|at| self.name_at(at)) else {
            return (String::new(), None);
        };
        let (mut callee, mut at) = (last.to_owned(), bracket - 1);
        while at >= 2 && self.is(at - 1, ".") {
            let Some(base) = self.name_at(at - 2) else { break };
            callee = format!("{base}.{callee}");
            at -= 2;
        }
        let variable = if at >= 2 && self.is(at - 1, "=") { self.name_at(at - 2) } else { None };
        (callee, variable)
    }

    fn first_argument(&mut self, text: &'a str) {
        if let Some(Bracket::Round(call)) = self.brackets.last_mut()
            && call.count == 1
            && call.first.is_none()
        {
            call.first = Some(text);
        }
    }

    fn name(&mut self, token: Token<'a>) {
        let name = token.text;
        let is_key = self.is(self.at + 1, "=") && (self.is_behind("{") || self.is_behind(","));
        if let (true, Some(Bracket::Curly(constructor))) = (is_key, self.brackets.last_mut()) {
            constructor.keys.push(name);
            self.at += 1;
            return;
        }
        if self.is_behind(".") || self.is_behind(":") {
            self.path("", token.line);
            return;
        }
        self.variable(name, token.line);
        if self.is(self.at + 1, ".") {
            self.at += 2;
            self.path(name, token.line);
        } else {
            self.at += 1;
        }
    }

    fn variable(&mut self, name: &'a str, line: usize) {
        if !self.scopes.iter().any(|scope| scope.names.contains(&name)) {
            self.found.globals.push((name, line));
        }
    }

    /// The members behind a base, of which the first is at the place.
    fn path(&mut self, base: &'a str, line: usize) {
        let mut base = base;
        while let Some(name) = self.name_at(self.at) {
            self.at += 1;
            let goes_on = self.is(self.at, ".");
            let is_write = !goes_on && self.is_assigned();
            if let Some(Bracket::Round(call)) = self.brackets.last_mut()
                && call.count == 1
                && call.first_member.is_none()
            {
                call.first_member = Some((base, name));
            }
            self.member(base, name, is_write, line);
            if !goes_on {
                return;
            }
            base = "";
            self.at += 1;
        }
    }

    fn member(&mut self, base: &'a str, name: &'a str, is_write: bool, line: usize) {
        let entry = self.scopes.last().and_then(|scope| scope.entry);
        self.found.members.push(Member { base, name, is_write, line, entry });
    }

    /// Whether what ends here is on the left side of an assignment.
    fn is_assigned(&self) -> bool {
        if !matches!(self.brackets.last(), None | Some(Bracket::Body)) {
            return false;
        }
        let mut at = self.at;
        loop {
            if self.is(at, "=") {
                return true;
            }
            if !self.is(at, ",") {
                return false;
            }
            at = self.behind_target(at + 1);
        }
    }

    /// The place behind what could be assigned to: a name with its members.
    fn behind_target(&self, mut at: usize) -> usize {
        at += 1;
        loop {
            if self.is(at, ".") {
                at += 2;
            } else if self.is(at, "[") {
                while at < self.tokens.len() && !self.is(at, "]") {
                    at += 1;
                }
                at += 1;
            } else {
                return at;
            }
        }
    }
}
