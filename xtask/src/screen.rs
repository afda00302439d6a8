//! Printing: results on stdout, errors on stderr, tables in columns.

use std::io::Write;

/// Prints a line.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // If stdout is closed, there is nowhere to report that.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Prints a line on stderr.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Lays rows out in columns: the first aligned left, the others right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max())
        .map(Option::unwrap_or_default)
        .collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
            if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The last `count` lines of a text.
pub fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["bcd".to_owned(), "23".to_owned()]];
        assert_eq!(table(&rows), "a     1\nbcd  23");
        assert_eq!(tail("1\n2\n3\n", 2), "2\n3");
    }
}
