//! Records of a CSV file, of bounded length, with their lines.

use std::io::{BufRead, BufReader, Read};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::BookError;
use crate::text::Utf8;

/// How long a record may be.
const RECORD_BYTES_MAX: usize = 64 << 10;

/// How many fields it may have.
const FIELDS_MAX: usize = 1_000;

/// Reads the records of a file one after the other.
pub(crate) struct Records<R> {
    input: BufReader<Utf8<R>>,
    core: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
    fields: usize,
    /// Where the record that was read last begins.
    pub(crate) line: u32,
    lines_before: u32,
}

impl<R: Read> Records<R> {
    /// Begins behind some lines.
    pub(crate) fn new(
        input: Utf8<R>,
        delimiter: u8,
        quote: Option<u8>,
        lines_before: u32,
    ) -> Result<Self, BookError> {
        let mut input = BufReader::new(input);
        for _ in 0..lines_before {
            input.skip_until(b'\n')?;
        }
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).quoting(quote.is_some()).quote(quote.unwrap_or(b'"'));
        let core = builder.build();
        let (text, ends) = (vec![0; RECORD_BYTES_MAX], vec![0; FIELDS_MAX]);
        Ok(Self { input, core, text, ends, fields: 0, line: 0, lines_before })
    }

    /// Reads a record; `false` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<bool, BookError> {
        let (mut text_at, mut ends_at, mut last) = (0, 0, 0);
        let begun = self.line_now(self.core.line());
        loop {
            let input = self.input.fill_buf()?;
            let (text, ends) = (&mut self.text[text_at..], &mut self.ends[ends_at..]);
            let (result, read, written, ended) = self.core.read_record(input, text, ends);
            last = input[..read].last().copied().unwrap_or(last);
            self.input.consume(read);
            (text_at, ends_at) = (text_at + written, ends_at + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    let what = "a record that begins near here does not end; is a quotation mark left open?";
                    return Err(BookError::format(begun, what));
                }
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(false),
            }
        }
        self.fields = ends_at;
        let within = self.text[..text_at].iter().filter(|byte| **byte == b'\n').count();
        let behind = u64::from(last == b'\n') + within as u64;
        self.line = self.line_now(self.core.line().saturating_sub(behind));
        Ok(true)
    }

    fn line_now(&self, line: u64) -> u32 {
        u32::try_from(line).unwrap_or(u32::MAX).saturating_add(self.lines_before)
    }

    pub(crate) fn len(&self) -> usize {
        self.fields
    }

    /// A field, without spaces around it; empty if there is none.
    pub(crate) fn field(&self, at: usize) -> &str {
        if at >= self.fields {
            return "";
        }
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        // The input is UTF-8, and delimiters are ASCII.
        std::str::from_utf8(&self.text[begin..self.ends[at]]).unwrap_or_default().trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, lines_before: u32) -> Records<&[u8]> {
        let input = Utf8::new(text.as_bytes(), None);
        input
            .and_then(|input| Records::new(input, b';', Some(b'"'), lines_before))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn records_know_their_lines_whatever_is_between_them() {
        for end in ["\n", "\r\n"] {
            let text =
                ["made by a bank", "a;b", "", "1;\"x;\"\"y\"", "2;\"two", "lines\"", "3;", ""].join(end);
            let mut records = records(&text, 1);
            let mut found = Vec::new();
            while records.next().unwrap_or_else(|error| panic!("{error}")) {
                found.push((records.line, records.field(0).to_owned(), records.field(1).to_owned()));
            }
            let two = format!("two{end}lines");
            let expected = [(2, "a", "b"), (4, "1", "x;\"y"), (5, "2", two.as_str()), (7, "3", "")];
            assert_eq!(found, expected.map(|(line, a, b)| (line, a.to_owned(), b.to_owned())), "{end:?}");
        }
    }

    #[test]
    fn a_quotation_mark_that_is_left_open_is_named_and_takes_no_memory() {
        let text = format!("a;b\n1;2\n2;\"open\n{}", "3;4\n".repeat(40_000));
        let mut records = records(&text, 0);
        let error = loop {
            match records.next() {
                Ok(true) => {}
                Ok(false) => panic!("it was read to the end"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.starts_with("line 3:") && error.contains("quotation mark"), "{error}");
    }
}
