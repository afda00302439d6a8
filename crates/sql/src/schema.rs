//! Tables described once, for all dialects.
//!
//! A description is SQL that SQLite and PostgreSQL understand, with words in braces for the parts that differ
//! between dialects. It is text rather than Rust, because a released version must never change again,
//! whatever happens to the code around it. An index stands after its table, or without it if that is from an
//! earlier version, and a statement ends with `;` at the end of a line.

use crate::{Dialect, put};

/// What the words mean in SQLite, PostgreSQL and MySQL. `$` is the text after the word in the braces.
const WORDS: [(&str, [&str; 3]); 18] = [
    ("integer", ["INTEGER", "BIGINT", "BIGINT"]),
    // A row's number, assigned by the database.
    (
        "number",
        [
            "INTEGER PRIMARY KEY AUTOINCREMENT",
            "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
        ],
    ),
    // ASCII texts, compared as bytes: ids, words of our own, and others with a maximum length in bytes.
    ("id", ["TEXT", C_TEXT, "VARCHAR(128)"]),
    ("word", ["TEXT", C_TEXT, "VARCHAR(32)"]),
    ("ascii", ["TEXT", C_TEXT, "VARCHAR($)"]),
    // Unicode texts: of up to a given number of characters, of up to 16,000, and of up to 4 million.
    ("unicode", ["TEXT", C_TEXT, "VARCHAR($) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"]),
    ("text", ["TEXT", C_TEXT, "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"]),
    ("document", ["TEXT", C_TEXT, "MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"]),
    // The end of a table: one stored in the order of its key, one of those whose rows change (PostgreSQL
    // leaves room for the changed row beside the old one), and one stored in the order of insertion.
    ("keyed", ["STRICT, WITHOUT ROWID", "", INNODB]),
    ("changing", ["STRICT, WITHOUT ROWID", "WITH (fillfactor = 70)", INNODB]),
    ("heap", ["STRICT", "", INNODB]),
    // Unix milliseconds as a readable time, in UTC.
    (
        "time",
        [
            "strftime('%Y-%m-%dT%H:%M:%fZ', $ / 1000.0, 'unixepoch')",
            "TIMESTAMPTZ 'epoch' + $ * INTERVAL '1 millisecond'",
            "TIMESTAMPADD(MICROSECOND, $ * 1000, '1970-01-01 00:00:00.000')",
        ],
    ),
    // An integer whose products may exceed 64 bits.
    ("wide", ["$", "$::NUMERIC", "CAST($ AS DECIMAL(20))"]),
    // Minor units as a decimal number, with the scale of a row `d`; NULL where it is not known. It is exact: SQLite, which has
    // no such numbers, gets a text.
    (
        "decimal",
        [
            "CASE WHEN d.scale > 0 THEN printf('%s%d.%0*d', CASE WHEN $ < 0 THEN '-' ELSE '' END, \
             abs($) / d.minor_units, d.scale, abs($) % d.minor_units) WHEN d.scale = 0 THEN CAST($ AS TEXT) END",
            "ROUND($::NUMERIC(38, 18) / d.minor_units, d.scale::INTEGER)",
            "CAST(CAST($ AS DECIMAL(38, 18)) / d.minor_units AS DECIMAL(38, 18))",
        ],
    ),
    // `CREATE {replacing} VIEW`: SQLite replaces no view, so it must be dropped before.
    ("replacing", ["", "OR REPLACE", "OR REPLACE"]),
    // `{only sqlite}`, `{only postgres}`, `{only mysql}`: a statement for one of them, to change what is there.
    (ONLY, ["", "", ""]),
    // `{partial index}` and `{whole index}`: MySQL has no partial indexes, and gets another index instead.
    (PARTIAL, ["INDEX", "INDEX", ""]),
    (WHOLE, ["", "", "INDEX"]),
];

const PARTIAL: &str = "partial";
const WHOLE: &str = "whole";
const ONLY: &str = "only";
const C_TEXT: &str = "TEXT COLLATE \"C\"";
const INNODB: &str = "ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin";

/// How MySQL begins statements that can be repeated: an interrupted migration leaves its tables behind.
const REPEATABLE: [(&str, &str); 3] = [
    ("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS "),
    ("CREATE VIEW ", "CREATE OR REPLACE VIEW "),
    ("INSERT INTO ", "INSERT IGNORE INTO "),
];

impl Dialect {
    /// The statements that create the described tables. Unknown words in braces stay, so that the database
    /// refuses them.
    #[must_use]
    pub fn schema(self, description: &str) -> String {
        let unwanted = format!("{{{} ", if self == Self::MySql { PARTIAL } else { WHOLE });
        let (only, own) =
            (format!("{{{ONLY} "), format!("{{{ONLY} {}}}", self.of(["sqlite", "postgres", "mysql"])));
        let is_left_out = |its: &str| its.contains(&unwanted) || (its.contains(&only) && !its.contains(&own));
        let mut schema = String::with_capacity(2 * description.len());
        for statement in description.split_inclusive(";\n").filter(|its| !is_left_out(its)) {
            let statement = self.in_words(statement);
            match index(&statement) {
                Some(index) if self == Self::MySql => put_index(&mut schema, index),
                _ => schema.push_str(&statement),
            }
        }
        schema
    }

    /// Replaces the words of a statement with the dialect's own.
    fn in_words(self, statement: &str) -> String {
        let mut parts = statement.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (word, rest) = part.split_once('}').unwrap_or((part, ""));
            let (name, argument) = word.split_once(' ').unwrap_or((word, ""));
            match WORDS.iter().find(|(its, _)| *its == name) {
                Some((ONLY, _)) => {}
                Some((_, meanings)) => match self.of(*meanings) {
                    "" => text.truncate(text.trim_end().len()),
                    meaning => text.push_str(&meaning.replace('$', argument)),
                },
                None => put(&mut text, format_args!("{{{word}}}")),
            }
            text.push_str(rest);
        }
        if self == Self::MySql {
            for (once, again) in REPEATABLE {
                text = text.replace(once, again);
            }
        }
        text
    }

    fn of<T>(self, [sqlite, postgres, mysql]: [T; 3]) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
            Self::MySql => mysql,
        }
    }
}

/// Name, table and columns of the index that a statement creates.
fn index(statement: &str) -> Option<[&str; 3]> {
    let line = statement.trim().lines().last()?;
    let (name, rest) = line.strip_prefix("CREATE INDEX ")?.split_once(" ON ")?;
    let (table, columns) = rest.strip_suffix(';')?.split_once(' ')?;
    Some([name, table, columns])
}

/// Puts an index into its table, if that is described before it, so that both are created together or not at all. An
/// index of an earlier version's table can be created again, which MySQL has no words for; MariaDB does.
fn put_index(schema: &mut String, [name, table, columns]: [&str; 3]) {
    let begun = schema.rfind(&format!("CREATE TABLE IF NOT EXISTS {table} ("));
    let end = begun.and_then(|begun| Some(begun + schema[begun..].find("\n) ")?));
    match end {
        Some(end) => schema.insert_str(end, &format!(",\n    INDEX {name} {columns}")),
        None => {
            put(schema, format_args!("CREATE INDEX /*M! IF NOT EXISTS */ {name} ON {table} {columns};\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: &str = "\
CREATE TABLE sales (
    sale {number},
    owner {ascii 64} NOT NULL,
    PRIMARY KEY (sale)
) {changing};
CREATE INDEX sales_by_owner ON sales (owner, sale);
CREATE {partial index} sales_open ON sales (sale) WHERE owner = 'nobody';
CREATE {whole index} sales_all ON sales (owner);

CREATE VIEW times AS SELECT {time at_ms} AS at FROM sales;
{only sqlite}DROP VIEW times;
{only postgres}ALTER TABLE sales ADD CONSTRAINT nobody CHECK (owner <> '') NOT VALID;
CREATE {replacing} VIEW times AS SELECT 1 AS at FROM sales;
";

    #[test]
    fn each_dialect_is_given_its_own_words() {
        let [sqlite, postgres, mysql] =
            [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql].map(|dialect| dialect.schema(DESCRIPTION));
        assert!(sqlite.contains("    sale INTEGER PRIMARY KEY AUTOINCREMENT,\n    owner TEXT NOT NULL,\n"));
        assert!(
            sqlite.contains(
                "\n) STRICT, WITHOUT ROWID;\nCREATE INDEX sales_by_owner ON sales (owner, sale);\n"
            )
        );
        assert!(
            sqlite.contains("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') AS at FROM")
        );
        assert!(postgres.contains("    owner TEXT COLLATE \"C\" NOT NULL,\n"));
        assert!(postgres.contains(
            ") WITH (fillfactor = 70);\nCREATE INDEX sales_by_owner ON sales (owner, sale);\n\
             CREATE INDEX sales_open ON sales (sale) WHERE owner = 'nobody';\n\n"
        ));
        assert!(
            mysql.starts_with("CREATE TABLE IF NOT EXISTS sales (\n    sale BIGINT NOT NULL AUTO_INCREMENT")
        );
        assert!(mysql.contains(
            "    PRIMARY KEY (sale),\n    INDEX sales_by_owner (owner, sale),\n    INDEX sales_all (owner)\n) ENGINE"
        ));
        assert!(mysql.contains("CREATE OR REPLACE VIEW times") && !mysql.contains("sales_open"));
        assert!(sqlite.contains("\nDROP VIEW times;\nCREATE VIEW times AS SELECT 1"), "{sqlite}");
        assert!(postgres.contains("NOT VALID;\nCREATE OR REPLACE VIEW times AS SELECT 1"), "{postgres}");
        assert!(!mysql.contains("ALTER") && !mysql.contains("DROP") && !sqlite.contains("ALTER"));
    }

    #[test]
    fn an_index_of_an_earlier_table_stands_alone() {
        let [postgres, mysql] = [Dialect::Postgres, Dialect::MySql]
            .map(|dialect| dialect.schema("-- Days.\nCREATE INDEX sales_by_day ON sales (day);\n"));
        assert_eq!(postgres, "-- Days.\nCREATE INDEX sales_by_day ON sales (day);\n");
        assert_eq!(mysql, "CREATE INDEX /*M! IF NOT EXISTS */ sales_by_day ON sales (day);\n");
    }

    #[test]
    fn what_is_no_word_stays_to_be_seen() {
        assert_eq!(Dialect::Sqlite.schema("a {intger} NOT NULL,"), "a {intger} NOT NULL,");
    }
}
