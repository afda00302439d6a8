//! Subcommands that change a deployment beside its ports: they are in the audit log of the data directory, where that is on this machine.
//! What a subcommand asks a server to do is recorded by the server.

use std::path::PathBuf;

use scarce_audit::{Kind, Record, Who};
use scarce_server::serve::audit;

use super::backup::Backup;
use super::dead_letters::DeadLetters;
use super::deliver::{Settlements, Webhooks};
use super::keys::Keys;
use super::mirror::MirrorCommand;
use super::projection::ProjectionCommand;
use super::reconcile::{Other, Reconcile};
use super::script::ScriptCommand;
use super::setting_flags::SettingFlags;
use super::{Ended, Exit, Subcommand};

/// An act of the command line.
pub(super) struct Act {
    what: &'static str,
    about: Option<String>,
    flags: SettingFlags,
    /// The data directory, where the subcommand names one.
    data: Option<PathBuf>,
}

impl Act {
    /// What a subcommand does, if it is an act. A new subcommand does not compile before it is named here.
    pub(super) fn of(subcommand: &Subcommand) -> Option<Self> {
        let mut data = None;
        let what = match subcommand {
            Subcommand::Keys(keys) => return of_keys(keys),
            Subcommand::Scripts(scripts) => return of_scripts(scripts),
            Subcommand::Reconcile(reconcile) => return of_reconcile(reconcile),
            Subcommand::Backup(backup) => match backup {
                Backup::Create(options) => {
                    data = Some(options.data.clone());
                    "backup create"
                }
                Backup::Prune(_) => "backup prune",
                Backup::List(_) | Backup::Verify(_) | Backup::Key(_) => return None,
            },
            Subcommand::Restore(options) => {
                data.clone_from(&options.data);
                "restore"
            }
            Subcommand::Migrate(options) if options.dry_run => return None,
            Subcommand::Migrate(options) => {
                data = Some(options.to.clone());
                "migrate"
            }
            Subcommand::Webhooks(webhooks) => of_webhooks(webhooks)?,
            Subcommand::Settlements(settlements) => match settlements {
                Settlements::Replay(_) => "settlements replay",
                Settlements::Resolve(_) => "settlements resolve",
                Settlements::List(_) | Settlements::Counts(_) | Settlements::Replaced(_) => return None,
            },
            Subcommand::DeadLetters(letters) => match letters {
                DeadLetters::Replay(_) => "dead-letters replay",
                DeadLetters::List(_) => return None,
            },
            Subcommand::Projection(projection) => match projection {
                ProjectionCommand::Rebuild(_) => "projection rebuild",
                ProjectionCommand::Status(_)
                | ProjectionCommand::Verify(_)
                | ProjectionCommand::Follow(_) => {
                    return None;
                }
            },
            Subcommand::Mirror(mirror) => match mirror {
                MirrorCommand::Rebuild(_) => "mirror rebuild",
                MirrorCommand::Status(_) | MirrorCommand::Verify(_) => return None,
            },
            // They read, have a server of their own, or ask one, which records what it is asked.
            Subcommand::Serve(_)
            | Subcommand::Try(_)
            | Subcommand::Demo(_)
            | Subcommand::Call(_)
            | Subcommand::Repl(_)
            | Subcommand::Journal(_)
            | Subcommand::Snapshot(_)
            | Subcommand::Explain(_)
            | Subcommand::Config(_)
            | Subcommand::Doctor(_)
            | Subcommand::Import(_)
            | Subcommand::Shadow(_)
            | Subcommand::Bench(_)
            | Subcommand::Top(_)
            | Subcommand::Packets(_)
            | Subcommand::Consumers(_)
            | Subcommand::History(_)
            | Subcommand::Audit(_)
            | Subcommand::Completions(_)
            | Subcommand::Man(_) => return None,
        };
        Some(Self { what, about: None, flags: SettingFlags::default(), data })
    }

    /// Records it, with how it ended.
    pub(super) fn note(self, ended: &Ended) {
        let outcome = match ended.as_ref().map_or_else(|failed| failed.exit, |exit| *exit) {
            Exit::Done => "APPLIED",
            // Nothing was tried.
            Exit::Usage => return,
            Exit::Failed => "FAILED",
            Exit::Refused => "REFUSED",
            Exit::Unreachable => "UNREACHABLE",
            Exit::Broken => "BROKEN",
        };
        let Ok(loaded) = self.flags.load() else { return };
        let mut settings = loaded.settings;
        if let Some(data) = self.data {
            // What could not be made may be a folder of other people's.
            if outcome != "APPLIED" {
                return;
            }
            settings.data = data;
        }
        if !settings.audit || !settings.data.is_dir() {
            return;
        }
        let record = Record::new(Kind::Act, Who::User(user()), "command-line", self.what, outcome);
        let record = record.about(self.about.as_deref());
        let record = Record { at_ms: super::keys::now_ms(), ..record };
        // How much is kept is the server's to say, whose settings may be others.
        if let Err(error) = audit::folder(&settings).append(&[record]) {
            // If stderr is gone, there is nobody to warn.
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("warning: this is not in the audit log: {error}\n"),
            );
        }
    }
}

fn of_keys(keys: &Keys) -> Option<Act> {
    let (what, about, flags) = match keys {
        Keys::Create(options) => ("keys create", &options.name, &options.settings),
        Keys::Rotate(options) => ("keys rotate", &options.key, &options.settings),
        Keys::Revoke(options) => ("keys revoke", &options.key, &options.settings),
        Keys::List(_) | Keys::Show(_) => return None,
    };
    Some(Act { what, about: Some(about.clone()), flags: flags.0.clone(), data: None })
}

fn of_scripts(scripts: &ScriptCommand) -> Option<Act> {
    let (what, flags) = match scripts {
        ScriptCommand::Load(options) => ("scripts load", &options.settings),
        ScriptCommand::Remove(options) => ("scripts remove", &options.settings),
        ScriptCommand::Run(_) | ScriptCommand::List(_) | ScriptCommand::Show(_) => return None,
    };
    Some(Act { what, about: None, flags: flags.clone(), data: None })
}

fn of_reconcile(reconcile: &Reconcile) -> Option<Act> {
    let what = match &reconcile.other {
        Some(Other::Adjust(_)) => "reconcile adjust",
        Some(Other::File(_)) => return None,
        None if reconcile.repair && !reconcile.dry_run => "reconcile --repair",
        None => return None,
    };
    Some(Act { what, about: None, flags: reconcile.settings.clone(), data: None })
}

const fn of_webhooks(webhooks: &Webhooks) -> Option<&'static str> {
    match webhooks {
        Webhooks::Add(_) => Some("webhooks add"),
        Webhooks::Remove(_) => Some("webhooks remove"),
        Webhooks::Pause(_) => Some("webhooks pause"),
        Webhooks::Resume(_) => Some("webhooks resume"),
        Webhooks::RotateSecret(_) => Some("webhooks rotate-secret"),
        Webhooks::Rekey(_) => Some("webhooks rekey"),
        Webhooks::Replay(_) => Some("webhooks replay"),
        Webhooks::List(_) | Webhooks::Deliveries(_) => None,
    }
}

/// The user by the number that the kernel knows, with the name that the environment gives it.
fn user() -> String {
    let number = rustix::process::getuid().as_raw();
    let named = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.map_or_else(|| number.to_string(), |name| format!("{name} ({number})"))
}
