//! `DRYRUN command …`: what a command would be answered.

use scarce_core::command::{Body, Command, Effect, table};
use scarce_engine::Request;

use super::form::Form;
use super::session::{Session, Turn};

impl Session {
    /// `DRYRUN command …`: what the command would answer.
    pub(super) fn dry_run(&mut self, name: &[u8], arguments: &[&[u8]], turn: &mut Turn<'_>) {
        let Some(spec) = table::find(name) else {
            return self
                .say(turn, |replies| replies.error("ERR", "DRYRUN takes a command of the command table"));
        };
        match Command::parse(spec, arguments) {
            Err(problem) => self.misshapen(spec, &problem, turn),
            Ok((command, _)) if let Err(lack) = self.check(spec, &command) => {
                self.lacking(&lack, spec.name, turn);
            }
            Ok((command, _)) if let Err(refused) = self.count_now(spec, &command, turn) => {
                self.beyond(&refused, turn);
            }
            Ok((command, _)) if spec.effect == Effect::Read => self.read(spec, command, turn),
            Ok((command, common)) => {
                self.send(common, Body::Single(command), Form::Command(spec), Request::DryRun, turn);
            }
        }
    }
}
