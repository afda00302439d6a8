//! Whether the certificate of the ports can be used, and for how long.

use jiff::Timestamp;
use scarce_gateway::{Tls, Validity};
use scarce_server::serve::tls_files;
use scarce_settings::ServerSettings;
use serde_json::json;

use super::finding::Finding;

const NAME: &str = "certificate";

/// `None` if the ports speak no TLS.
pub(super) fn examine(settings: &ServerSettings) -> Option<Finding> {
    let advice = "see tls_cert, tls_key and tls_client_ca in the reference of TLS";
    let tls = match tls_files(settings) {
        Ok(None) => return None,
        Ok(Some(files)) => Tls::read(files).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    Some(match tls {
        Ok(tls) => judge(&tls, Timestamp::now()),
        Err(found) => Finding::fail(NAME, found, advice),
    })
}

fn judge(tls: &Tls, now: Timestamp) -> Finding {
    let Some(facts) = tls.facts() else { return Finding::ok(NAME, "it can be used") };
    let hosts = if facts.hosts.is_empty() { "no host".to_owned() } else { facts.hosts.join(", ") };
    let found = format!("for {hosts}, from {} until {}", facts.not_before, facts.not_after);
    let finding = match facts.validity(now) {
        Validity::Valid if facts.hosts.is_empty() => Finding::warn(
            NAME,
            found,
            "name the hosts in its subject alternative names: callers compare them",
        ),
        Validity::Valid => match tls.doubt() {
            None => Finding::ok(NAME, found),
            Some(doubt) => {
                Finding::warn(NAME, doubt, "name in tls_client_ca the authority that certifies callers")
            }
        },
        Validity::Ending => Finding::warn(NAME, found, "renew it: callers refuse it once it has expired"),
        Validity::Early => Finding::fail(NAME, found, "callers refuse it until then; look at the clock"),
        Validity::Expired => Finding::fail(NAME, found, "renew it: callers refuse it"),
    };
    finding.with(json!({ "hosts": facts.hosts, "not_before": facts.not_before.to_string(), "not_after": facts.not_after.to_string() }))
}
