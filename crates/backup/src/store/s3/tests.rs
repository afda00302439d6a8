//! What is refused before any request is made.

use super::*;

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
