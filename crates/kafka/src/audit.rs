//! The audit log to a topic: a message for each record, in order, each at least once.

use std::sync::Arc;

use scarce_api::message::schemas::AUDIT_TYPE;
use scarce_core::types::TimeMs;
use tokio::sync::oneshot;

use crate::cloud_event::Attributes;
use crate::producer::{Message, Publisher, SendError, Session, Ticket};
use crate::time::rfc_3339;
use crate::topics::{self, Wanted};
use crate::{KafkaError, KafkaSettings};

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditMessage {
    /// The same for every copy of it, and of no other record.
    pub id: String,
    /// The log that it is of: its records are in one partition.
    pub log: String,
    /// When it was made.
    pub at_ms: TimeMs,
    /// The record in JSON.
    pub value: Vec<u8>,
}

/// The topic.
pub struct AuditTopic {
    settings: KafkaSettings,
    publisher: Publisher,
}

impl AuditTopic {
    /// Ensures that the topic exists.
    ///
    /// # Errors
    /// When no broker answers, or the topic is missing and may not be created.
    pub async fn open(settings: &KafkaSettings) -> Result<Self, KafkaError> {
        let publisher = Publisher::new(settings)?;
        let wanted = Wanted { topic: &settings.topics.audit, partitions: 1, exactly: false };
        topics::ensure(settings, &[wanted]).await?;
        Ok(Self { settings: settings.clone(), publisher })
    }

    /// Sends records, which the brokers have when it returns.
    ///
    /// # Errors
    /// Why not all of them arrived; some of them may have.
    pub async fn send(&self, messages: &[AuditMessage]) -> Result<(), String> {
        let session = self.publisher.session().map_err(|error| error.to_string())?;
        let (done, arrived) = oneshot::channel();
        let ticket = Arc::new(Ticket::new(messages.len(), move |result| drop(done.send(result))));
        for (at, message) in messages.iter().enumerate() {
            if let Err(reason) = self.queue(&session, message, &ticket).await {
                ticket.withdraw(messages.len() - at);
                session.give_up();
                return Err(reason);
            }
        }
        match tokio::time::timeout(self.settings.delivery_timeout(), arrived).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(cause))) => Err(cause.reason),
            Ok(Err(_)) => Err("the producer has ended".to_owned()),
            Err(_) => {
                session.give_up();
                let heard = self.publisher.heard();
                Err(heard.unwrap_or_else(|| "no broker acknowledges it in time".to_owned()))
            }
        }
    }

    async fn queue(
        &self,
        session: &Arc<Session>,
        message: &AuditMessage,
        ticket: &Arc<Ticket>,
    ) -> Result<(), String> {
        loop {
            match session.send(self.message(message), ticket) {
                Ok(()) => return Ok(()),
                Err(SendError::Full) => session.room().await,
                Err(SendError::Refused(cause)) => return Err(cause.reason),
            }
        }
    }

    fn message<'a>(&'a self, message: &'a AuditMessage) -> Message<'a> {
        let time = rfc_3339(message.at_ms);
        let attributes = Attributes {
            id: &message.id,
            source: &self.settings.source,
            kind: AUDIT_TYPE,
            time: time.as_deref(),
            subject: None,
        };
        Message {
            topic: &self.settings.topics.audit,
            partition: None,
            key: Some(message.log.as_bytes()),
            value: &message.value,
            headers: attributes.headers(0),
        }
    }
}
