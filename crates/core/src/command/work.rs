//! The work that a request asks for, known from its words before anything of it is done. A unit is about as much as
//! preparing one packet. A command's row in the table says how much work it is: by its rules ([`super::rules::Steps`]) and by
//! its arguments ([`Argument::work`](super::argument::Argument::work)).
//!
//! The sum of a request is bounded, so that no batch keeps an owner's thread, or takes memory, out of proportion to
//! what a single command can ask for.

use super::Invalid;
use super::table::Command;

/// A line: a command that is looked up, decided and answered.
pub const LINE_WORK: u64 = 1;

/// A row of a list in an answer.
pub const ROW_WORK: u64 = 10;

/// A step that touches up to a bounded number of records.
pub const STEP_WORK: u64 = 128;

/// What a dry run of a command that may take several steps asks for besides: all of them are foretold at once, up to
/// [`FORETOLD_MAX`](crate::machine::FORETOLD_MAX) orders, and nothing else is served between them.
pub const FORETOLD_WORK: u64 = 20_000;

/// A piece of a recount.
pub const PIECE_WORK: u64 = 1_000;

/// The most that one request may ask for, all its lines together: the largest campaign, and a batch of the most
/// lines.
pub const WORK_MAX: u64 = 1_001_000;

/// The sum of what commands ask for.
#[must_use]
pub fn sum(commands: &[Command]) -> u64 {
    commands.iter().map(Command::work).fold(0, u64::saturating_add)
}

/// The sum of what dry runs of commands ask for.
#[must_use]
pub fn foretold(commands: &[Command]) -> u64 {
    let several = commands.iter().filter(|command| command.spec().takes_several_steps()).count();
    sum(commands).saturating_add(FORETOLD_WORK.saturating_mul(several as u64))
}

/// Checks that what commands ask for together is within [`WORK_MAX`].
///
/// # Errors
/// When it is not; the error names both numbers.
pub fn check(commands: &[Command]) -> Result<(), Invalid> {
    let work = sum(commands);
    if work <= WORK_MAX { Ok(()) } else { Err(too_much(work)) }
}

/// The error for a request that asks for too much work.
#[must_use]
pub fn too_much(work: u64) -> Invalid {
    let reason = format!("asks for {work} units of work, and a request may ask for {WORK_MAX}; divide it");
    Invalid::new("batch", reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::table::{COMMANDS, find};
    use crate::command::{Body, Common, Envelope};

    fn parse(line: &str) -> Command {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        Command::parse(find(words[0]).expect("a command"), &words[1..]).expect(line).0
    }

    #[test]
    fn the_work_of_a_command_follows_from_its_row_and_its_arguments() {
        for (line, work) in [
            ("ACCOUNT.DEBIT a 5", 1),
            ("PACKET.CREATE c USD PLAN 1000000 1000000 EVEN", 1_000_129),
            ("PACKET.CREATE c USD AMOUNTS 3 1 2 3", 132),
            ("ACCOUNT.HOLDS a", 10_001),
            ("ACCOUNT.HOLDS a COUNT 10000", 100_001),
            ("MARKET.DEPTH m", 101),
            ("MARKET.DEPTH m LEVELS 1", 11),
            ("ORDER.PLACE m o u BUY LIMIT 1 1", 129),
            ("STOCK.AUDIT s", 1_001),
        ] {
            assert_eq!(parse(line).work(), work, "{line}");
        }
    }

    #[test]
    fn any_single_command_and_any_full_batch_of_ordinary_lines_is_within_the_bound() {
        let largest = parse("PACKET.CREATE c USD PLAN 1000000 1000000 LINE_CUT");
        assert!(check(&[largest]).is_ok());
        for line in ["ACCOUNT.DEBIT a 5", "ORDER.PLACE m o u BUY LIMIT 1 1", "STOCK.AUDIT s"] {
            assert!(check(&vec![parse(line); 1_000]).is_ok(), "{line}");
        }
        assert!(COMMANDS.iter().all(|spec| spec.base_work() <= WORK_MAX / 1_000));
    }

    #[test]
    fn what_asks_for_too_much_together_is_refused_before_a_packet_is_cut() {
        // A billion packets: cutting them would take a quarter of a minute and 8 GB.
        let commands = vec![parse("PACKET.CREATE c USD PLAN 1000000 1000000 EVEN"); 1_000];
        // First without a cut, which a fault in the check would begin.
        assert!(check(&commands).is_err());
        let refused =
            Envelope::new("", Common::default(), Body::Atomic(commands), &[0; 32]).expect_err("too much");
        let expected =
            "batch asks for 1000129000 units of work, and a request may ask for 1001000; divide it";
        assert_eq!(refused.to_string(), expected);
    }
}
