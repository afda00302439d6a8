use super::*;
use scarce_core::command::table;
use serde_json::json;

fn read(name: &str, body: &Value) -> Result<Command, Misshapen> {
    let spec = table::find(name.as_bytes()).expect("a command");
    let mut fields = Fields::default();
    fields.add_object(body.as_object().expect("an object"));
    command(spec, &fields)
}

fn words(line: &str) -> Command {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    Command::parse(table::find(words[0]).expect("a command"), &words[1..]).expect("a command").0
}

#[test]
fn json_and_words_mean_the_same() {
    let cases = [
        ("ACCOUNT.OPEN a EUR OVERDRAFT 5", json!({ "account": "a", "asset": "EUR", "overdraft": 5 })),
        ("ACCOUNT.OPEN a EUR", json!({ "account": "a", "asset": "EUR", "overdraft": null })),
        (
            "ACCOUNT.CAPTURE a h AMOUNT 3 TO b KEEPREST",
            json!({ "account": "a", "hold": "h", "amount": 3, "to": "b", "keep_rest": true }),
        ),
        ("ACCOUNT.CAPTURE a h", json!({ "account": "a", "hold": "h", "keep_rest": false })),
        ("STOCK.ADJUST s -2 REASON broken", json!({ "sku": "s", "delta": -2, "reason": "broken" })),
        (
            "PACKET.CREATE c EUR PLAN 100 5 LINE_CUT MIN 2 MAX 50 START 5",
            json!({
                "campaign": "c", "asset": "EUR", "starts_at": 5,
                "plan": { "total": 100, "count": 5, "method": "LINE_CUT", "min": 2, "max": 50 }
            }),
        ),
        ("PACKET.CREATE c EUR AMOUNTS 2 7 8", json!({ "campaign": "c", "asset": "EUR", "amounts": [7, 8] })),
        (
            "COUPON.CREATE c LIMIT all 9 PER - WINDOW none LIMIT d 1 PER user,device WINDOW day OFFSET 480 LIMIT f 2 PER user WINDOW 5000",
            json!({ "coupon": "c", "limits": [
                { "name": "all", "max": 9 },
                { "name": "d", "max": 1, "per": ["user", "device"], "window": "DAY", "offset_minutes": 480 },
                { "name": "f", "max": 2, "per": ["user"], "window_ms": 5000 },
            ]}),
        ),
        ("COUPON.UPDATE c LIMIT all 10", json!({ "coupon": "c", "limits": [{ "name": "all", "max": 10 }] })),
        (
            "COUPON.CLAIM c USER u device d1",
            json!({ "coupon": "c", "subject": { "device": "d1", "user": "u" } }),
        ),
        (
            "ORDER.PLACE m o w BUY LIMIT 5 2 TIF IOC STP CANCEL_BOTH",
            json!({
                "market": "m", "order": "o", "owner": "w", "side": "BUY", "type": "LIMIT", "price": 5,
                "quantity": 2, "tif": "IOC", "stp": "CANCEL_BOTH"
            }),
        ),
        (
            "ORDER.PLACE m o w SELL MARKET 2",
            json!({ "market": "m", "order": "o", "owner": "w", "side": "SELL", "type": "MARKET", "quantity": 2 }),
        ),
        ("OPERATION.RESOLVE op ON a", json!({ "operation": "op", "on": "a" })),
        ("DIGEST", json!({})),
        ("DIGEST a", json!({ "resource": "a" })),
    ];
    for (line, body) in cases {
        assert_eq!(read(line.split(' ').next().expect("a name"), &body), Ok(words(line)), "{line}");
    }
}

#[test]
fn what_is_misshapen_is_named() {
    let cases = [
        ("ACCOUNT.DEBIT", json!({ "account": "a" }), "amount"),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 1.5 }), "amount"),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 1e3 }), "amount"),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": "5" }), "amount"),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 0 }), "amount"),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 9_007_199_254_740_992_u64 }), "amount"),
        ("ACCOUNT.DEBIT", json!({ "account": 5, "amount": 5 }), "account"),
        ("ACCOUNT.DEBIT", json!({ "account": "a b", "amount": 5 }), "account"),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 5, "amout": 6 }), "amout"),
        ("ACCOUNT.CAPTURE", json!({ "account": "a", "hold": "h", "keep_rest": 1 }), "keep_rest"),
        ("PACKET.CREATE", json!({ "campaign": "c", "asset": "E", "amounts": [] }), "amounts"),
        ("PACKET.CREATE", json!({ "campaign": "c", "asset": "E" }), "plan"),
        ("PACKET.CREATE", json!({ "campaign": "c", "asset": "E", "amounts": [1], "min": 1 }), "min"),
        (
            "PACKET.CREATE",
            json!({ "campaign": "c", "asset": "E", "plan": { "total": 5, "count": 2, "method": "even" } }),
            "plan.method",
        ),
        ("COUPON.CLAIM", json!({ "coupon": "c", "subject": { "device": "d" } }), "subject.user"),
        ("COUPON.CLAIM", json!({ "coupon": "c", "subject": { "user": "u", "id": "x" } }), "subject.id"),
        (
            "COUPON.CLAIM",
            json!({ "coupon": "c", "subject": { "user": "u", "deadline": "5" } }),
            "subject.deadline",
        ),
        (
            "COUPON.CLAIM",
            json!({ "coupon": "c", "subject": { "user": "u", "durability": "synced" } }),
            "subject.durability",
        ),
        (
            "COUPON.CREATE",
            json!({ "coupon": "c", "limits": [{ "name": "a", "max": 1, "per": ["-"] }] }),
            "limits[0].-",
        ),
        (
            "COUPON.CREATE",
            json!({ "coupon": "c", "limits": [{ "name": "a", "max": 1, "per": ["a,b"] }] }),
            "limits[0].a,b",
        ),
        ("COUPON.CREATE", json!({ "coupon": "c", "limits": [] }), "limits"),
        (
            "ORDER.PLACE",
            json!({ "market": "m", "order": "o", "owner": "w", "side": "BUY", "price": 5, "quantity": 2 }),
            "type",
        ),
        (
            "ORDER.PLACE",
            json!({ "market": "m", "order": "o", "owner": "w", "side": "buy", "type": "MARKET", "quantity": 2 }),
            "side",
        ),
    ];
    for (name, body, field) in cases {
        let misshapen = read(name, &body).expect_err("misshapen");
        assert_eq!(misshapen.field, field, "{name} {body}: {}", misshapen.reason);
    }
}

#[test]
fn a_field_in_two_places_is_refused() {
    let spec = table::find(b"ACCOUNT.DEBIT").expect("a command");
    let body = json!({ "account": "b", "amount": 5 });
    let mut fields = Fields::default();
    fields.add_text("account", "a");
    fields.add_object(body.as_object().expect("an object"));
    assert_eq!(command(spec, &fields).expect_err("twice").field, "account");
}

#[test]
fn texts_of_the_path_are_read_as_words_are() {
    let spec = table::find(b"STOCK.TAKE").expect("a command");
    let body = json!({ "quantity": 5, "owner": "u" });
    let mut fields = Fields::default();
    fields.add_text("sku", "s/1");
    fields.add_object(body.as_object().expect("an object"));
    assert_eq!(command(spec, &fields), Ok(words("STOCK.TAKE s/1 5 u")));
}

#[test]
fn words_give_their_common_options_apart() {
    let of = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        of_words(table::find(words[0].as_bytes()).expect("a command"), &words[1..])
    };
    let asked = of("COUPON.CLAIM c USER u durability SYNCED ID x DEADLINE 5").expect("words");
    assert_eq!(Value::from(asked.fields.clone()), json!({ "coupon": "c", "subject": { "user": "u" } }));
    assert_eq!(asked.durability.as_deref(), Some("synced"), "in small letters, as JSON has it");
    assert_eq!((asked.id.as_deref(), asked.deadline.as_deref()), (Some("x"), Some("5")));
    assert!(!of("STOCK.CLOSE s DURABILITY memory").expect("words").is_bare());
    assert!(of("STOCK.CLOSE s DURABILITY memory DURABILITY memory").is_none(), "no field is given twice");
    assert!(of("STOCK.GET s DURABILITY memory").is_none(), "a read has none");
}

#[test]
fn a_level_of_durability_is_spelled_in_small_letters() {
    assert_eq!(durability(b"synced", "durability"), Ok(Durability::Synced));
    for text in ["SYNCED", "Memory", "disk", ""] {
        let misshapen = durability(text.as_bytes(), "durability").expect_err(text);
        assert_eq!(misshapen.field, "durability", "{text}");
    }
}
