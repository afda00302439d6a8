//! Secrets in separate files.

use std::path::Path;

/// Reads the secret in a file, without the trailing newline. `what` says what it is: a password, a key.
///
/// # Errors
/// What is wrong, and with which file.
pub fn read_secret(path: &Path, what: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the {what} in {}: {error}", path.display()))?;
    let secret = text.trim_end_matches(['\r', '\n']).to_owned();
    if secret.is_empty() {
        return Err(format!("{} holds no {what}", path.display()));
    }
    Ok(secret)
}
