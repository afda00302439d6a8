//! The maximum lengths of files and functions.

use super::Finding;
use super::files::{File, Files};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Extensions of code, except for tables of data.
const SOURCES: &[&str] = &["rs", "lua", "py", "cjs", "go", "sql", "ts", "svelte", "css"];

/// Source files that are too long.
pub fn files(files: &Files) -> Vec<Finding> {
    let sources = files.0.iter().filter(|file| file.has_extension(SOURCES) && file.is_written());
    let lengths = sources.map(|file| (&file.path, file.text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > FILE_LINES_MAX);
    let finding = |(path, lines)| {
        Finding::new(path, format!("{lines} lines, at most {FILE_LINES_MAX}; split it by subject"))
    };
    long.map(finding).collect()
}

/// Functions in Rust and Lua that are too long.
pub fn functions(files: &Files) -> Vec<Finding> {
    files.0.iter().flat_map(long_functions).collect()
}

fn long_functions(file: &File) -> Vec<Finding> {
    let found = match () {
        () if file.has_extension(&["rs"]) => functions_in(&file.text, is_rust_function, "}", "//"),
        () if file.has_extension(&["lua"]) => functions_in(&file.text, is_lua_function, "end", "--"),
        () => Vec::new(),
    };
    let long = found.into_iter().filter(|function| function.lines > FUNCTION_LINES_MAX);
    let finding = |Function { first_line, lines }| {
        let place = format!("{}:{first_line}", file.path);
        Finding::new(place, format!("a function of {lines} lines, at most {FUNCTION_LINES_MAX}; split it"))
    };
    long.map(finding).collect()
}

/// A function: its first line, and the lines of its body that are neither blank nor comments.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    first_line: usize,
    lines: usize,
}

/// Finds functions by indentation, which the formatter ensures: the end has the indentation of the head.
fn functions_in(text: &str, is_head: fn(&str) -> bool, end: &str, comment: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (at, head) in lines.iter().enumerate().filter(|(_, line)| is_head(line.trim_start())) {
        let indent = &head[..head.len() - head.trim_start().len()];
        let is_end = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with(end));
        // Parameters may be on lines of their own.
        let parameters = lines[at..].iter().position(|line| end != "}" || line.ends_with('{')).unwrap_or(0);
        let body = &lines[at + 1 + parameters..];
        let Some(length) = body.iter().position(is_end) else { continue };
        let counts = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with(comment);
        let lines = body[..length].iter().filter(counts).count();
        functions.push(Function { first_line: at + 1, lines });
    }
    functions
}

/// Whether a line begins a function with a body on the lines below.
fn is_rust_function(line: &str) -> bool {
    const BEFORE: &[&str] = &["pub", "pub(super)", "pub(crate)", "const", "async", "unsafe", "default"];
    let mut words = line.split_whitespace().skip_while(|word| BEFORE.contains(word));
    words.next() == Some("fn") && !line.ends_with(['}', ';'])
}

fn is_lua_function(line: &str) -> bool {
    let is_named = line.starts_with("function ") || line.starts_with("local function ");
    (is_named || line.contains("= function(")) && !line.ends_with("end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_functions_are_counted_without_comments() {
        let text = "impl A {\n    pub(super) fn one(\n        a: u8,\n    ) {\n        // Why.\n\n        two()\n    }\n\n    fn two() {}\n}\n";
        let one = Function { first_line: 2, lines: 1 };
        assert_eq!(functions_in(text, is_rust_function, "}", "//"), [one]);
        let text = "local function one(a)\n  if a then\n    -- Why.\n    return a\n  end\nend\nlocal f = function() end\n";
        let one = Function { first_line: 1, lines: 3 };
        assert_eq!(functions_in(text, is_lua_function, "end", "--"), [one]);
    }

    #[test]
    fn a_long_function_and_a_long_file_are_found() {
        let long = format!("fn long() {{\n{}}}\n", "    work();\n".repeat(FUNCTION_LINES_MAX + 1));
        let file = |text: String| Files(vec![File { path: "a.rs".to_owned(), text }]);
        assert_eq!(functions(&file(long)).len(), 1);
        assert_eq!(self::files(&file("\n".repeat(FILE_LINES_MAX))).len(), 0);
        assert_eq!(self::files(&file("\n".repeat(FILE_LINES_MAX + 1))).len(), 1);
    }
}
