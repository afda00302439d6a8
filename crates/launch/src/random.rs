//! Bytes by chance.

use crate::LaunchError;

/// So many bytes that nobody can foretell.
pub(crate) fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], LaunchError> {
    let mut bytes = [0; COUNT];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    filled.map_err(|error| LaunchError::System(error.into()))?;
    Ok(bytes)
}
