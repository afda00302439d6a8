//! Parses what `INFO` says about a server's log.

use std::collections::BTreeMap;

use super::{Client, ClientError, Reply, text};

/// The range of a partition's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first sequence that the log still has; 1 if nothing was trimmed.
    pub first: u64,
    /// The last durable sequence; 0 if there is none, `None` if the server cannot say at the moment.
    pub last: Option<u64>,
}

/// A server's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The id of the deployment: 32 hexadecimal digits.
    pub deployment_id: String,
    /// The log of each partition.
    pub partitions: BTreeMap<u32, Extent>,
}

impl Info {
    /// Queries a server.
    ///
    /// # Errors
    /// When it does not answer or refuses.
    pub fn ask(client: &mut Client) -> Result<Self, ClientError> {
        let answer = client.call(&["INFO"])?;
        match Reply::of(answer.clone()) {
            Reply::Error(message) => Err(ClientError::Refused(message)),
            _ => Ok(Self::read(&text(&answer).unwrap_or_default())),
        }
    }

    fn read(said: &str) -> Self {
        let mut info = Self::default();
        for (name, value) in said.lines().filter_map(|line| line.split_once(':')) {
            match name.strip_prefix("partition_").map(str::parse) {
                Some(Ok(partition)) => {
                    let (first, last) = (figure(value, "first_sequence"), figure(value, "durable_sequence"));
                    info.partitions.insert(partition, Extent { first: first.unwrap_or(1), last });
                }
                _ if name == "deployment_id" => info.deployment_id = value.trim().to_owned(),
                _ => {}
            }
        }
        info
    }
}

/// A number in a line such as `a=1,b=2`.
fn figure(line: &str, name: &str) -> Option<u64> {
    let mut pairs = line.trim().split(',').filter_map(|pair| pair.split_once('='));
    pairs.find(|(its, _)| *its == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_their_names_in_any_order() {
        let said = "# Partitions\r\ndeployment_id:00ff\r\npartitions:2\r\npartition_0:first_sequence=3,durable_sequence=9,x=1\r\n\
                    partition_1:durable_sequence=none,first_sequence=1\r\n";
        let extents = [(0, Extent { first: 3, last: Some(9) }), (1, Extent { first: 1, last: None })];
        assert_eq!(Info::read(said), Info { deployment_id: "00ff".to_owned(), partitions: extents.into() });
    }
}
