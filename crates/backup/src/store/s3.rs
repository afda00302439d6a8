//! A bucket of S3, or of another store that speaks its protocol, by `object_store`. Its requests go over the HTTP and TLS
//! that the server has anyway.

mod http;
mod progress;
mod settings;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests;

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use super::{Store, StoreError, StoredObject};
use http::Connector;

/// For how long requests are tried again. The caller tries again later.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// A connection takes so much at once.
const FRAME_BYTES: usize = 64 << 10;

/// How often a request is tried again.
const RETRIES_MAX: usize = 3;

/// A bucket, or what is below a prefix in it.
pub struct Bucket {
    store: AmazonS3,
    /// Its requests run here: callers are threads that wait.
    runtime: Runtime,
    url: String,
    prefix: String,
}

impl Bucket {
    /// The store at `s3://bucket/prefix`, with credentials, region and endpoint of the environment.
    ///
    /// # Errors
    /// When the address names no bucket, or what the environment says cannot be used.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, settings::of_process())
    }

    fn open_with(url: &str, variables: impl Iterator<Item = (String, String)>) -> Result<Self, StoreError> {
        let address = || StoreError::Address { url: url.to_owned() };
        let failed = |source| StoreError::Failed { operation: "open", place: url.to_owned(), source };
        let rest = url.strip_prefix("s3://").ok_or_else(address)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !settings::is_bucket(bucket) || !(prefix.is_empty() || prefix.split('/').all(is_plain)) {
            return Err(address());
        }
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() },
            max_retries: RETRIES_MAX,
            retry_timeout: RETRY_MAX,
        };
        let connector = Connector::new().map_err(failed)?;
        let builder = settings::builder_of(variables).map_err(failed)?;
        let builder = builder.with_bucket_name(bucket).with_retry(retry);
        // Not every such store removes many at once. An endpoint without TLS is only used where it is written so.
        let builder = builder
            .with_config(AmazonS3ConfigKey::DisableBulkDelete, "true")
            .with_allow_http(true)
            .with_http_connector(connector);
        let store = builder.build().map_err(|error| failed(error.into()))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("s3").enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.into()))?;
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Ok(Self { store, runtime, url: format!("s3://{bucket}/"), prefix })
    }

    fn path(&self, name: &str) -> Result<Path, StoreError> {
        let name_in_bucket = format!("{}{name}", self.prefix);
        Path::parse(name_in_bucket).map_err(|error| self.failed("name", name, Error::from(error)))
    }

    /// Runs a request to its end. It ends where nothing moves for too long.
    fn run<Value>(
        &self,
        (operation, name): (&'static str, &str),
        request: impl Future<Output = Result<Value, Error>>,
    ) -> Result<Value, StoreError> {
        self.runtime.block_on(request).map_err(|error| self.failed(operation, name, error))
    }

    fn failed(&self, operation: &'static str, name: &str, error: Error) -> StoreError {
        let place = self.locate(name);
        match error {
            // An endpoint answers so, too, where there is no such bucket.
            error if says(&error, "NoSuchBucket") => {
                StoreError::Failed { operation, place, source: "there is no such bucket".into() }
            }
            Error::NotFound { .. } if operation == "read" => StoreError::Missing { place },
            // No answer, or one of a gateway before the store.
            error @ Error::Generic { .. } => {
                StoreError::Unanswered { operation, place, source: error.into() }
            }
            error => StoreError::Failed { operation, place, source: error.into() },
        }
    }

    /// The content of an object, unless it is too large. Where it is interrupted, it goes on from there as long as more
    /// comes each time.
    async fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        use futures_util::TryStreamExt;
        let found = self.store.get(path).await?;
        let (size, tag) = (found.meta.size, found.meta.e_tag.clone());
        if size > bytes_max {
            return Ok(None);
        }
        let (mut content, mut rest) = (Vec::new(), found.into_stream());
        loop {
            let begun = content.len();
            let ended = loop {
                match rest.try_next().await {
                    Ok(Some(bytes)) => content.extend_from_slice(&bytes),
                    ended => break ended,
                }
            };
            match ended {
                Err(error) if content.len() == begun => return Err(error),
                Err(_) => {}
                Ok(_) => return Ok(Some(content)),
            }
            let range = Some(GetRange::Bounded(content.len() as u64..size));
            let options = GetOptions { range, if_match: tag.clone(), ..GetOptions::default() };
            rest = self.store.get_opts(path, options).await?.into_stream();
        }
    }

    async fn list_below(&self, path: Path) -> Result<Vec<(String, u64)>, Error> {
        use futures_util::TryStreamExt;
        let objects = self.store.list(Some(&path));
        objects.map_ok(|object| (object.location.to_string(), object.size)).try_collect().await
    }
}

/// Whether an error or one of its causes contains a text.
fn says(error: &(dyn std::error::Error + 'static), text: &str) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.to_string().contains(text))
}

/// What is put, in frames of which it can be seen how many were taken.
fn payload_of(bytes: &[u8]) -> PutPayload {
    let whole = Bytes::copy_from_slice(bytes);
    let frames = (0..whole.len()).step_by(FRAME_BYTES);
    frames.map(|at| whole.slice(at..whole.len().min(at + FRAME_BYTES))).collect()
}

impl Store for Bucket {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(name)?;
        self.run(("write", name), self.store.put(&path, payload_of(bytes))).map(drop)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let path = self.path(name)?;
        let options = PutOptions::from(PutMode::Create);
        let put = async {
            match self.store.put_opts(&path, payload_of(bytes), options).await {
                Err(Error::AlreadyExists { .. }) => Ok(false),
                put => put.map(|_| true),
            }
        };
        self.run(("write", name), put)
    }

    /// What was put is durable once the store has answered.
    fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let path = self.path(name)?;
        let too_large = || StoreError::TooLarge { place: self.locate(name), bytes_max };
        self.run(("read", name), self.read(&path, bytes_max))?.ok_or_else(too_large)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        let path = self.path(folder.trim_end_matches('/'))?;
        let found = self.run(("list", folder), self.list_below(path))?;
        let object = |(name, bytes): (String, u64)| {
            let name = name.strip_prefix(&self.prefix)?.to_owned();
            Some(StoredObject { name, bytes })
        };
        let mut found: Vec<_> = found.into_iter().filter_map(object).collect();
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name)?;
        let remove = async {
            match self.store.delete(&path).await {
                Err(error @ Error::NotFound { .. }) if !says(&error, "NoSuchBucket") => Ok(()),
                removed => removed,
            }
        };
        self.run(("remove", name), remove)
    }

    fn locate(&self, name: &str) -> String {
        format!("{}{}{name}", self.url, self.prefix)
    }
}
