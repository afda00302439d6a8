//! The Helm chart: helm's own linter, the mistakes that it must refuse, and whether the server takes the settings it renders.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::step::{Log, Tally};
use crate::{place, process};

type Ended = Result<Tally, Box<dyn Error>>;

/// Values that must be taken, and settings that must be in what is rendered.
const GOOD: &[(&str, &str)] = &[
    ("password.existingSecret=shop", "partitions = 1"),
    ("password.value=choose-a-password,settings.partitions=4", "partitions = 4"),
    ("password.value=choose-a-password,replicas=3,settings.engine=redis", "engine = \"redis\""),
    ("password.existingSecret=shop,tls.existingSecret=shop-tls,serviceMonitor.enabled=true", "tls_key = "),
    (
        "password.existingSecret=shop,settings.limits\\.operations_max=64000000",
        "limits.operations_max = 64000000",
    ),
];

/// Values that must be refused, and a word of the reason.
const BAD: &[(&str, &str)] = &[
    ("replicas=1", "set password.existingSecret"),
    ("password.value=short", "password.value"),
    ("password.existingSecret=shop,replicas=2", "replicas must be 1"),
    ("password.existingSecret=shop,settings.data=/tmp", "settings.data"),
    ("password.existingSecret=shop,persistence.sise=1Gi", "sise"),
];

/// Checks the chart, if helm is there.
pub fn helm(log: &mut Log) -> Ended {
    if !place::has_program("helm") {
        return Ok(Tally::skipped(
            "helm is not installed; go install helm.sh/helm/v3/cmd/helm@v3.18.4 builds it in minutes",
        ));
    }
    let mut tally = Tally::default();
    let mut count = |is_right: bool| {
        tally.passed += usize::from(is_right);
        tally.failed += usize::from(!is_right);
    };
    for (values, setting) in GOOD {
        let mut lint = helm_on(&["lint", "--strict"], values);
        log.announce(&lint);
        let linted = process::finish(&mut lint)?;
        let rendered = process::finish(&mut helm_on(&["template", "shop"], values))?;
        let settings = settings(&rendered.output);
        let checked = check(&settings, values)?;
        let is_right =
            linted.succeeded && rendered.succeeded && settings.contains(setting) && checked.succeeded;
        if !is_right {
            log.write(&format!("{}\n{}\n{}", linted.output, rendered.output, checked.output));
        }
        count(is_right);
    }
    for (values, reason) in BAD {
        let rendered = process::finish(&mut helm_on(&["template", "shop"], values))?;
        let is_right = !rendered.succeeded && rendered.output.contains(reason);
        if !is_right {
            log.write(&format!("{values} was not refused with '{reason}':\n{}", rendered.output));
        }
        count(is_right);
    }
    Ok(tally)
}

fn chart() -> PathBuf {
    place::root().join("packaging/helm/scarce")
}

fn helm_on(words: &[&str], values: &str) -> Command {
    let mut command = Command::new("helm");
    // A version that the chart is for: helm itself may have been built without one.
    command.args(words).arg(chart()).args(["--kube-version", "1.31.0", "--set", values]);
    command
}

/// The settings in a rendered ConfigMap.
fn settings(rendered: &str) -> String {
    let (_, after) = rendered.split_once("  scarce.toml: |\n").unwrap_or_default();
    let lines = after.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.trim_start())).collect()
}

/// Asks the server whether it takes the settings, with the files that a pod would have.
fn check(settings: &str, values: &str) -> Result<process::Finished, Box<dyn Error>> {
    let folder = place::fresh("chart")?;
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text);
    write("password", "choose-a-password")?;
    let here = |settings: &str, path: &str, name: &str| settings.replace(path, &shown(&folder.join(name)));
    // The certificate is only read when the server starts.
    let settings = here(settings, "/etc/scarce/secret/password", "password");
    write("scarce.toml", &settings)?;
    let mut command = Command::new(place::scarce());
    let checked = process::finish(command.args(["config", "check"]).arg(folder.join("scarce.toml")))?;
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{values}: {error}"))?;
    Ok(checked)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_in_what_is_rendered() {
        let rendered =
            "kind: ConfigMap\ndata:\n  scarce.toml: |\n    a = 1\n\n    b = \"x\"\n---\nkind: Service\n";
        assert_eq!(settings(rendered), "a = 1\n\nb = \"x\"\n");
    }
}
