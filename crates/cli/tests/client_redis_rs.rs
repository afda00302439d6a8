//! redis-rs against the real binary.

mod support;

use redis::{Connection, ErrorKind, RedisResult, Value, cmd, pipe};
use support::Server;

fn connect(server: &Server, protocol: u8) -> Connection {
    let url = format!("redis://{}/?protocol=resp{protocol}", server.address);
    redis::Client::open(url).and_then(|client| client.get_connection()).expect("a connection")
}

fn call<T: redis::FromRedisValue>(connection: &mut Connection, line: &str) -> RedisResult<T> {
    let mut words = line.split(' ');
    let mut command = cmd(words.next().expect("a command"));
    words.for_each(|word| {
        command.arg(word);
    });
    command.query(connection)
}

fn text(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

#[test]
fn connects_and_answers_commands() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server, 2);
    assert_eq!(call::<String>(&mut connection, "PING").unwrap(), "PONG");
    assert_eq!(call::<Vec<i64>>(&mut connection, "STOCK.CREATE sku 1").unwrap(), [1, 1]);
    assert_eq!(call::<(i64, u64, u64)>(&mut connection, "STOCK.TAKE sku 1 u1").unwrap(), (1, 1, 0));
    let refused = call::<(i64, String, u64, u64)>(&mut connection, "STOCK.TAKE sku 1 u2").unwrap();
    assert_eq!(refused, (0, "SOLD_OUT".to_owned(), 0, 1));
}

#[test]
fn an_error_is_an_error_and_the_connection_stays_usable() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server, 2);
    let error = call::<Value>(&mut connection, "STOCK.TAKE sku 1.5 u1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server(redis::ServerErrorKind::ResponseError));
    assert!(error.to_string().contains("Usage: STOCK.TAKE sku quantity owner"), "{error}");
    assert_eq!(call::<String>(&mut connection, "PING").unwrap(), "PONG");
}

#[test]
fn a_pipeline_of_1000_is_answered_in_order() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server, 2);
    call::<Value>(&mut connection, "STOCK.CREATE sku 1000").unwrap();
    let mut pipeline = pipe();
    (0..1000).for_each(|_| {
        pipeline.cmd("STOCK.TAKE").arg(&["sku", "1", "u1"]);
    });
    let answers: Vec<(u64, u64, u64)> = pipeline.query(&mut connection).unwrap();
    assert_eq!(answers, (1..=1000).map(|serial| (1, serial, 1000 - serial)).collect::<Vec<_>>());
}

#[test]
fn a_transaction_is_applied_or_refused_whole() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server, 2);
    call::<Value>(&mut connection, "STOCK.CREATE sku 10").unwrap();
    let mut take = |quantities: &[&str]| -> Vec<Value> {
        let mut pipeline = pipe();
        pipeline.atomic();
        for quantity in quantities {
            pipeline.cmd("STOCK.TAKE").arg(&["sku", quantity, "u1"]);
        }
        pipeline.query(&mut connection).unwrap()
    };
    let array = |values: &[i64]| Value::Array(values.iter().copied().map(Value::Int).collect());
    assert_eq!(take(&["1", "2"]), [array(&[1, 1, 9]), array(&[1, 2, 7])]);
    let others =
        Value::Array(vec![Value::Int(0), text("BATCH_REFUSED"), Value::Int(1), text("INSUFFICIENT_STOCK")]);
    let culprit =
        Value::Array(vec![Value::Int(0), text("INSUFFICIENT_STOCK"), Value::Int(6), Value::Int(50)]);
    assert_eq!(take(&["1", "50", "1"]), [others.clone(), culprit, others]);
    assert_eq!(take(&["1"]), [array(&[1, 4, 6])]);
}

#[test]
fn the_same_id_gets_the_same_answer_also_after_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start(data.path(), &[]);
    let mut connection = connect(&server, 2);
    call::<Value>(&mut connection, "ACCOUNT.OPEN a USD").unwrap();
    let first: Vec<i64> = call(&mut connection, "ACCOUNT.CREDIT a 100 ID op-1").unwrap();
    call::<Value>(&mut connection, "ACCOUNT.CREDIT a 7").unwrap();
    server.kill();
    let server = Server::start(data.path(), &[]);
    let mut connection = connect(&server, 2);
    assert_eq!(call::<Vec<i64>>(&mut connection, "ACCOUNT.CREDIT a 100 ID op-1").unwrap(), first);
    let reused: Value = call(&mut connection, "ACCOUNT.CREDIT a 101 ID op-1").unwrap();
    assert_eq!(reused, Value::Array(vec![Value::Int(0), text("ID_REUSED"), text("op-1")]));
}

#[test]
fn reads_are_maps_in_resp3() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server, 3);
    call::<Value>(&mut connection, "STOCK.CREATE sku 3").unwrap();
    let Value::Map(pairs) = call(&mut connection, "STOCK.GET sku").unwrap() else { panic!("not a map") };
    assert!(pairs.contains(&(text("available"), Value::Int(3))), "{pairs:?}");
    assert!(pairs.contains(&(text("ends_at"), Value::Nil)), "{pairs:?}");
}

#[test]
fn events_are_read_page_by_page_without_gaps() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server, 3);
    call::<Value>(&mut connection, "STOCK.CREATE sku 30").unwrap();
    for _ in 0..30 {
        call::<Value>(&mut connection, "STOCK.TAKE sku 1 u1").unwrap();
    }
    let mut cursor = 0;
    loop {
        let line = format!("EVENTS 0 0 {cursor} COUNT 7");
        let Value::Array(events) = call(&mut connection, &line).unwrap() else { panic!("not an array") };
        if events.is_empty() {
            break;
        }
        for event in events {
            let Value::Array(fields) = event else { panic!("not an array") };
            cursor += 1;
            assert_eq!(fields[2], Value::Int(cursor));
        }
    }
    assert_eq!(cursor, 32, "created, thirty times taken, sold out");
}
