//! Addresses of databases.

/// `scheme://user@127.0.0.1:port/database`, with the password after the user if there is one.
pub(crate) fn database(
    scheme: &str,
    user: &str,
    password: Option<&str>,
    port: u16,
    database: &str,
) -> String {
    let password = password.map(|password| format!(":{}", escaped(password))).unwrap_or_default();
    format!("{scheme}://{user}{password}@127.0.0.1:{port}/{}", escaped(database))
}

/// Percent-encodes a text for a part of an address.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escape =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_part_of_the_address_is_escaped() {
        assert_eq!(
            database("mysql", "u", Some("a/b@ü"), 1, "d?"),
            "mysql://u:a%2Fb%40%C3%BC@127.0.0.1:1/d%3F"
        );
        assert_eq!(database("postgres", "u", None, 1, "d-1"), "postgres://u@127.0.0.1:1/d-1");
    }
}
