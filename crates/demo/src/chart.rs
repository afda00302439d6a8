//! A small chart of a quantity over its changes in the log.

/// The maximum number of columns of the chart.
const COLUMNS: usize = 64;

/// The number of rows.
const ROWS: u64 = 6;

/// Eighths of a cell from the bottom, from empty to full.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Eighths of a cell from the left.
const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A label below a chart: the index of its level, and its text.
pub(super) type Mark<'a> = (usize, &'a str);

/// Draws `levels`, none above `top`, from left to right; each mark stands below its level.
pub(super) fn draw(levels: &[u64], top: u64, marks: &[Mark<'_>]) -> Vec<String> {
    let columns = levels.len().min(COLUMNS);
    if columns == 0 || top == 0 {
        return Vec::new();
    }
    let level = |column: usize| levels[column * (levels.len() - 1) / (columns - 1).max(1)];
    let margin = top.to_string().len();
    let mut lines: Vec<String> = (0..ROWS)
        .rev()
        .map(|row| {
            let label = if row + 1 == ROWS { top.to_string() } else { String::new() };
            let cells: String = (0..columns).map(|column| cell(level(column), top, row, ROWS)).collect();
            format!("{label:>margin$} ┤{cells}")
        })
        .collect();
    lines.push(format!("{:>margin$} └{}", 0, "─".repeat(columns)));
    for (at, mark) in marks {
        let column = at * (columns - 1) / (levels.len() - 1).max(1);
        let blank = " ".repeat(margin + 2);
        lines.push(if column > COLUMNS / 2 {
            let text = format!("{mark} ▲");
            format!("{blank}{text:>width$}", width = column + 1)
        } else {
            format!("{blank}{}▲ {mark}", " ".repeat(column))
        });
    }
    lines
}

/// The character for a level's share of a cell in one of `rows` rows.
pub(super) fn cell(level: u64, top: u64, row: u64, rows: u64) -> char {
    let eighths = (level * rows * 8).div_ceil(top).saturating_sub(row * 8).min(8);
    EIGHTHS[usize::try_from(eighths).unwrap_or(0)]
}

/// A line of small bars, each level relative to `top`.
fn bars(levels: &[u64], top: u64) -> String {
    levels.iter().map(|level| eighths(*level, top.max(1))).collect()
}

fn eighths(level: u64, top: u64) -> char {
    EIGHTHS[usize::try_from((level * 8).div_ceil(top).min(8)).unwrap_or(0)]
}

/// Reduces the levels to the number of columns; each is the highest of its range.
fn squeezed(levels: &[u64], columns: usize) -> Vec<u64> {
    let columns = columns.min(levels.len());
    let begin = |column: usize| column * levels.len() / columns;
    (0..columns)
        .map(|column| levels[begin(column)..begin(column + 1)].iter().copied().max().unwrap_or(0))
        .collect()
}

/// A line of at most `columns` small bars, with a cross where the levels before `marked` end.
pub(super) fn course(levels: &[u64], top: u64, columns: usize, marked: Option<usize>) -> String {
    let (before, after) = levels.split_at(marked.unwrap_or(levels.len()).min(levels.len()));
    let part = |part: &[u64]| {
        let share = part.len() * columns.min(levels.len()) / levels.len().max(1);
        bars(&squeezed(part, share.max(1)), top)
    };
    let mark = if marked.is_some() { "✖" } else { "" };
    format!("{}{mark}{}", part(before), part(after))
}

/// A horizontal bar, `width` cells for `top`.
pub(super) fn bar(level: u64, top: u64, width: u64) -> String {
    let eighths = (level * width * 8).div_ceil(top.max(1));
    let full = usize::try_from(eighths / 8).unwrap_or(0);
    let rest = PARTS[usize::try_from(eighths % 8).unwrap_or(0)];
    format!("{}{rest}", "█".repeat(full)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burn_down_falls_from_left_to_right() {
        let lines = draw(&[48, 24, 0], 48, &[(1, "killed")]);
        assert_eq!(lines[0], "48 ┤█  ");
        assert_eq!(lines[3], "   ┤██ ");
        assert_eq!(lines[6], " 0 └───");
        assert_eq!(lines[7], "     ▲ killed");
        assert!(draw(&[], 48, &[]).is_empty());
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(10, 20, 4), "██");
        assert_eq!(bar(1, 16, 2), "▏");
        assert_eq!(bar(0, 16, 2), "");
        assert_eq!(bars(&[0, 4, 8], 8), " ▄█");
        assert_eq!(squeezed(&[1, 5, 2, 3], 2), [5, 3]);
    }
}
