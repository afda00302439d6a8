//! Examples of requests, as words of the command table. A test sends them to a server, one after the other.

use scarce_core::command::{CommandSpec, table};
use serde_json::{Map, Value, json};

use crate::arguments::of_words;

/// The examples, in an order in which each is applied on an empty server.
pub const EXAMPLES: &[&str] = &[
    "ACCOUNT.OPEN alice coins",
    "ACCOUNT.OPEN bob coins",
    "ACCOUNT.CREDIT alice 1000 ID credit-1",
    "OPERATION.GET credit-1 ON alice",
    "OPERATION.RESOLVE credit-2 ON alice",
    "ACCOUNT.DEBIT alice 100",
    "ACCOUNT.TRANSFER alice bob 50",
    "ACCOUNT.HOLD alice hold-1 200 TTL 600000",
    "ACCOUNT.HOLD alice hold-2 10",
    "ACCOUNT.HOLDS alice",
    "ACCOUNT.EXTEND alice hold-1 1200000",
    "ACCOUNT.CAPTURE alice hold-1 AMOUNT 150 TO bob",
    "ACCOUNT.VOID alice hold-2",
    "ACCOUNT.FREEZE alice",
    "ACCOUNT.UNFREEZE alice",
    "ACCOUNT.OVERDRAFT alice 500",
    "ACCOUNT.GET alice",
    "ACCOUNT.LIST PREFIX a",
    "ACCOUNT.WORLD coins ON alice",
    "ACCOUNT.OPEN carol coins",
    "ACCOUNT.CLOSE carol",
    "STOCK.CREATE sku-1 100 PEROWNER 5",
    "STOCK.RESTOCK sku-1 50",
    "STOCK.ADJUST sku-1 -2 REASON damaged",
    "STOCK.TAKE sku-1 2 alice",
    "STOCK.RETURN sku-1 1 1",
    "STOCK.RESERVE sku-1 basket-1 1 bob 600000",
    "STOCK.RESERVE sku-1 basket-2 1 bob 600000",
    "STOCK.RESERVATION sku-1 basket-1",
    "STOCK.EXTEND sku-1 basket-1 1200000",
    "STOCK.CONFIRM sku-1 basket-1",
    "STOCK.RELEASE sku-1 basket-2",
    "STOCK.AUDIT sku-1",
    "STOCK.GET sku-1",
    "STOCK.LIST PREFIX sku-",
    "STOCK.CREATE sku-2 10",
    "STOCK.CLOSE sku-2",
    "PACKET.CREATE party coins PLAN 10000 100 DOUBLE_MEAN MIN 10",
    "PACKET.CLAIM party alice",
    "PACKET.CLAIMED party alice",
    "PACKET.CLAIMS party",
    "PACKET.GET party",
    "PACKET.LIST PREFIX p",
    "PACKET.CLOSE party",
    "COUPON.CREATE summer LIMIT all 1000 PER - WINDOW none LIMIT daily 1 PER user WINDOW day OFFSET 480",
    "COUPON.CHECK summer USER alice",
    "COUPON.CLAIM summer USER alice",
    "COUPON.CLAIM summer USER bob",
    "COUPON.CLAIMED summer 1",
    "COUPON.REDEEM summer 1 alice",
    "COUPON.REVOKE summer 2 GIVEBACK",
    "COUPON.PAUSE summer",
    "COUPON.RESUME summer",
    "COUPON.UPDATE summer LIMIT all 2000",
    "COUPON.GET summer",
    "COUPON.LIST PREFIX s",
    "MARKET.CREATE gold-coins TICK 5 LOT 1",
    "ORDER.PLACE gold-coins order-1 alice SELL LIMIT 105 10",
    "ORDER.PLACE gold-coins order-2 bob BUY LIMIT 105 4 TIF IOC",
    "ORDER.GET gold-coins order-1",
    "ORDER.LIST gold-coins OWNER alice",
    "ORDER.REDUCE gold-coins order-1 alice 1",
    "ORDER.REPLACE gold-coins order-1 alice 100 3",
    "MARKET.DEPTH gold-coins LEVELS 10",
    "MARKET.TRADES gold-coins COUNT 10",
    "MARKET.TICKER gold-coins",
    "MARKET.GET gold-coins",
    "MARKET.LIST PREFIX g",
    "ORDER.CANCEL gold-coins order-1 alice",
    "ORDER.CANCELALL gold-coins alice",
    "MARKET.HALT gold-coins",
    "MARKET.RESUME gold-coins",
    "DIGEST",
];

/// An example of a command's request.
pub struct Example {
    /// Its words in one line, by which it is named.
    pub line: &'static str,
    /// The arguments by their names in JSON.
    pub fields: Map<String, Value>,
    /// The operation id that it is sent under, if others rest on it.
    pub id: Option<String>,
}

impl Example {
    fn read(line: &'static str) -> Option<(&'static CommandSpec, Self)> {
        let (name, words) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = words.split_whitespace().collect();
        let spec = table::find(name.as_bytes())?;
        let asked = of_words(spec, &words)?;
        Some((spec, Self { line, fields: asked.fields, id: asked.id }))
    }
}

/// The examples of a command.
pub fn of(spec: &CommandSpec) -> Vec<Example> {
    let all = EXAMPLES.iter().filter_map(|line| Example::read(line));
    all.filter(|(its, _)| its.number == spec.number).map(|(_, example)| example).collect()
}

/// Values by the names of their examples, as a description has them; `None` if no example has one.
pub fn described(examples: &[Example], value: impl Fn(&Example) -> Option<Value>) -> Option<Value> {
    let values =
        examples.iter().filter_map(|its| Some((its.line.to_owned(), json!({ "value": value(its)? }))));
    let values: Map<String, Value> = values.collect();
    (!values.is_empty()).then(|| values.into())
}

#[cfg(test)]
mod tests {
    use scarce_core::command::COMMANDS;

    use super::*;

    #[test]
    fn every_command_has_an_example_and_every_example_can_be_read() {
        for line in EXAMPLES {
            let (spec, example) = Example::read(line).unwrap_or_else(|| panic!("{line}"));
            assert!(!example.fields.is_empty() || spec.name == "DIGEST", "{line}");
        }
        for spec in COMMANDS {
            assert!(!of(spec).is_empty(), "{} has no example", spec.name);
        }
    }
}
