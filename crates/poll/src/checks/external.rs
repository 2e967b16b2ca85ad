//! External checks: a program of the operator's own, from one folder.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use collect::program::{self, Complete, Excess, Limits, Stopped, Streams};
use eval::key::ItemKey;
use tokio::process::Command;

use super::check::Check;
use super::reply::CheckReply;

/// Bytes of a program's output that are taken (the field's limit); what prints more has failed.
const OUTPUT_BYTES_MAX: usize = 16 << 20;

/// Runs the program that the key names with the key's parameters as its arguments.
pub(crate) async fn check(check: &Check<'_>) -> CheckReply {
    let result = match find(&check.shared.config.external_scripts, &check.item.key) {
        Ok((program, arguments)) => run(&program, &arguments, check.timeout).await,
        Err(why) => Err(why),
    };
    match result {
        Ok(text) => CheckReply::Value(text),
        Err(why) => CheckReply::NotSupported(why),
    }
}

/// File and arguments.
fn find(folder: &Path, key: &str) -> Result<(PathBuf, Vec<String>), String> {
    let key = ItemKey::parse(key).map_err(|error| error.to_string())?;
    let mut parts = Path::new(&*key.name).components();
    let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else {
        return Err(format!("Invalid name of an external check: \"{}\".", key.name));
    };
    let file = folder.join(name);
    // The file may be a link to wherever the program is; the folder is what the operator trusts.
    match std::fs::metadata(&file) {
        Ok(about) if about.is_file() => {}
        Ok(_) => return Err(format!("{}: not a file", file.display())),
        Err(error) => return Err(format!("{}: {error}", file.display())),
    }
    let arguments = (0..key.param_count()).map(|n| key.param(n).unwrap_or_default()).collect();
    Ok((file, arguments))
}

/// The output without the white space at its end.
async fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    time: std::time::Duration,
) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    let limits =
        Limits { time, bytes: OUTPUT_BYTES_MAX, excess: Excess::Kill, complete: Complete::AtExit };
    let ended = program::run(command, Streams::Apart, limits, std::future::pending()).await;
    let ended = ended.map_err(|why| match why {
        Stopped::NotStarted(error) => format!("Cannot run {}: {error}", program.display()),
        why => why.to_string(),
    })?;
    let (out, err) = (ended.text(), String::from_utf8_lossy(&ended.err));
    if !ended.status.success() {
        let text = if err.trim().is_empty() { &*out } else { &*err };
        return Err(format!("{} ({})", text.trim_end(), ended.status).trim_start().to_owned());
    }
    Ok(out.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    fn folder(scripts: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in scripts {
            let file = folder.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    async fn ask(folder: &Path, key: &str, limit: Duration) -> Result<String, String> {
        let (program, arguments) = find(folder, key)?;
        loop {
            match run(&program, &arguments, limit).await {
                // Another test's process has the file open between fork and exec.
                Err(why) if why.contains("Text file busy") => {}
                result => return result,
            }
        }
    }

    #[tokio::test]
    async fn programs_run_with_the_parameters_of_the_key() {
        let folder = folder(&[
            ("echo.sh", "printf '%s|' \"$@\"; echo"),
            ("many.sh", "head -c 17000000 /dev/zero"),
            ("fails.sh", "echo out; echo because >&2; exit 3"),
            ("lines.sh", "printf 'one\\n two \\n\\n'"),
        ]);
        let long = Duration::from_secs(60);
        for (key, expected) in [
            ("echo.sh", Ok("|")),
            ("echo.sh[]", Ok("|")),
            ("echo.sh[a,\"b c\",,\"$(id)\"]", Ok("a|b c||$(id)|")),
            ("lines.sh", Ok("one\n two")),
            ("fails.sh", Err("because (exit status: 3)")),
            ("many.sh", Err("more than 16 MiB")),
            ("none.sh", Err("none.sh: No such file")),
            ("..", Err("Invalid name")),
            ("a/b", Err("")),
        ] {
            match (ask(folder.path(), key, long).await, expected) {
                (Ok(value), Ok(expected)) => assert_eq!(value, expected, "{key}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{key}: {why}"),
                (result, _) => panic!("{key}: {result:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_takes_too_long_is_killed_with_its_children() {
        let folder = folder(&[("slow.sh", "sleep 1000 & echo $! > \"$1\"; wait")]);
        let file = folder.path().join("pid");
        let key = format!("slow.sh[{}]", file.display());
        let mut limit = Duration::from_millis(250);
        let child = loop {
            let result = ask(folder.path(), &key, limit).await;
            assert_eq!(result, Err(String::from("Timeout while executing a shell script.")));
            match std::fs::read_to_string(&file) {
                Ok(child) if child.ends_with('\n') => break child,
                // It was killed before it began.
                _ => limit *= 2,
            }
        };
        // Its new parent has to reap it.
        for _ in 0..6_000 {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
            if state.is_err() || state.is_ok_and(|text| text.contains(") Z ")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("process {child} still runs");
    }
}
