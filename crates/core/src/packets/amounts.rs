//! Amounts of consecutive packets, made ready beside an owner's thread: it shares them, and copies their encoding into the
//! log.

use std::ops::Deref;
use std::sync::Arc;

use crate::codec::{Input, Malformed, Wire};
use crate::event::{FromShown, Redacted, Shown};
use crate::outcome::Value;

/// Amounts that never change, so that nobody copies them.
#[derive(Clone, Debug)]
pub struct Amounts {
    amounts: Arc<[u64]>,
    /// How they are encoded, where that was done before.
    encoded: Option<Arc<[u8]>>,
}

impl Amounts {
    /// Amounts that are encoded already.
    #[must_use]
    pub(super) fn encoded(amounts: &[u64]) -> Self {
        let mut bytes = Vec::new();
        put(amounts, &mut bytes);
        Self { amounts: amounts.into(), encoded: Some(bytes.into()) }
    }

    /// The amounts, for the state, which needs no encoding of them.
    #[must_use]
    pub(super) fn shared(&self) -> Arc<[u64]> {
        Arc::clone(&self.amounts)
    }
}

impl From<Vec<u64>> for Amounts {
    fn from(amounts: Vec<u64>) -> Self {
        Self { amounts: amounts.into(), encoded: None }
    }
}

impl Deref for Amounts {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.amounts
    }
}

impl PartialEq for Amounts {
    fn eq(&self, other: &Self) -> bool {
        self.amounts == other.amounts
    }
}

impl Eq for Amounts {}

/// As a list of integers.
impl Wire for Amounts {
    fn put(&self, out: &mut Vec<u8>) {
        match &self.encoded {
            Some(encoded) => out.extend_from_slice(encoded),
            None => put(&self.amounts, out),
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Vec::get(input).map(Self::from)
    }
}

fn put(amounts: &[u64], out: &mut Vec<u8>) {
    (amounts.len() as u64).put(out);
    amounts.iter().for_each(|amount| amount.put(out));
}

impl Shown for Amounts {
    fn shown(&self) -> Value {
        Value::List(self.iter().map(Shown::shown).collect())
    }
}

impl FromShown for Amounts {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        Vec::from_shown(value).map(Self::from)
    }
}

impl Redacted for Amounts {
    fn redacted() -> Self {
        Self::from(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::bench::Bench;
    use crate::store::Slot;

    #[test]
    fn what_was_encoded_before_is_encoded_alike() {
        for amounts in [vec![], vec![1, 128, u64::MAX >> 11], (0..1_000).collect()] {
            let (ready, plain) = (Amounts::encoded(&amounts), Amounts::from(amounts.clone()));
            assert_eq!((ready.to_bytes(), &ready), (plain.to_bytes(), &plain));
            assert_eq!(plain.to_bytes(), amounts.to_bytes(), "as a list of integers");
            assert_eq!(Amounts::get(&mut Input::new(&ready.to_bytes())), Ok(plain));
        }
    }

    #[test]
    fn the_owner_goes_through_no_packet_that_was_made_ready() {
        let mut bench = Bench::new();
        let lines =
            ["PACKET.CREATE c EUR PLAN 1000000 2500 DOUBLE_MEAN", "PACKET.CREATE d EUR PLAN 9 3 EVEN"];
        for (slot, line) in (0..).zip(lines) {
            let envelope = Bench::envelope(&[line]).expect("a cut");
            bench.machine.submit(&envelope, bench.clock, &mut bench.log);
            let campaigns = &bench.machine.state().campaigns;
            let pieces = campaigns.pieces.range((Slot(slot), 0)..(Slot(slot + 1), 0));
            let pieces: Vec<_> = pieces.map(|(_, piece)| &piece.0).collect();
            let ready = envelope.prepared()[0].pieces.iter().map(Amounts::shared);
            assert_eq!(pieces.len(), ready.len());
            assert!(pieces.into_iter().zip(ready).all(|(piece, ready)| Arc::ptr_eq(piece, &ready)), "{line}");
        }
        bench.check_fold();
    }
}
