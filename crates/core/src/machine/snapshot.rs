//! The machine as bytes, for snapshots.

use crate::codec::Malformed;
use crate::event::Histories;
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::{State, StateSettings};

use super::Machine;

impl Machine {
    /// Appends the machine for a snapshot.
    pub fn put(&self, out: &mut Vec<u8>) {
        self.put_pieces(&mut |piece| out.extend_from_slice(piece));
    }

    /// Gives the machine to `take` piece by piece, for a snapshot that is never in memory as a whole.
    pub fn put_pieces(&self, take: &mut dyn FnMut(&[u8])) {
        let mut out = PieceWriter::new(take);
        out.value(&self.partition);
        out.value(&self.epoch);
        out.value(&self.sequence);
        self.state.put(&mut out);
        self.histories.put(&mut out, self.sequence);
        self.state.stock.put_forgotten(&mut out);
        self.state.campaigns.put_forgotten(&mut out);
        self.state.operations.put_old(&mut out);
        out.finish();
    }

    /// Reads what [`Machine::put`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode a machine.
    pub fn load(settings: StateSettings, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut left = Some(bytes);
        Self::load_pieces(settings, &mut |out| {
            left.take().map(|bytes| out.extend_from_slice(bytes)).is_some()
        })
    }

    /// Reads what [`Machine::put_pieces`] gave. `next` appends the next piece, and answers whether there was one.
    ///
    /// # Errors
    /// When the bytes do not encode a machine.
    pub fn load_pieces(
        settings: StateSettings,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Self, Malformed> {
        let mut input = PieceReader::new(next);
        let (partition, epoch, sequence) = (input.value()?, input.value()?, input.value()?);
        let state = State::load(settings, &mut input)?;
        let mut machine = Self::with_state(state, partition, epoch, sequence);
        // Snapshots of before end here.
        if !input.is_empty() {
            machine.histories = Histories::load(&mut input)?;
        }
        // One of a release that kept all receipts ends here.
        if !input.is_empty() {
            machine.state.stock.load_forgotten(&mut input)?;
        }
        // One of a release that kept all packets ends here.
        if !input.is_empty() {
            machine.state.campaigns.load_forgotten(&mut input)?;
        }
        // One of a release that kept all operation ids in memory ends here.
        if !input.is_empty() {
            machine.state.operations.load_old(&mut input)?;
        }
        machine.state.queue_packets();
        if input.is_empty() { Ok(machine) } else { Err(Malformed) }
    }
}
