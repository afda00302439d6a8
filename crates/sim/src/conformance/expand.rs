//! Repetitions: `repeat COUNT name` … `end`, where `{name}` and sums such as `{name+1}`,
//! `{1000-name}` or `{2*name}` in the lines between are replaced by numbers.

use super::{Failure, failure};

/// A line of a table, after repetitions were expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its number in the file.
    pub(super) number: usize,
    /// Its text, trimmed.
    pub(super) text: String,
}

/// The non-empty lines, with repetitions expanded.
pub(super) fn expand(file: &str, text: &str, failures: &mut Vec<Failure>) -> Vec<Line> {
    let lines: Vec<Line> = text
        .lines()
        .enumerate()
        .map(|(at, line)| Line { number: at + 1, text: line.trim().to_owned() })
        .filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
        .collect();
    let mut out = Vec::new();
    block(file, &lines, &mut out, failures);
    out
}

fn block(file: &str, lines: &[Line], out: &mut Vec<Line>, failures: &mut Vec<Failure>) {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let Some((count, name)) = header(&line.text) else {
            out.push(line.clone());
            at += 1;
            continue;
        };
        let Some(length) = body_length(&lines[at + 1..]) else {
            failures.push(failure(file, line.number, "repeat without end"));
            return;
        };
        for number in 1..=count {
            let body: Vec<Line> = lines[at + 1..=at + length]
                .iter()
                .map(|line| Line { number: line.number, text: substitute(&line.text, name, number) })
                .collect();
            block(file, &body, out, failures);
        }
        at += length + 2;
    }
}

fn header(text: &str) -> Option<(i64, &str)> {
    let (count, name) = text.strip_prefix("repeat ")?.split_once(' ')?;
    Some((count.parse().ok()?, name.trim()))
}

/// The number of lines before the matching `end`; batches have an `end` of their own.
fn body_length(lines: &[Line]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, line) in lines.iter().enumerate() {
        let first = line.text.split(' ').next().unwrap_or("");
        match first {
            "repeat" | "batch" => depth += 1,
            "end" if depth == 0 => return Some(at),
            "end" => depth -= 1,
            _ => {}
        }
    }
    None
}

fn substitute(text: &str, name: &str, number: i64) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let close = rest.find('}').unwrap_or(0);
        match value(&rest[1..close.max(1)], name, number) {
            Some(value) => {
                out.push_str(&value.to_string());
                rest = &rest[close + 1..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The value of a sum of numbers, the name and multiples of it; `None` if the name does not occur.
fn value(sum: &str, name: &str, number: i64) -> Option<i64> {
    let spaced = sum.replace('-', "+-");
    let mut named = false;
    let mut total = 0_i64;
    for term in spaced.split('+').filter(|term| !term.is_empty()) {
        let (sign, term) = term.strip_prefix('-').map_or((1, term), |rest| (-1, rest));
        let mut product = sign;
        for factor in term.split('*') {
            named |= factor == name;
            product *= if factor == name { number } else { factor.parse().ok()? };
        }
        total += product;
    }
    named.then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out_and_sums_counted() {
        let mut failures = Vec::new();
        let text = "repeat 2 n\nA {tag}{n} {n+1}\nrepeat 2 m\nB {n}{m} {10-2*m}\nend\nend\nC {n}";
        let lines = expand("x", text, &mut failures);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["A {tag}1 2", "B 11 8", "B 12 6", "A {tag}2 3", "B 21 8", "B 22 6", "C {n}"]);
        assert_eq!(lines[3].number, 2);
        assert!(failures.is_empty());
    }

    #[test]
    fn a_batch_keeps_its_own_end() {
        let mut failures = Vec::new();
        let lines = expand("x", "repeat 2 n\nbatch\nA {n}\nend -> APPLIED\nend", &mut failures);
        assert_eq!(lines.len(), 6);
        assert!(failures.is_empty());
    }
}
