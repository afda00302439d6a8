//! Columns on the terminal, as wide as their widest cell; characters of double width count as two.

use comfy_table::{ContentArrangement, Table, presets};

/// The lines of a table without borders, two blanks between its columns.
pub(crate) fn aligned(rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.add_rows(rows);
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_on_the_screen() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let lines = aligned([row(["name", "amount"]), row(["小明", "5"]), row(["longer-name", "10"])]);
        assert_eq!(lines, ["name         amount", "小明         5", "longer-name  10"]);
        assert!(aligned(Vec::new()).is_empty());
    }
}
