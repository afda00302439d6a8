//! Settings of the pipeline: databases, brokers, the target of settlements.

use std::fmt;

use scarce_delivery::AccountTemplate;

use super::table::{ServerSettings, Spec};
use super::value::{Kind, Password, Setting};

/// Shown in place of a password within an address.
const MASK: &str = "…";

/// An address without its password.
#[must_use]
pub fn masked(address: &str) -> String {
    let parts = || {
        let (scheme, rest) = address.split_once("://")?;
        let (login, place) = rest.rsplit_once('@')?;
        let (user, _) = login.split_once(':')?;
        Some(format!("{scheme}://{user}:{MASK}@{place}"))
    };
    parts().unwrap_or_else(|| address.to_owned())
}

/// The address of a database. It is displayed without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct SqlUrl(String);

impl SqlUrl {
    /// The full address; a password stored separately is inserted.
    #[must_use]
    pub fn reveal(&self, password: Option<&str>) -> String {
        let parts = || {
            let (scheme, rest) = self.0.split_once("://")?;
            let (login, place) = rest.rsplit_once('@')?;
            let user = login.split_once(':').map_or(login, |(user, _)| user);
            Some(format!("{scheme}://{user}:{}@{place}", encoded(password?)))
        };
        parts().unwrap_or_else(|| self.0.clone())
    }
}

/// Percent-encodes a text for use in an address.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let shown = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(shown).collect()
}

impl fmt::Debug for SqlUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&masked(&self.0))
    }
}

impl Setting for Option<SqlUrl> {
    const KIND: Kind = Kind::Url;

    fn shape(_spec: &Spec) -> String {
        "sqlite://FILE, postgres://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE"
            .to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let is_known = ["sqlite", "postgres", "postgresql", "mysql", "mariadb"].contains(&scheme);
        (is_known && !rest.trim_start_matches('/').is_empty()).then(|| Some(SqlUrl(text.to_owned())))
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

impl ServerSettings {
    /// The address of the projection's database, with its password.
    #[must_use]
    pub fn sql_url(&self) -> Option<String> {
        let password = self.sql_password.as_ref().map(Password::reveal);
        self.sql.as_ref().map(|url| url.reveal(password))
    }
}

/// Settings of librdkafka by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(pub Vec<(String, String)>);

impl Setting for Properties {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "NAME=VALUE, several with commas between them; a password belongs into kafka_password".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let is_secret = name.contains("password");
            (!name.is_empty() && !is_secret).then(|| (name.trim().to_owned(), value.trim().to_owned()))
        });
        pairs.collect::<Option<Vec<_>>>().filter(|pairs| !pairs.is_empty()).map(Self)
    }

    fn unset() -> Option<Self> {
        Some(Self::default())
    }
}

/// The target of credits for claimed red packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettlementChoice {
    /// Nowhere.
    Off,
    /// Accounts of the engine.
    Engine,
    /// An external balance system at this address.
    Outside(String),
}

impl Setting for SettlementChoice {
    const KIND: Kind = Kind::Url;

    fn shape(_spec: &Spec) -> String {
        "off, engine, or the address of a balance system that begins with http:// or https://".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "engine" => Some(Self::Engine),
            url if ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) => {
                Some(Self::Outside(url.to_owned()))
            }
            _ => None,
        }
    }
}

impl Setting for AccountTemplate {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "a template of accounts such as {user} or {{{user}}}:{asset}, with {user} in it".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        Self::parse(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        for (address, shown) in [
            ("postgres://shop:s3:c@ret@db/scarce", "postgres://shop:…@db/scarce"),
            ("postgres://shop@db/scarce", "postgres://shop@db/scarce"),
            ("sqlite://scarce.db", "sqlite://scarce.db"),
        ] {
            assert_eq!(masked(address), shown);
        }
    }

    #[test]
    fn a_password_from_elsewhere_goes_where_it_belongs() {
        for (address, whole) in [
            ("postgres://shop@db/scarce", "postgres://shop:a%40b%3A%20c@db/scarce"),
            ("postgres://shop:old@db/scarce", "postgres://shop:a%40b%3A%20c@db/scarce"),
            ("sqlite://scarce.db", "sqlite://scarce.db"),
        ] {
            assert_eq!(SqlUrl(address.to_owned()).reveal(Some("a@b: c")), whole);
            assert_eq!(SqlUrl(address.to_owned()).reveal(None), address);
        }
    }
}
