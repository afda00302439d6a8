//! The identity of a topic. A topic that is deleted and created again has the same name, and another identity. librdkafka
//! tells it, and its Rust wrapper has no function for that.

#![allow(unsafe_code, reason = "no crate asks this; see docs/decisions/0030-topics-are-known-by-identity.md")]

use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::bindings::{
    rd_kafka_AdminOptions_destroy, rd_kafka_AdminOptions_new, rd_kafka_AdminOptions_set_request_timeout,
    rd_kafka_DescribeTopics, rd_kafka_DescribeTopics_result_topics, rd_kafka_TopicCollection_destroy,
    rd_kafka_TopicCollection_of_topic_names, rd_kafka_TopicDescription_error, rd_kafka_TopicDescription_t,
    rd_kafka_TopicDescription_topic_id, rd_kafka_Uuid_least_significant_bits,
    rd_kafka_Uuid_most_significant_bits, rd_kafka_admin_op_t, rd_kafka_error_code,
    rd_kafka_event_DescribeTopics_result, rd_kafka_event_destroy, rd_kafka_event_error, rd_kafka_event_t,
    rd_kafka_queue_destroy, rd_kafka_queue_new, rd_kafka_queue_poll, rd_kafka_queue_t,
};
use rdkafka::client::Client;
use rdkafka::error::KafkaError as Source;
use rdkafka::types::{RDKafkaErrorCode, RDKafkaRespErr};

/// A topic's identity; `None` of brokers that know none, which are older than Kafka 2.8.
pub(crate) type TopicId = Option<u128>;

/// A question to the brokers for the identity of a topic.
pub(crate) struct Asked<'a> {
    queue: NonNull<rd_kafka_queue_t>,
    /// The client must outlive the queue.
    client: PhantomData<&'a ()>,
}

impl<'a> Asked<'a> {
    /// Asks. The answer is an error after the timeout.
    ///
    /// # Errors
    /// When the topic's name is not one, or librdkafka has no memory.
    pub(crate) fn begin<C: ClientContext>(
        client: &'a Client<C>,
        topic: &str,
        timeout: Duration,
    ) -> Result<Self, Source> {
        let none = || Source::MetadataFetch(RDKafkaErrorCode::InvalidTopic);
        let name = CString::new(topic).map_err(|_| none())?;
        let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
        let mut names = [name.as_ptr()];
        // SAFETY: the client's handle is valid while the client is borrowed, which is as long as the queue lives. The array of
        // names and the name live until the collection has its copies. Every object is used before it is destroyed, once, and
        // `DescribeTopics` copies what it needs of options and topics before it returns.
        unsafe {
            let handle = client.native_ptr();
            let queue = NonNull::new(rd_kafka_queue_new(handle)).ok_or_else(none)?;
            let topics = rd_kafka_TopicCollection_of_topic_names(names.as_mut_ptr(), names.len());
            let operation = rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS;
            let options = rd_kafka_AdminOptions_new(handle, operation);
            // Out of range it is refused, and the client's own holds.
            rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, ptr::null_mut(), 0);
            rd_kafka_DescribeTopics(handle, topics, options, queue.as_ptr());
            rd_kafka_AdminOptions_destroy(options);
            rd_kafka_TopicCollection_destroy(topics);
            Ok(Self { queue, client: PhantomData })
        }
    }

    /// The answer, if it comes within this time.
    pub(crate) fn answer(&self, wait: Duration) -> Option<Result<TopicId, Source>> {
        let wait_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the queue lives as long as this does. The event is this function's, is read before it is destroyed, and nothing
        // that it owns is kept: the identity is copied out.
        unsafe {
            let event = NonNull::new(rd_kafka_queue_poll(self.queue.as_ptr(), wait_ms))?;
            let found = identity(event);
            rd_kafka_event_destroy(event.as_ptr());
            Some(found.map_err(|code| Source::MetadataFetch(RDKafkaErrorCode::from(code))))
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by `rd_kafka_queue_new`, and nothing uses it any more. librdkafka drops an answer that comes later.
        unsafe { rd_kafka_queue_destroy(self.queue.as_ptr()) }
    }
}

/// What an event says of the one topic that was asked for.
///
/// # Safety
/// The event must be valid.
unsafe fn identity(event: NonNull<rd_kafka_event_t>) -> Result<TopicId, RDKafkaRespErr> {
    // SAFETY: the event is valid, and so is what it owns until it is destroyed. Every pointer is looked at before it is followed, and
    // the array has as many elements as `count` says.
    unsafe {
        good(rd_kafka_event_error(event.as_ptr()))?;
        let result = rd_kafka_event_DescribeTopics_result(event.as_ptr());
        let mut count = 0_usize;
        let topics = match NonNull::new(result.cast_mut()) {
            Some(result) => rd_kafka_DescribeTopics_result_topics(result.as_ptr(), &raw mut count),
            None => ptr::null_mut(),
        };
        if topics.is_null() || count == 0 {
            return Err(RDKafkaRespErr::RD_KAFKA_RESP_ERR__FAIL);
        }
        let topic: *const rd_kafka_TopicDescription_t = *topics;
        let error = rd_kafka_TopicDescription_error(topic);
        if !error.is_null() {
            good(rd_kafka_error_code(error))?;
        }
        let id = rd_kafka_TopicDescription_topic_id(topic);
        if id.is_null() {
            return Ok(None);
        }
        let (high, low) = (rd_kafka_Uuid_most_significant_bits(id), rd_kafka_Uuid_least_significant_bits(id));
        let id = u128::from(high.cast_unsigned()) << 64 | u128::from(low.cast_unsigned());
        Ok((id != 0).then_some(id))
    }
}

fn good(code: RDKafkaRespErr) -> Result<(), RDKafkaRespErr> {
    if code == RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR { Ok(()) } else { Err(code) }
}
