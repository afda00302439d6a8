//! The secrets of endpoints in their table.

use std::time::Duration;

use scarce_sql::{Cell, ColumnKind};

use super::TABLES;
use crate::page::Taken;
use crate::store::{millis, now_ms};
use crate::vault::{self, Owner};
use crate::{Delivery, DeliveryError, Secret, SecretReference};

/// An endpoint that gets deliveries.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) url: String,
    /// Its secrets, the newest first.
    pub(crate) secrets: Vec<Secret>,
    /// How many tries failed since the last success, if the tables say of any trouble.
    pub(crate) failures: Option<u64>,
}

/// The endpoints that get deliveries.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    pub(crate) sendable: Vec<Target>,
    /// Those whose secret cannot be read, and why.
    pub(crate) unsendable: Vec<(String, DeliveryError)>,
    /// Whether some secret is to be encrypted anew.
    pub(crate) is_stale: bool,
}

/// What became of secrets that were to be encrypted.
#[derive(Debug, Default)]
pub struct Encrypted {
    /// How many were encrypted.
    pub count: u64,
    /// The endpoints of those that could not be read, and why.
    pub unreadable: Vec<(String, DeliveryError)>,
}

const KINDS: [ColumnKind; 6] = [
    ColumnKind::Text,
    ColumnKind::Text,
    ColumnKind::Integer,
    ColumnKind::Text,
    ColumnKind::Text,
    ColumnKind::Integer,
];

impl Delivery {
    /// Signs deliveries to an endpoint with another secret, and for `overlap` with the old one, too. Without
    /// a secret one is generated. Returns the new secret, if the endpoint exists.
    ///
    /// # Errors
    /// When the database does not answer, or the system has no random bytes.
    pub async fn rotate_secret(
        &self,
        id: &str,
        secret: Option<Secret>,
        overlap: Duration,
    ) -> Result<Option<Secret>, DeliveryError> {
        let secret = secret.map_or_else(Secret::generate, Ok)?;
        let stored = self.stored_secret(id, &secret)?;
        Ok(self.write_secret(id, &stored, overlap).await?.then_some(secret))
    }

    /// The same with a secret that is kept elsewhere. Returns whether the endpoint exists.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rotate_secret_to(
        &self,
        id: &str,
        secret: &SecretReference,
        overlap: Duration,
    ) -> Result<bool, DeliveryError> {
        self.write_secret(id, secret.text(), overlap).await
    }

    async fn write_secret(&self, id: &str, stored: &str, overlap: Duration) -> Result<bool, DeliveryError> {
        // MySQL sets columns from left to right, the others all at once.
        let sql = "UPDATE delivery_endpoints SET secret_before = secret, secret_before_until_ms = ?, secret = ?, \
                   updated_at_ms = ? WHERE endpoint_id = ?";
        let now = now_ms();
        let until = now.saturating_add(millis(overlap));
        let values = [until.into(), stored.into(), now.into(), id.into()];
        Ok(self.store().execute(sql, &values).await? > 0)
    }

    /// Encrypts secrets that are stored as plain text or with an earlier key, of every endpoint. Does nothing without a key.
    ///
    /// # Errors
    /// When the database does not answer. A secret that cannot be read stays as it is.
    pub async fn encrypt_secrets(&self) -> Result<Encrypted, DeliveryError> {
        let sql = "SELECT endpoint_id, secret, secret_before FROM delivery_endpoints";
        let rows = self.store().fetch(sql, &[], &[ColumnKind::Text; 3]).await?;
        let mut done = Encrypted::default();
        for row in rows {
            let mut row = Taken::new(row);
            let (id, secret, before) = (row.text(), row.text(), row.optional_text());
            for (column, text) in [("secret", Some(secret)), ("secret_before", before)] {
                let Some(text) = text.filter(|text| vault::is_stale(self.keys(), text)) else { continue };
                let secret = match vault::read(self.keys(), self.owner(&id), &text) {
                    Ok(secret) => secret,
                    Err(error) => {
                        done.unreadable.push((id.clone(), error));
                        continue;
                    }
                };
                let stored = self.stored_secret(&id, &secret)?;
                // Unless it was rotated in between.
                let sql = format!(
                    "UPDATE delivery_endpoints SET {column} = ? WHERE endpoint_id = ? AND {column} = ?"
                );
                let values: [Cell; 3] = [stored.into(), id.as_str().into(), text.into()];
                done.count += self.store().execute(&sql, &values).await?;
            }
        }
        Ok(done)
    }

    pub(super) fn stored_secret(&self, id: &str, secret: &Secret) -> Result<String, DeliveryError> {
        vault::stored(self.keys(), self.owner(id), secret)
    }

    /// The endpoints that get deliveries.
    pub(crate) async fn targets(&self) -> Result<Targets, DeliveryError> {
        let sql = format!(
            "SELECT e.endpoint_id, e.url, f.failures, e.secret, e.secret_before, e.secret_before_until_ms \
             FROM {TABLES} WHERE e.state = 'active' AND f.suspended_at_ms IS NULL ORDER BY e.endpoint_id"
        );
        let mut targets = Targets::default();
        for row in self.store().fetch(&sql, &[], &KINDS).await? {
            let mut row = Taken::new(row);
            let id = row.text();
            match self.target(&id, row, &mut targets.is_stale) {
                Ok(target) => targets.sendable.push(target),
                Err(error) => targets.unsendable.push((id, error)),
            }
        }
        Ok(targets)
    }

    fn target(&self, id: &str, mut row: Taken, is_stale: &mut bool) -> Result<Target, DeliveryError> {
        let (url, failures, secret, before) = (row.text(), row.time(), row.text(), row.optional_text());
        let is_valid = row.optional().is_some_and(|until| until > now_ms());
        let mut secrets = Vec::with_capacity(2);
        for text in [Some(secret), before.filter(|_| is_valid)].into_iter().flatten() {
            secrets.push(vault::read(self.keys(), self.owner(id), &text)?);
            *is_stale |= vault::is_stale(self.keys(), &text);
        }
        Ok(Target { id: id.to_owned(), url, secrets, failures })
    }

    fn keys(&self) -> Option<&crate::SecretKeys> {
        self.options().secret_keys.as_ref()
    }

    fn owner<'o>(&'o self, endpoint_id: &'o str) -> Owner<'o> {
        Owner { deployment_id: self.store().deployment_id(), endpoint_id }
    }
}
