//! Requests to a server that answers with what a test tells it, as gateways and proxies do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use super::*;

/// Answers each request with what is told for its number, and closes the connection then.
fn serve(answer: impl Fn(usize, &str) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let _ = answer_one(&stream, |head| answer(number, head));
        }
    });
    address
}

fn answer_one(mut stream: &TcpStream, answer: impl Fn(&str) -> Vec<u8>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line)? > 2 {
        head.push_str(&line);
        line.clear();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    reader.read_exact(&mut vec![0; length])?;
    stream.write_all(&answer(&head))
}

fn bucket(address: SocketAddr) -> Bucket {
    let settings = [
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", "id".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
    ];
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
    Bucket::open_with("s3://shop/x", settings).unwrap()
}

fn head(status: &str, length: usize, more: &str) -> Vec<u8> {
    let tags = "etag: \"a\"\r\nlast-modified: Mon, 23 Nov 2026 00:00:00 GMT\r\nconnection: close";
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{tags}\r\n{more}\r\n").into_bytes()
}

#[test]
fn an_object_is_read_on_where_it_was_interrupted_however_often() {
    const BYTES: usize = 20;
    let address = serve(|_, request| {
        let from = request.lines().find_map(|line| line.strip_prefix("range: bytes="));
        let from = from.map(|range| range.split('-').next().unwrap().parse::<usize>().unwrap());
        let range = from.map(|from| format!("content-range: bytes {from}-{}/{BYTES}\r\n", BYTES - 1));
        let status = if from.is_some() { "206 Partial Content" } else { "200 OK" };
        let from = from.unwrap_or(0);
        let mut answer = head(status, BYTES - from, range.as_deref().unwrap_or(""));
        // Two bytes each time, and the connection ends.
        answer.extend((from..BYTES).take(2).map(|at| b'a' + u8::try_from(at).unwrap()));
        answer
    });
    assert_eq!(bucket(address).get("data/1/x", 64).unwrap(), b"abcdefghijklmnopqrst");
}

#[test]
fn what_is_put_arrives_as_it_was() {
    let address = serve(|_, request| {
        assert!(!request.contains("chunked"), "{request}");
        head("200 OK", 0, "")
    });
    bucket(address).put("data/1/x", &vec![7; 3 * FRAME_BYTES + 1]).unwrap();
}

#[test]
fn what_the_environment_says_wrongly_is_named_and_never_repeated_where_it_is_secret() {
    let open = |url: &str, name: &str, value: &str| {
        let good = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        let variables = good.into_iter().chain([(name, value)]);
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Bucket::open_with(url, variables).map(drop).map_err(|error| match error {
            StoreError::Failed { source, .. } => source.to_string(),
            other => other.to_string(),
        })
    };
    let url = "s3://shop/x";
    for (name, value) in [
        ("AWS_ENDPOINT_URL", "minio:9000"),
        ("AWS_ENDPOINT_URL", "minio"),
        ("AWS_ENDPOINT_URL", "ftp://minio"),
        ("AWS_ENDPOINT_URL", "http://mi nio"),
        ("AWS_METADATA_ENDPOINT", "nope"),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "nope"),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "nope"),
        ("AWS_ACCESS_KEY_ID", "i\nd"),
        ("AWS_REGION", "eu\u{e4}"),
    ] {
        let refused = open(url, name, value).unwrap_err();
        assert!(refused.starts_with(name), "{name}={value}: {refused}");
    }
    let refused = open(url, "AWS_SECRET_ACCESS_KEY", "hush hush").unwrap_err();
    assert!(refused.contains("AWS_SECRET_ACCESS_KEY") && !refused.contains("hush"), "{refused}");
    for (name, value) in [
        ("AWS_ENDPOINT_URL", " http://127.0.0.1:1/\n"),
        ("AWS_ENDPOINT_URL", ""),
        ("AWS_REGION", "eu-central-1\n"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/a b"),
    ] {
        open(url, name, value).unwrap();
    }
    for url in ["s3://sh op/x", "s3://shop?x/y", "s3://", "s3://sh\u{e4}p"] {
        assert!(open(url, "AWS_REGION", "eu").unwrap_err().contains("names no store"), "{url}");
    }
}

#[test]
fn a_page_that_is_no_listing_is_no_empty_store() {
    let answer = |body: &str| {
        let mut answer = head("200 OK", body.len(), "");
        answer.extend_from_slice(body.as_bytes());
        answer
    };
    let address = serve(move |_, _| answer("<!DOCTYPE html>\n<html><body>hello</body></html>"));
    let refused = bucket(address).list("data/").unwrap_err();
    assert!(says(&refused, "no store of S3"), "{refused:?}");
    let empty = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Name>shop</Name></ListBucketResult>";
    let address = serve(move |_, _| answer(empty));
    assert_eq!(bucket(address).list("data/").unwrap(), []);
}

#[test]
fn a_bucket_that_is_not_there_is_named_by_every_request() {
    let body = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code></Error>";
    let address =
        serve(move |_, _| [head("404 Not Found", body.len(), ""), body.as_bytes().to_vec()].concat());
    let bucket = bucket(address);
    let refused = [
        bucket.list("data/").unwrap_err(),
        bucket.get("x", 1).unwrap_err(),
        bucket.put("x", b"x").unwrap_err(),
        bucket.remove("x").unwrap_err(),
    ];
    for error in refused {
        assert!(says(&error, "there is no such bucket"), "{error:?}");
    }
}
