//! The user's program that sets and removes TXT records, for checks by DNS (RFC 8555, 8.4).

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// Time for one call: the record must be visible at its end.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A TXT record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Name with `_acme-challenge.`, without a dot at the end.
    pub(super) name: String,
    pub(super) value: String,
}

impl Record {
    /// That of a host name without `*.`.
    pub(super) fn of(host: &str, value: String) -> Self {
        Self { name: format!("_acme-challenge.{host}"), value }
    }
}

/// What the program does with a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    Add,
    Remove,
}

/// Calls `PROGRAM add|remove NAME VALUE`. Its messages go to the engine's standard error.
///
/// # Errors
/// The program cannot be started, fails, or takes too long.
pub(super) async fn call(program: &Path, action: Action, record: &Record) -> Result<(), String> {
    let word = match action {
        Action::Add => "add",
        Action::Remove => "remove",
    };
    let shown = format!("'acme.dns_hook': {} {word} {}", program.display(), record.name);
    let mut command = Command::new(program);
    command.args([word, &record.name, &record.value]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    match tokio::time::timeout(TIMEOUT, command.status()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{shown} ended with {status}")),
        Ok(Err(error)) => Err(format!("{shown} cannot be started: {error}")),
        Err(_) => Err(format!("{shown} took longer than {} s", TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn the_program_gets_the_record_and_its_failure_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (program, seen) = (folder.path().join("hook"), folder.path().join("seen"));
        let text = format!("#!/bin/sh\necho \"$#\" \"$@\" >> {}\n[ $1 = add ]\n", seen.display());
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
        let record = Record::of("a.example.com", "-x;y".to_owned());
        // Another test's process may have the file open between fork and exec.
        while let Err(error) = call(&program, Action::Add, &record).await {
            assert!(error.contains("Text file busy"), "{error}");
        }
        let error = call(&program, Action::Remove, &record).await.unwrap_err();
        assert!(
            error.contains("remove _acme-challenge.a.example.com ended with exit status: 1"),
            "{error}"
        );
        let seen = std::fs::read_to_string(seen).unwrap();
        assert_eq!(seen.lines().next(), Some("3 add _acme-challenge.a.example.com -x;y"));
        let error = call(Path::new("/nonexistent"), Action::Add, &record).await.unwrap_err();
        assert!(error.contains("cannot be started"), "{error}");
    }
}
