//! What a caller takes: answers compressed, and none that it has already.

use axum::http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName};

/// Whether the caller takes gzip (RFC 9110, section 12.5.3).
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    members(headers, &ACCEPT_ENCODING).any(|member| {
        let mut parts = member.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|coding| coding == "*" || coding.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_gzip && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
    })
}

/// Whether the caller has the content with this tag, by the weak comparison of RFC 9110, section 8.8.3.2.
pub(super) fn has_already(headers: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim_start_matches("W/").to_owned();
    members(headers, &IF_NONE_MATCH).any(|known| known == "*" || opaque(known) == opaque(tag))
}

/// The members of a header that is a list.
fn members<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn gzip_is_taken_where_it_is_named_or_all_is_and_not_with_a_weight_of_zero() {
        for taking in ["gzip", "br, GZIP;q=0.5", "*", "deflate,gzip ; q=1"] {
            assert!(takes_gzip(&headers(&ACCEPT_ENCODING, &[taking])), "{taking}");
        }
        for refusing in ["", "identity", "br", "gzip;q=0", "*;q=0.0", "gzip;q=much"] {
            assert!(!takes_gzip(&headers(&ACCEPT_ENCODING, &[refusing])), "{refusing}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
        assert!(takes_gzip(&headers(&ACCEPT_ENCODING, &["br", "gzip"])));
    }

    #[test]
    fn a_tag_is_known_weak_or_strong_and_in_a_list() {
        let tag = "W/\"1f\"";
        for known in ["\"1f\"", "W/\"1f\"", "\"0\", W/\"1f\"", "*"] {
            assert!(has_already(&headers(&IF_NONE_MATCH, &[known]), tag), "{known}");
        }
        for other in ["\"1e\"", "1f", ""] {
            assert!(!has_already(&headers(&IF_NONE_MATCH, &[other]), tag), "{other}");
        }
    }
}
