//! What the environment says of a bucket: checked before the client sees it, which takes it for right.

use std::error::Error;

use hyper::Uri;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

/// A mistake in the environment. Values are not repeated where they may be secret.
type Mistake = Box<dyn Error + Send + Sync>;

/// The variables of this process whose names are those of settings.
pub(super) fn of_process() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// A client for a bucket as these variables say. Space around a value, and one that is empty, say nothing.
pub(super) fn builder_of(
    variables: impl Iterator<Item = (String, String)>,
) -> Result<AmazonS3Builder, Mistake> {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in variables.filter(|(name, _)| name.starts_with("AWS_")) {
        let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() else { continue };
        let value = value.trim();
        if !value.is_empty() {
            check(&name, value)?;
            builder = builder.with_config(key, value);
        }
    }
    Ok(builder)
}

fn check(name: &str, value: &str) -> Result<(), Mistake> {
    let is_good = |letter: char| {
        if name.ends_with("_FILE") { !letter.is_control() } else { letter.is_ascii_graphic() }
    };
    let mistake = if name.contains("ENDPOINT") || name.ends_with("_FULL_URI") {
        (!is_url(value)).then(|| format!("is '{value}', which is no address with http:// or https://"))
    } else if name.ends_with("_RELATIVE_URI") {
        (!value.starts_with('/')).then(|| format!("is '{value}', which does not begin with /"))
    } else {
        let text = "contains a space, a line break, or another letter that it cannot have";
        (!value.chars().all(is_good)).then(|| text.to_owned())
    };
    mistake.map_or(Ok(()), |mistake| Err(format!("{name} {mistake}").into()))
}

fn is_url(value: &str) -> bool {
    let Ok(uri) = value.parse::<Uri>() else { return false };
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
}

/// Whether a bucket can have this name, here or in another store than Amazon's.
pub(super) fn is_bucket(name: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_letter)
}
