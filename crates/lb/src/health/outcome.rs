//! The result of one check.

use std::io;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// Why the server does not pass.
    Failed(String),
    /// Why it could not be made, which says nothing about the server.
    NotMade(String),
}

impl Outcome {
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(reason.into())
    }

    /// Why it did not pass; empty: it did.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::Failed(reason) | Self::NotMade(reason) => reason,
        }
    }
}

impl From<io::Error> for Outcome {
    fn from(error: io::Error) -> Self {
        if stdx::sys::is_exhausted(&error) {
            return Self::NotMade(error.to_string());
        }
        Self::Failed(match error.kind() {
            io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            io::ErrorKind::ConnectionReset => "connection reset".to_owned(),
            io::ErrorKind::HostUnreachable => "host unreachable".to_owned(),
            io::ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
            io::ErrorKind::UnexpectedEof => "connection closed".to_owned(),
            _ => error.to_string(),
        })
    }
}

/// A text of a server or a program for a reason: one line of printable characters, not too long.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 120;
    let visible = |line: &str| line.trim().chars().filter(|c| !c.is_control()).collect::<String>();
    let line = text.lines().map(visible).find(|line| !line.is_empty()).unwrap_or_default();
    let mut shown: String = line.chars().take(MOST).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_one_short_line() {
        assert_eq!(quoted("\n  disk full \nmore"), "disk full");
        assert_eq!(quoted("a\x1b[31mb"), "a[31mb");
        assert_eq!(quoted(&"x".repeat(1_000)).chars().count(), 121);
        assert_eq!(quoted(&"\0".repeat(1_000)), "");
        assert_eq!(quoted(""), "");
    }
}
