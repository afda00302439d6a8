//! Who serves which slot, as sentinels and nodes of a cluster tell it.

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, Value, cmd, from_redis_value};

use super::address::{Endpoint, Topology};

/// The last slot of each range, and who serves it.
pub type SlotMap = Vec<(u16, u16, Endpoint)>;

/// What is known.
#[derive(Debug)]
pub struct Routes {
    /// Sentinels or nodes that can be asked: those that were set first, then those that were learned.
    advisers: Vec<Endpoint>,
    /// The primary, where there is one for all slots.
    primary: Option<Endpoint>,
    /// Who serves which range of slots.
    map: SlotMap,
}

impl Routes {
    /// What is known before any server was asked.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let (advisers, primary) = match topology {
            Topology::Standalone(endpoint) => (Vec::new(), Some(endpoint.clone())),
            Topology::Sentinel { sentinels, .. } => (sentinels.clone(), None),
            Topology::Cluster { seeds } => (seeds.clone(), None),
        };
        Self { advisers, primary, map: SlotMap::new() }
    }

    /// Who serves a slot.
    #[must_use]
    pub fn of(&self, slot: u16) -> Option<Endpoint> {
        let in_range = |(first, last, _): &&(u16, u16, Endpoint)| (*first..=*last).contains(&slot);
        let mapped = self.map.iter().find(in_range).map(|(_, _, endpoint)| endpoint);
        self.primary.as_ref().or(mapped).cloned()
    }

    /// Who serves any slot, each once.
    #[must_use]
    pub fn primaries(&self) -> Vec<Endpoint> {
        let mut found: Vec<Endpoint> = self.map.iter().map(|(_, _, endpoint)| endpoint.clone()).collect();
        found.extend(self.primary.clone());
        found.sort();
        found.dedup();
        found
    }

    /// Who can be asked.
    #[must_use]
    pub fn advisers(&self) -> Vec<Endpoint> {
        self.advisers.clone()
    }

    /// Adds who else can be asked.
    pub fn note_advisers(&mut self, others: Vec<Endpoint>) {
        for other in others {
            if !self.advisers.contains(&other) {
                self.advisers.push(other);
            }
        }
    }

    /// Notes the primary of all slots; gives the former one.
    pub fn note_primary(&mut self, primary: Endpoint) -> Option<Endpoint> {
        self.primary.replace(primary)
    }

    /// Notes the whole map.
    pub fn note_map(&mut self, map: SlotMap) {
        self.note_advisers(map.iter().map(|(_, _, endpoint)| endpoint.clone()).collect());
        self.map = map;
    }

    /// Notes that one slot is served by another one. The rest of the map is asked for when it is missed.
    pub fn note_moved(&mut self, slot: u16, endpoint: Endpoint) {
        self.note_advisers(vec![endpoint.clone()]);
        self.map.insert(0, (slot, slot, endpoint));
        // Each move of a slot puts one range in front; the map is asked for anew before that gets slow.
        if self.map.len() > MAP_RANGES_MAX {
            self.map.clear();
        }
    }

    /// Forgets who serves a slot, if it was this one; where the address is set by hand there is no other.
    pub fn forget(&mut self, slot: u16, endpoint: &Endpoint) {
        if self.advisers.is_empty() {
            return;
        }
        self.primary.take_if(|primary| primary == endpoint);
        if self.of(slot).as_ref() == Some(endpoint) {
            self.map.clear();
        }
    }
}

/// How many ranges the map has at most.
const MAP_RANGES_MAX: usize = 4_096;

/// Asks a sentinel for the primary of a service, and for the other sentinels.
///
/// # Errors
/// What it says instead.
pub async fn ask_sentinel(
    connection: &mut MultiplexedConnection,
    service: &str,
) -> Result<(Endpoint, Vec<Endpoint>), String> {
    let mut ask = cmd("SENTINEL");
    ask.arg("GET-MASTER-ADDR-BY-NAME").arg(service);
    let found: Option<(String, u16)> =
        ask.query_async(connection).await.map_err(|error| error.to_string())?;
    let (host, port) = found.ok_or_else(|| format!("it watches over no '{service}'"))?;
    let mut ask = cmd("SENTINEL");
    ask.arg("SENTINELS").arg(service);
    // Who does not say is not asked again; the primary is what counts.
    let others: Vec<Vec<String>> = ask.query_async(connection).await.unwrap_or_default();
    Ok((Endpoint::Tcp(host, port), others.iter().filter_map(|words| sentinel(words)).collect()))
}

fn sentinel(words: &[String]) -> Option<Endpoint> {
    let value = |name: &str| words.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| &pair[1]);
    Some(Endpoint::Tcp(value("ip")?.clone(), value("port")?.parse().ok()?))
}

/// Asks a node of a cluster who serves which slots; `at` is its own address, for it may not know it.
///
/// # Errors
/// What it says instead.
pub async fn ask_slots(connection: &mut MultiplexedConnection, at: &Endpoint) -> Result<SlotMap, String> {
    let mut ask = cmd("CLUSTER");
    ask.arg("SLOTS");
    let ranges: Vec<Vec<Value>> = ask.query_async(connection).await.map_err(|error| error.to_string())?;
    let map: SlotMap = ranges.iter().filter_map(|range| slot_range(range, at)).collect();
    if map.is_empty() { Err("it knows nobody who serves a slot".to_owned()) } else { Ok(map) }
}

fn slot_range(range: &[Value], at: &Endpoint) -> Option<(u16, u16, Endpoint)> {
    let [first, last, primary, ..] = range else { return None };
    let primary: Vec<Value> = read(primary)?;
    let host: String = primary.first().and_then(read).unwrap_or_default();
    let port: u16 = read(primary.get(1)?)?;
    Some((read(first)?, read(last)?, Endpoint::announced(&format!("{host}:{port}"), at)?))
}

fn read<T: FromRedisValue>(value: &Value) -> Option<T> {
    from_redis_value(value.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(port: u16) -> Endpoint {
        Endpoint::Tcp("host".to_owned(), port)
    }

    #[test]
    fn a_moved_slot_is_found_before_its_range() {
        let mut routes = Routes::new(&Topology::Cluster { seeds: vec![endpoint(1)] });
        routes.note_map(vec![(0, 99, endpoint(1)), (100, 16_383, endpoint(2))]);
        routes.note_moved(50, endpoint(2));
        assert_eq!(routes.of(49), Some(endpoint(1)));
        assert_eq!(routes.of(50), Some(endpoint(2)));
        assert_eq!(routes.advisers(), vec![endpoint(1), endpoint(2)]);
    }

    #[test]
    fn only_who_fails_is_forgotten() {
        let mut routes =
            Routes::new(&Topology::Sentinel { sentinels: vec![endpoint(9)], service: "s".to_owned() });
        assert_eq!(routes.note_primary(endpoint(1)), None);
        routes.forget(0, &endpoint(2));
        assert_eq!(routes.of(0), Some(endpoint(1)));
        routes.forget(0, &endpoint(1));
        assert_eq!(routes.of(0), None);
        let mut alone = Routes::new(&Topology::Standalone(endpoint(1)));
        alone.forget(0, &endpoint(1));
        assert_eq!(alone.of(0), Some(endpoint(1)));
    }
}
