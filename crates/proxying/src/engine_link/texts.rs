//! Names in messages of [`analytics`](super::analytics).

use super::{Fields, LinkError};

/// Kind of the message, for errors.
pub(super) const KIND: u8 = 11;
/// Longest name that is read.
pub(super) const NAME_MAX: usize = 1_024;

pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn read_name(from: &mut Fields<'_>) -> Result<Box<str>, LinkError> {
    let length = usize::from(from.u16()?);
    if length > NAME_MAX {
        return Err(LinkError::Text(KIND));
    }
    let text = std::str::from_utf8(from.take(length)?).map_err(|_| LinkError::Text(KIND))?;
    Ok(text.into())
}
