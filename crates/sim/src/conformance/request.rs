//! Reading the words of a row as a gateway does.

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Effect, Envelope, Invalid};
use scarce_core::types::{Natural, OperationId};

/// A parsed request.
#[derive(Clone, Debug)]
pub enum Request {
    /// A command that only reads.
    Read(Command),
    /// A command that changes something, or a batch of them.
    Write(Envelope),
}

/// Reads one command; `secret` keys the cuts of red packets.
///
/// # Errors
/// When the words are not a command.
pub fn single(words: &[&str], secret: &[u8; 32]) -> Result<Request, Invalid> {
    let (command, common) = read(words)?;
    if command.spec().effect == Effect::Read {
        return Ok(Request::Read(command));
    }
    Envelope::new("", common, Body::Single(command), secret).map(Request::Write)
}

/// Reads an atomic batch.
///
/// # Errors
/// When a line is not a command, or has its own id.
pub fn atomic(
    id: Option<&str>,
    deadline: Option<&str>,
    lines: &[Vec<&str>],
    secret: &[u8; 32],
) -> Result<Request, Invalid> {
    let operation = id.map(|id| OperationId::parse(id.as_bytes(), "ID")).transpose()?;
    let deadline = deadline.map(|text| Natural::parse(text.as_bytes(), "DEADLINE")).transpose()?;
    let mut commands = Vec::new();
    for line in lines {
        let (command, common) = read(line)?;
        if common != Common::default() {
            return Err(Invalid::new("ID", "and its like belong to the batch, not to its lines"));
        }
        commands.push(command);
    }
    let common = Common { operation, deadline: deadline.map(Natural::get), durability: None };
    Envelope::new("", common, Body::Atomic(commands), secret).map(Request::Write)
}

/// Reads the request of a row.
///
/// # Errors
/// When it is not a command or batch.
pub fn of(
    batch: Option<super::BatchHead<'_>>,
    lines: &[Vec<&str>],
    secret: &[u8; 32],
) -> Result<Request, Invalid> {
    match batch {
        None => single(lines.first().map_or(&[][..], Vec::as_slice), secret),
        Some(head) => atomic(head.id, head.deadline, lines, secret),
    }
}

fn read(words: &[&str]) -> Result<(Command, Common), Invalid> {
    let (name, rest) = words.split_first().ok_or_else(|| Invalid::new("command", "is missing"))?;
    let spec = find(name.as_bytes()).ok_or_else(|| Invalid::new("command", "is unknown"))?;
    let rest: Vec<&[u8]> = rest.iter().map(|word| word.as_bytes()).collect();
    Command::parse(spec, &rest)
}
