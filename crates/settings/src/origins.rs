//! Origins of web pages that may call the HTTP port from a browser.

use super::table::Spec;
use super::value::{Kind, Setting};

/// Origins as browsers write them: scheme, host, and the port unless it is the scheme's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(pub Vec<String>);

impl Setting for Origins {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "origins such as https://shop.example or http://localhost:3000, several with commas between them"
            .to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        let origins = text.split(',').map(str::trim).filter(|origin| !origin.is_empty()).map(origin);
        origins.collect::<Option<Vec<_>>>().filter(|origins| !origins.is_empty()).map(Self)
    }

    fn unset() -> Option<Self> {
        Some(Self::default())
    }
}

/// An origin as a browser would send it.
fn origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, authority) = text.split_once("://")?;
    let own_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let authority = authority.strip_suffix(own_port).unwrap_or(authority);
    let parsed = authority.parse::<http::uri::Authority>().ok()?;
    let is_plain = parsed.as_str() == authority && !authority.contains('@') && !parsed.host().is_empty();
    (is_plain && !authority.contains('*')).then(|| format!("{scheme}://{authority}"))
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn an_origin_is_kept_as_browsers_send_it() {
        for (given, kept) in [
            ("https://shop.example", "https://shop.example"),
            ("HTTPS://Shop.Example:443", "https://shop.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(origin(given).as_deref(), Some(kept));
        }
        for other in [
            "*",
            "null",
            "shop.example",
            "https://",
            "https://*.shop.example",
            "https://shop.example/",
            "file://x",
            "https://a@b",
        ] {
            assert_eq!(origin(other), None, "{other}");
        }
    }
}
