//! A small picture of a quantity over the changes that the log has of it.

/// How many columns the picture has at most.
const COLUMNS: usize = 64;

/// How many rows.
const ROWS: u64 = 6;

/// Eighths of a cell, from none to full.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws `levels`, none above `top`, from left to right; below, `mark` stands under the change at
/// `marked`.
pub(super) fn draw(levels: &[u64], top: u64, marked: Option<usize>, mark: &str) -> Vec<String> {
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
            let cells: String = (0..columns).map(|column| cell(level(column), top, row)).collect();
            format!("{label:>margin$} ┤{cells}")
        })
        .collect();
    lines.push(format!("{:>margin$} └{}", 0, "─".repeat(columns)));
    if let Some(at) = marked {
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

/// What a level fills of the cell in a row.
fn cell(level: u64, top: u64, row: u64) -> char {
    let eighths = (level * ROWS * 8).div_ceil(top).saturating_sub(row * 8).min(8);
    EIGHTHS[usize::try_from(eighths).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burn_down_falls_from_left_to_right() {
        let lines = draw(&[48, 24, 0], 48, Some(1), "killed");
        assert_eq!(lines[0], "48 ┤█  ");
        assert_eq!(lines[3], "   ┤██ ");
        assert_eq!(lines[6], " 0 └───");
        assert_eq!(lines[7], "     ▲ killed");
        assert!(draw(&[], 48, None, "").is_empty());
    }
}
