//! What health monitors found out about servers, as a part of [`analytics`](super::analytics).

use super::texts::{KIND, NAME_MAX, read_name, write_text};
use super::{Fields, LinkError, put_u64};

/// Monitors of one server.
const MONITORS_MAX: usize = 16;
/// Longest reason of a failed check in bytes.
pub const REASON_MAX: usize = 256;

/// The result of a health monitor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It has not decided, or could not check.
    #[default]
    Unknown = 0,
    /// The server passes.
    Passes = 1,
    /// The server fails.
    Fails = 2,
}

impl Verdict {
    /// Its word in the API.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Passes => "passes",
            Self::Fails => "fails",
        }
    }
}

/// What a health monitor found out about a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Monitored {
    /// Name of the monitor.
    pub name: Box<str>,
    pub verdict: Verdict,
    /// Why the last check failed or could not be made; empty: it passed, or there was none.
    pub reason: Box<str>,
    /// When the verdict changed: Unix time in seconds; 0: never.
    pub changed_at: u64,
    /// When the last check ended: Unix time in seconds; 0: never.
    pub checked_at: u64,
}

/// Writes the monitors of a server, no more than 16.
pub(super) fn write(out: &mut Vec<u8>, monitors: &[Monitored]) {
    let monitors = monitors.get(..MONITORS_MAX).unwrap_or(monitors);
    out.push(u8::try_from(monitors.len()).unwrap_or(u8::MAX));
    for monitor in monitors {
        write_text(out, short(&monitor.name, NAME_MAX / 2));
        out.push(monitor.verdict as u8);
        write_text(out, short(&monitor.reason, REASON_MAX));
        put_u64(out, monitor.changed_at);
        put_u64(out, monitor.checked_at);
    }
}

/// The start of a text, whole characters up to this number of bytes.
fn short(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Reads the monitors of a server.
pub(super) fn read(from: &mut Fields<'_>) -> Result<Vec<Monitored>, LinkError> {
    let count = usize::from(from.u8()?);
    if count > MONITORS_MAX {
        return Err(LinkError::Length(KIND));
    }
    (0..count).map(|_| read_monitor(from)).collect()
}

fn read_monitor(from: &mut Fields<'_>) -> Result<Monitored, LinkError> {
    let name = read_name(from)?;
    let verdict = match from.u8()? {
        0 => Verdict::Unknown,
        1 => Verdict::Passes,
        2 => Verdict::Fails,
        _ => return Err(LinkError::Length(KIND)),
    };
    let reason = read_name(from)?;
    Ok(Monitored { name, verdict, reason, changed_at: from.u64()?, checked_at: from.u64()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(monitors: &[Monitored]) -> Vec<Monitored> {
        let mut bytes = Vec::new();
        write(&mut bytes, monitors);
        let mut from = Fields { kind: KIND, rest: &bytes };
        let monitors = read(&mut from).unwrap();
        assert!(from.rest.is_empty());
        for end in 0..bytes.len() {
            assert!(read(&mut Fields { kind: KIND, rest: &bytes[..end] }).is_err(), "{end}");
        }
        monitors
    }

    fn monitored(name: &str, reason: &str) -> Monitored {
        Monitored {
            name: name.into(),
            verdict: Verdict::Fails,
            reason: reason.into(),
            changed_at: 8,
            checked_at: 9,
        }
    }

    #[test]
    fn monitors_of_a_server_are_bounded() {
        let monitors = [monitored("a", "connection refused"), monitored("b", "")];
        assert_eq!(again(&monitors), monitors);
        let many = again(&vec![monitored("a", &"ä".repeat(REASON_MAX)); 20]);
        assert_eq!(many.len(), MONITORS_MAX);
        assert_eq!(many[0].reason.len(), REASON_MAX);
        assert!(read(&mut Fields { kind: KIND, rest: &[17] }).is_err());
    }
}
