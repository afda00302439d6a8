use super::*;

fn bulk(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

fn shown(command: &str, value: &Value) -> String {
    let words: Vec<_> = command.split(' ').collect();
    answer(&words, value, Paint::PLAIN)
}

#[test]
fn values_stand_under_their_names() {
    let applied = Value::Array(vec![Value::Int(1), Value::Int(7), Value::Int(3)]);
    assert_eq!(shown("stock.take sku 1 u", &applied), "applied\n  first_serial  7\n  remaining     3\n");
    let map = Value::Array(vec![bulk("account"), bulk("a"), bulk("balance"), Value::Int(5)]);
    assert_eq!(shown("ACCOUNT.GET a", &map), "  account  a\n  balance  5\n");
    let depth = Value::Array(vec![
        Value::Array(vec![]),
        Value::Array(vec![Value::Array(vec![Value::Int(100), Value::Int(2), Value::Int(1)])]),
        Value::Int(9),
    ]);
    assert_eq!(
        shown("MARKET.DEPTH m", &depth),
        "  bids      (none)\n  asks\n    price  quantity  orders\n    100    2         1\n  sequence  9\n"
    );
}

#[test]
fn a_refusal_names_its_facts_and_has_advice() {
    let refused = Value::Array(vec![Value::Int(0), bulk("SOLD_OUT"), Value::Int(0), Value::Int(1)]);
    assert_eq!(shown("STOCK.TAKE sku 1 u", &refused), "refused  SOLD_OUT\n  available  0\n  requested  1\n");
    assert_eq!(
        shown("STOCK.GET sku", &refused),
        shown("STOCK.TAKE sku 1 u", &refused),
        "reads are refused alike"
    );
    assert!(advice(&refused, Language::English).is_some_and(|text| text.contains(Code::SoldOut.advice().en)));
    assert!(advice(&refused, Language::Chinese).is_some_and(|text| text.contains(Code::SoldOut.advice().zh)));
    assert_eq!(advice(&Value::Array(vec![Value::Int(1)]), Language::English), None);
}

#[test]
fn times_are_told_by_the_calendar() {
    let held = Value::Array(vec![Value::Int(1), Value::Int(1_795_170_263_973), Value::Int(0)]);
    assert_eq!(
        shown("STOCK.RESERVE s r 1 u 60000", &held),
        "applied\n  deadline   1795170263973 (2026-11-20T10:24:23.973Z)\n  remaining  0\n"
    );
}

#[test]
fn nothing_of_a_callers_text_reaches_the_terminal_as_a_command() {
    let map = Value::Array(vec![bulk("reason"), bulk("\u{1b}[2J")]);
    assert!(!shown("STOCK.GET s", &map).contains('\u{1b}'));
    assert!(!shown("ECHO x", &bulk("\u{1b}[2J")).contains('\u{1b}'));
}

#[test]
fn lines_of_a_batch_are_numbered_as_refusals_count_them() {
    let lines = [vec!["BATCH.ID", "b"], vec!["STOCK.CLOSE", "s"], vec!["STOCK.TAKE", "s", "1", "u"]];
    let refused =
        |code: &str, facts: Vec<Value>| Value::Array([vec![Value::Int(0), bulk(code)], facts].concat());
    let values = [
        Value::Okay,
        refused("BATCH_REFUSED", vec![Value::Int(1), bulk("SOLD_OUT")]),
        refused("SOLD_OUT", vec![Value::Int(0), Value::Int(1)]),
    ];
    assert_eq!(
        batch(&lines, &values, Paint::PLAIN),
        "-  BATCH.ID b\n   OK\n\
         0) STOCK.CLOSE s\n   refused  BATCH_REFUSED\n     index  1\n     code   SOLD_OUT\n\
         1) STOCK.TAKE s 1 u\n   refused  SOLD_OUT\n     available  0\n     requested  1\n"
    );
}

#[test]
fn events_take_a_line_each() {
    let fields = Value::Array(vec![bulk("sku"), bulk("s"), bulk("quantity"), Value::Int(5)]);
    let event = Value::Array(vec![
        Value::Int(0),
        Value::Int(2),
        Value::Int(9),
        Value::Int(0),
        Value::Nil,
        bulk("stock.created"),
        fields,
    ]);
    assert_eq!(
        shown("EVENTS 0 0 0", &Value::Array(vec![event])),
        "0:2:9  0 (1970-01-01T00:00:00Z)  stock.created  sku=s quantity=5\n"
    );
}
