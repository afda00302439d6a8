//! Comma-separated values (RFC 4180), with one record per line. No importable value contains a line break, so
//! an unclosed quote affects only its own line.

use csv_core::{ReadRecordResult, Reader};

use super::Problem;
use super::lines::LINE_BYTES_MAX;

/// The maximum number of columns.
const COLUMNS_MAX: usize = 256;

/// The byte order mark that some programs write before UTF-8 text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses the lines of one file.
pub(super) struct Cells {
    reader: Reader,
    output: Vec<u8>,
    ends: Vec<usize>,
    names: Vec<String>,
}

/// The cells of a line by column name, trimmed.
pub(super) struct Row<'a> {
    names: &'a [String],
    cells: Vec<&'a str>,
}

impl Cells {
    /// A reader that has not seen the header yet.
    pub(super) fn new() -> Self {
        Self {
            reader: Reader::new(),
            output: vec![0; LINE_BYTES_MAX + 1],
            ends: vec![0; COLUMNS_MAX + 1],
            names: Vec::new(),
        }
    }

    /// Whether the header was read.
    pub(super) fn has_header(&self) -> bool {
        !self.names.is_empty()
    }

    /// Reads a line as the header.
    pub(super) fn read_header(
        &mut self,
        line: &[u8],
        known: &[&str],
        required: &[&str],
    ) -> Result<(), String> {
        if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
            return Err("is UTF-16; write the file as UTF-8".to_owned());
        }
        let count = self.split(line)?;
        let mut names: Vec<String> = Vec::new();
        for at in 0..count {
            let name = std::str::from_utf8(self.cell(at)).map_err(|_| "is not UTF-8".to_owned())?;
            let name = name.trim().to_ascii_lowercase();
            if names.contains(&name) {
                return Err(format!("names column '{}' twice", super::operation::shown(&name)));
            }
            if !known.contains(&name.as_str()) {
                let shown = super::operation::shown(&name);
                return Err(format!("has an unknown column '{shown}'; known are {}", known.join(", ")));
            }
            names.push(name);
        }
        if let Some(missing) = required.iter().find(|name| !names.iter().any(|found| found == *name)) {
            return Err(format!("has no column '{missing}'; the first line must name the columns"));
        }
        self.names = names;
        Ok(())
    }

    /// Reads a line under the header.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<Row<'_>, Problem> {
        let count = self.split(line)?;
        if count != self.names.len() {
            let wanted = self.names.len();
            return Err(format!("has {count} cells, but the header has {wanted} columns").into());
        }
        let read = |(at, name): (usize, &String)| {
            std::str::from_utf8(self.cell(at)).map(str::trim).map_err(|_| Problem::of(name, "is not UTF-8"))
        };
        let cells = self.names.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Row { names: &self.names, cells })
    }

    /// Splits a line into `output` and says how many cells it has.
    fn split(&mut self, line: &[u8]) -> Result<usize, String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.reader.reset();
        let (result, read, written, count) = self.reader.read_record(line, &mut self.output, &mut self.ends);
        let (output, ends) = (&mut self.output[written..], &mut self.ends[count..]);
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputEndsFull => return Err(format!("has more than {COLUMNS_MAX} cells")),
            ReadRecordResult::Record if line[read..].is_empty() => {
                return Err("ends with a carriage return too many".to_owned());
            }
            _ => return Err("has a carriage return within".to_owned()),
        }
        // Within a quoted cell the line break is content, and the record continues.
        let (result, _, _, more) = self.reader.read_record(b"\n", output, ends);
        match result {
            ReadRecordResult::Record => Ok(count + more),
            ReadRecordResult::OutputEndsFull => Err(format!("has more than {COLUMNS_MAX} cells")),
            _ => Err("has a quote that is not closed on its line".to_owned()),
        }
    }

    fn cell(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.output[begin..self.ends[at]]
    }
}

impl<'a> Row<'a> {
    /// The cell of a column; `None` if it is empty or there is no such column.
    pub(super) fn get(&self, column: &str) -> Option<&'a str> {
        let at = self.names.iter().position(|name| name == column)?;
        Some(self.cells[at]).filter(|cell| !cell.is_empty())
    }

    /// The cell of a column that must not be empty.
    pub(super) fn need(&self, column: &str) -> Result<&'a str, Problem> {
        self.get(column).ok_or_else(|| Problem::of(column, "is missing"))
    }

    /// The columns that are not empty.
    pub(super) fn given(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().zip(&self.cells).filter(|(_, cell)| !cell.is_empty()).map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(header: &str) -> Cells {
        let mut cells = Cells::new();
        cells.read_header(header.as_bytes(), &["a", "b", "c"], &["a"]).unwrap();
        cells
    }

    fn read(line: &[u8]) -> Result<Vec<String>, String> {
        let mut cells = cells("a,b,c");
        let row = cells.read(line).map_err(|problem| problem.to_string())?;
        Ok(row.cells.iter().map(|cell| (*cell).to_owned()).collect())
    }

    #[test]
    fn cells_are_read_as_programs_write_them() {
        for (line, expected) in [
            (&b"1,2,3"[..], ["1", "2", "3"]),
            (b"1,2,3\r", ["1", "2", "3"]),
            (b" 1 ,,\t3", ["1", "", "3"]),
            (br#""x, y","a ""b""",3"#, ["x, y", r#"a "b""#, "3"]),
            (br#"5" pipe,2,3"#, [r#"5" pipe"#, "2", "3"]),
            ("é,ü,ß".as_bytes(), ["é", "ü", "ß"]),
            (b",,", ["", "", ""]),
        ] {
            assert_eq!(read(line).unwrap(), expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn broken_lines_are_told_and_cost_no_other() {
        let mut cells = cells("a,b,c");
        for (line, part) in [
            (&b"1,2"[..], "has 2 cells, but the header has 3"),
            (b"1,2,3,4", "has 4 cells"),
            (b"1,\"2,3", "a quote that is not closed"),
            (b"1,\"2,3\r", "a quote that is not closed"),
            (b"1,\xff,3", "b is not UTF-8"),
            (b"1,2,3\r4,5,6", "a carriage return within"),
            (&[b','; 300], "more than 256 cells"),
        ] {
            let Err(problem) = cells.read(line) else { panic!("{}", String::from_utf8_lossy(line)) };
            assert!(problem.to_string().contains(part), "{problem}");
            assert_eq!(
                cells.read(b"1,2,3").map(|row| row.get("b").map(str::to_owned)).ok(),
                Some(Some("2".to_owned()))
            );
        }
    }

    #[test]
    fn a_header_is_checked_whole() {
        for (header, part) in [
            (&b"a,b,a"[..], "names column 'a' twice"),
            (b"a,x", "unknown column 'x'; known are a, b, c"),
            (b"b,c", "has no column 'a'"),
            (b"a;b;c", "unknown column 'a;b;c'"),
            (b"\xff\xfea", "UTF-16"),
        ] {
            let problem = Cells::new().read_header(header, &["a", "b", "c"], &["a"]).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
        assert!(cells(" A ,\"b\"\r").has_header());
    }
}
