//! Secrets in separate files.

use std::path::Path;

/// Reads the secret in a file, without the trailing newline.
///
/// # Errors
/// What is wrong, and with which file.
pub fn read_secret(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the password in {}: {error}", path.display()))?;
    let secret = text.trim_end_matches(['\r', '\n']).to_owned();
    if secret.is_empty() {
        return Err(format!("{} holds no password", path.display()));
    }
    Ok(secret)
}
