//! What a call of the library is answered.

use scarce_core::outcome::Receipt;

use crate::receipt::WrittenReceipt;
use crate::values::Unreadable;

/// What is owed when not all requests were answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// Nothing.
    Nothing,
    /// The receipt of the first request that was not answered: it was begun, and has further steps.
    NextReceipt,
    /// Further steps of an operation from before, which come first.
    EarlierOperation,
    /// The receipts of requests that the call has left to the next one.
    Rest,
    /// The receipts from the first request on that was not answered: it looks through a book, and has changed nothing.
    Look,
    /// The packets of a campaign that was created, which are not all ready, and receipts that the call has left to the next one.
    Packets,
}

impl Owed {
    pub(crate) const ALL: [Self; 6] =
        [Self::Nothing, Self::NextReceipt, Self::EarlierOperation, Self::Rest, Self::Look, Self::Packets];

    /// The number in an answer.
    pub(crate) const fn number(self) -> i64 {
        self as i64
    }

    /// The name in the library.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "NOTHING",
            Self::NextReceipt => "NEXT_RECEIPT",
            Self::EarlierOperation => "EARLIER_OPERATION",
            Self::Rest => "REST",
            Self::Look => "LOOK",
            Self::Packets => "PACKETS",
        }
    }
}

/// What a call is answered.
#[derive(Debug)]
pub struct CallReply {
    /// The partition's leadership.
    pub epoch: u64,
    /// The sequence of the partition's last event.
    pub sequence: u64,
    /// What is owed.
    pub owed: Owed,
    /// The receipts of the first requests.
    pub receipts: Vec<Receipt>,
    /// What a look has counted that goes on in the next call.
    pub look: Option<String>,
}

/// Reads an answer: epoch, sequence, what is owed, and receipts.
///
/// # Errors
/// When it is none.
pub fn read_reply(answer: &redis::Value, partition: u32) -> Result<CallReply, Unreadable> {
    use redis::Value::{Array, Int};
    let Array(fields) = answer else { return Err(Unreadable("it is no list")) };
    let [Int(epoch), Int(sequence), Int(owed), Array(receipts), rest @ ..] = fields.as_slice() else {
        return Err(Unreadable("it has other fields"));
    };
    let owed = Owed::ALL.into_iter().find(|known| known.number() == *owed);
    let owed = owed.ok_or(Unreadable("what it owes is unknown"))?;
    let receipts =
        receipts.iter().map(|receipt| read_receipt(receipt, partition)).collect::<Result<_, _>>()?;
    let quantity = |number: i64| u64::try_from(number).map_err(|_| Unreadable("a quantity is below 0"));
    let look = match rest {
        [redis::Value::BulkString(text)] => {
            Some(String::from_utf8(text.clone()).map_err(|_| Unreadable("a look is no UTF-8"))?)
        }
        _ => None,
    };
    Ok(CallReply { epoch: quantity(*epoch)?, sequence: quantity(*sequence)?, owed, receipts, look })
}

/// A receipt is a text; one from before stands in a list.
fn read_receipt(answer: &redis::Value, partition: u32) -> Result<Receipt, Unreadable> {
    use redis::Value::{Array, BulkString};
    let (text, replayed) = match answer {
        BulkString(text) => (text, false),
        Array(texts) => match texts.as_slice() {
            [BulkString(text)] => (text, true),
            _ => return Err(Unreadable("a receipt from before is another list")),
        },
        _ => return Err(Unreadable("a receipt is no text")),
    };
    let text = std::str::from_utf8(text).map_err(|_| Unreadable("a text is no UTF-8"))?;
    Ok(WrittenReceipt::read(text)?.into_receipt(partition, replayed))
}
