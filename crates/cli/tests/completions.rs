//! `scarce completions` and `scarce man` cover the whole command line.

mod support;

use std::path::Path;
use std::process::Command;

use clap::CommandFactory;
use scarce::Arguments;
use support::{said, scarce_in};
use tempfile::TempDir;

/// The names of a command and all its subcommands, such as `scarce-journal-verify`.
fn names(command: &clap::Command, lead: &str) -> Vec<String> {
    let name = if lead.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{lead}-{}", command.get_name())
    };
    let below = command.get_subcommands().flat_map(|below| names(below, &name)).collect::<Vec<_>>();
    std::iter::once(name).chain(below).collect()
}

fn completions(shell: &str) -> String {
    let (code, script, stderr) = said(&mut scarce_in(Path::new("/"), &["completions", shell]));
    assert_eq!(code, Some(0), "{stderr}");
    script
}

#[test]
fn every_shell_completes_every_subcommand_and_its_flags() {
    let all = names(&Arguments::command(), "");
    assert!(all.len() > 15, "{all:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = completions(shell);
        for name in &all {
            let last = name.rsplit('-').next().unwrap();
            assert!(script.contains(last), "{shell} knows no {name}");
        }
        for flag in ["segment-mib", "campaign", "origin", "topology", "redis-sentinel-password-file"] {
            assert!(script.contains(flag), "{shell} knows no --{flag}");
        }
    }
    let (code, _, stderr) = said(&mut scarce_in(Path::new("/"), &["completions", "tcsh"]));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("possible values: bash"), "{stderr}");
}

#[test]
fn bash_completes_with_the_script() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("script"), completions("bash")).unwrap();
    let complete = |words: &str, at: usize| {
        let line = format!(
            "source ./script; COMP_WORDS=({words}); COMP_CWORD={at}; _scarce scarce \"${{COMP_WORDS[{at}]}}\" \
             \"${{COMP_WORDS[{at}-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let (code, stdout, stderr) =
            said(Command::new("bash").args(["-c", &line]).current_dir(folder.path()));
        assert_eq!(code, Some(0), "{stderr}");
        stdout.trim().to_owned()
    };
    assert_eq!(complete("scarce conf", 1), "config");
    assert_eq!(complete("scarce packets v", 2), "verify");
    assert_eq!(complete("scarce serve --seg", 2), "--segment-mib");
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("man");
    let words = ["man", "--out", &pages.to_string_lossy()];
    let (code, stdout, stderr) = said(&mut scarce_in(folder.path(), &words));
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    for name in names(&Arguments::command(), "") {
        let page = std::fs::read_to_string(pages.join(format!("{name}.1")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(&format!(".TH {name} 1")), "{name}: {page}");
        assert!(page.contains(".SH SYNOPSIS") && page.contains("EXIT STATUS"), "{name}: {page}");
    }
    let written = std::fs::read_dir(&pages).unwrap().count();
    assert_eq!(written, names(&Arguments::command(), "").len(), "and none is there for nothing");
    let (code, first, _) = said(&mut scarce_in(folder.path(), &["man"]));
    assert_eq!((code, first), (Some(0), std::fs::read_to_string(pages.join("scarce.1")).unwrap()));
}
