//! Files of `scarce import`.

use std::sync::LazyLock;

use clap::Parser as _;
use scarce::{Arguments, Import, Subcommand, count_operations};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "import",
    about: "files of `scarce import`: NDJSON, operations as CSV, balances and stock",
    examples,
    check,
    weight: 50,
};

fn examples() -> Vec<Vec<u8>> {
    let texts = [
        "{\"id\":\"a\",\"command\":[\"STOCK.TAKE\",\"s\",\"1\",\"o\"],\"deadline\":5,\"durability\":\"synced\"}\n\
         {\"id\":\"b\",\"atomic\":[[\"ACCOUNT.DEBIT\",\"u\",\"5\"],[\"STOCK.TAKE\",\"s\",\"1\",\"u\"]]}\n",
        "id,command,account,asset,amount\na,ACCOUNT.OPEN,u,EUR,\nb,ACCOUNT.CREDIT,u,,12.50\n",
        "account,asset,amount\nu1,EUR,\"1,000.25\"\n\"u\"\"2\",EUR,0\n",
        "sku,quantity\ns1,5\ns2,9007199254740991\n",
        "\u{feff}sku;quantity\r\ns1;5\r\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Each way to read a file, as on the command line.
static IMPORTS: LazyLock<Vec<Import>> = LazyLock::new(|| {
    let lines = [
        "import a.ndjson",
        "import a.csv --asset EUR --scale EUR=2",
        "import balances a.csv --scale EUR=2",
        "import stock a.csv --run r",
    ];
    lines.iter().map(|line| import_of(line)).collect()
});

fn import_of(line: &str) -> Import {
    let words = std::iter::once("scarce").chain(line.split(' '));
    match Arguments::try_parse_from(words).map(|arguments| arguments.subcommand) {
        Ok(Subcommand::Import(import)) => *import,
        Ok(_) => panic!("{line} is another subcommand"),
        Err(error) => panic!("{error}"),
    }
}

fn check(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    for import in IMPORTS.iter() {
        let (good, bad) = count_operations(import, bytes);
        assert!(good + bad <= lines, "a line is one operation at most");
    }
}
