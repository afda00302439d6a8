//! Which deployment in Redis was served from a data directory. An empty Redis does not say that it had one: a server
//! that remembers it refuses to begin anew with balances of zero, and with operation IDs that were applied before.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use scarce_engine_redis::KnownDeployment;
use scarce_settings::ServerSettings;

use super::ServeError;

/// The deployment that must be in Redis: the one that the settings name, or else the one that was served before, unless
/// the operator accepts another one.
///
/// # Errors
/// When what was remembered cannot be read.
pub fn known(settings: &ServerSettings, accepts_other: bool) -> Result<Option<KnownDeployment>, ServeError> {
    let named = named(settings);
    if named.is_some() || accepts_other {
        return Ok(named);
    }
    let path = path(settings);
    let Some(id) = read(&path)? else { return Ok(None) };
    let remedy = "start once with --accept-deployment".to_owned();
    Ok(Some(KnownDeployment { id, named_by: path.display().to_string(), remedy }))
}

/// The deployment that the settings name.
pub(super) fn named(settings: &ServerSettings) -> Option<KnownDeployment> {
    let id = settings.redis_deployment.as_ref()?;
    Some(KnownDeployment {
        id: id.as_str().to_owned(),
        named_by: "the setting redis_deployment".to_owned(),
        remedy: "set redis_deployment to the other ID, or leave it out for a new deployment".to_owned(),
    })
}

fn read(path: &Path) -> Result<Option<String>, ServeError> {
    let unreadable = |reason: String| ServeError::Remembered { path: path.to_owned(), reason };
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| unreadable(error.to_string()))?,
    };
    let id = text.trim().to_ascii_lowercase();
    if id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(Some(id))
    } else {
        Err(unreadable("it does not hold the id of a deployment".to_owned()))
    }
}

/// Remembers the deployment that is served from now on. What to say where that is not possible.
pub(super) fn remember(settings: &ServerSettings, id: &str) -> Option<String> {
    let path = path(settings);
    let is_kept = read(&path).is_ok_and(|kept| kept.as_deref() == Some(id));
    let error = if is_kept { None } else { replace(&path, id).err() };
    let error = error.filter(|_| settings.redis_deployment.is_none())?;
    Some(format!(
        "the deployment {id} cannot be remembered in {}: {error}; an empty Redis would be taken for a new deployment at the next start: set redis_deployment to {id}, or data to a directory that is kept and can be written",
        path.display()
    ))
}

fn replace(path: &Path, id: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = write(&temporary, id).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // What is left of it would stay there.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    File::open(folder)?.sync_all()
}

fn write(path: &Path, id: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    writeln!(file, "{id}")?;
    file.sync_all()
}

/// The file of a prefix: deployments with different ones may be served from one directory.
fn path(settings: &ServerSettings) -> PathBuf {
    let mut name = "redis-deployment-".to_owned();
    for byte in settings.redis_prefix.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(name, "%{byte:02X}")),
        }
    }
    settings.data.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_however_it_is_written_and_nothing_is_left_of_a_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("redis-deployment-x");
        fs::write(&path, "0123456789ABCDEF0123456789abcdef\n").expect("written");
        assert_eq!(read(&path).expect("an id").as_deref(), Some("0123456789abcdef0123456789abcdef"));
        fs::remove_file(&path).expect("removed");
        // What is to be replaced is a folder with something in it.
        fs::create_dir_all(path.join("inner")).expect("a folder");
        assert!(replace(&path, "0").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }
}
