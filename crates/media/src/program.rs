//! Programs of the operator's folder: arguments as they are, without a shell, in an environment of their own.

use std::io;
use std::path::{Component, Path, PathBuf};

use collect::program::{self, Complete, Excess, Limits, Stopped, Streams};
use model::Outgoing;
use tokio::process::Command;

use crate::attempt::{Cancel, Failure, Log, Result, Sent, Tools, os_error};
use crate::settings::Program;
use crate::webhook::message_id;

/// Bytes of a program's output that are kept; it may print more.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// Bytes of one argument (Linux: 128 KiB) and of all.
const ARGUMENT_BYTES_MAX: usize = 128 << 10;
const ARGUMENTS_BYTES_MAX: usize = 1 << 20;

/// Runs the program once. Its exit status 0 means sent.
pub(crate) async fn send(
    tools: &Tools,
    settings: &Program,
    message: &Outgoing,
    log: &mut Log,
) -> Result<Sent> {
    let path = find(tools.programs.as_deref(), &settings.name)?;
    let arguments = arguments(message)?;
    log.add(|| format!("> {} {arguments:?}", path.display()));
    let mut command = Command::new(&path);
    program::clean(command.args(arguments));
    let limits = Limits {
        time: tools.attempt_max,
        bytes: OUTPUT_BYTES_MAX,
        excess: Excess::Cut,
        complete: Complete::AtExit,
    };
    let ended = program::run(command, Streams::Joined, limits, tools.cancelled(Cancel::All)).await;
    let ended = ended.map_err(|why| match why {
        Stopped::NotStarted(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                Failure::Impossible(message_of(&path, &error))
            }
            _ => Failure::Failed(message_of(&path, &error)),
        },
        Stopped::Cancelled | Stopped::Lost(_) => Failure::Unknown(why.to_string()),
        Stopped::TimedOut | Stopped::TooMuch(_) => Failure::Failed(why.to_string()),
    })?;
    log.add(|| ended.text());
    log.respond(|| ended.text());
    if ended.status.success() {
        let message_id = if settings.living { message_id(&ended.text()) } else { String::new() };
        return Ok(Sent { message_id, ..Sent::default() });
    }
    Err(Failure::Failed(ended.failure().trim_end().to_owned()))
}

fn message_of(path: &Path, error: &io::Error) -> String {
    format!("Cannot execute command \"{}\": {}", path.display(), os_error(error))
}

/// The file; its name does not lead out of the folder, though the file may be a link that the operator made.
fn find(folder: Option<&Path>, name: &str) -> Result<PathBuf> {
    let Some(folder) = folder else {
        return Err(Failure::Impossible(String::from("there is no folder of alert scripts")));
    };
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(file)), None) if file.len() == name.len() => Ok(folder.join(file)),
        _ => Err(Failure::Impossible(format!("invalid name of an alert script: \"{name}\""))),
    }
}

fn arguments(message: &Outgoing) -> Result<Vec<&str>> {
    let arguments: Vec<&str> = message.parameters.iter().map(|(_, value)| value.as_str()).collect();
    let all: usize = arguments.iter().map(|argument| argument.len() + 1).sum();
    if arguments.iter().any(|argument| argument.contains('\0')) {
        return Err(Failure::Impossible(String::from("an argument has a NUL character")));
    }
    if all > ARGUMENTS_BYTES_MAX || arguments.iter().any(|one| one.len() >= ARGUMENT_BYTES_MAX) {
        return Err(Failure::Impossible(String::from("the arguments are too long")));
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;
    use crate::testing::{message, tools};

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn with(name: &str, text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            Self(folder)
        }

        async fn run(&self, name: &str, arguments: &[&str], limit: Duration) -> Result<Sent> {
            let mut tools = tools();
            tools.programs = Some(self.0.path().to_owned());
            tools.attempt_max = limit;
            let mut message = message("alice");
            message.parameters =
                arguments.iter().map(|value| (String::new(), (*value).to_owned())).collect();
            let program = Program { name: name.to_owned(), living: name == "living" };
            loop {
                match send(&tools, &program, &message, &mut Log::off()).await {
                    // Another test's process has the file open between fork and exec.
                    Err(Failure::Failed(why)) if why.contains("Text file busy") => {}
                    result => return result,
                }
            }
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn arguments_arrive_as_they_are() {
        let folder =
            Folder::with("sink.sh", "printf '%s|' \"$@\"; env | sort | cut -d= -f1; exit 1");
        let arguments = ["a", "", "two words", "$HOME `id` 'x' \"y\"", "line\nsecond \\ ä", "-n"];
        let result = folder.run("sink.sh", &arguments, LONG).await;
        let Err(Failure::Failed(text)) = result else { panic!("{result:?}") };
        let (shown, environment) = text.rsplit_once('|').unwrap();
        assert_eq!(shown, arguments.join("|"));
        let names: Vec<_> = environment
            .lines()
            .filter(|name| !["PWD", "_", "SHLVL", "OLDPWD"].contains(name))
            .collect();
        assert_eq!(names, ["LANG", "PATH"]);
    }

    #[tokio::test]
    async fn errors_are_what_the_program_printed() {
        for (text, expected) in [
            ("exit 0", Ok(Sent::default())),
            ("echo a; echo b >&2; exit 3", Err(Failure::failed("a\nb"))),
            ("exit 5", Err(Failure::failed("Process exited with code: 5."))),
            ("kill -9 $$", Err(Failure::failed("Process killed by signal: 9."))),
            // What it leaves behind keeps its output open.
            ("sleep 1000 & echo $! > \"$0.pid\"; exit 0", Ok(Sent::default())),
        ] {
            let folder = Folder::with("s", text);
            assert_eq!(folder.run("s", &[], LONG).await, expected, "{text}");
            if let Ok(pid) = std::fs::read_to_string(folder.0.path().join("s.pid")) {
                assert!(
                    std::process::Command::new("kill").arg(pid.trim()).status().unwrap().success()
                );
            }
        }
    }

    #[tokio::test]
    async fn a_living_program_prints_the_id_of_its_message() {
        let print = "echo '{\"message_id\":\"m 1\"}'";
        let folder = Folder::with("living", print);
        let sent = Sent { message_id: String::from("m 1"), ..Sent::default() };
        assert_eq!(folder.run("living", &[], LONG).await, Ok(sent));
        let folder = Folder::with("s", print);
        assert_eq!(folder.run("s", &[], LONG).await, Ok(Sent::default()), "it is not living");
    }

    #[tokio::test]
    async fn much_output_is_cut() {
        let folder = Folder::with("s", "head -c 3000000 /dev/zero | tr '\\0' x; exit 1");
        let Err(Failure::Failed(text)) = folder.run("s", &[], LONG).await else { panic!() };
        assert_eq!(text.len(), OUTPUT_BYTES_MAX);
    }

    #[tokio::test]
    async fn names_do_not_leave_the_folder() {
        let folder = Folder::with("s", "exit 0");
        for name in ["", "..", ".", "/bin/true", "../s", "a/../s", "./s", "s/", "s/.", "a/b"] {
            let result = folder.run(name, &[], LONG).await;
            assert!(matches!(result, Err(Failure::Impossible(_))), "{name}: {result:?}");
        }
        let missing = folder.0.path().join("none");
        let expected = format!(
            "Cannot execute command \"{}\": [2] No such file or directory",
            missing.display()
        );
        assert_eq!(folder.run("none", &[], LONG).await, Err(Failure::Impossible(expected)));
        let result = folder.run("s", &["a\0b"], LONG).await;
        assert!(matches!(result, Err(Failure::Impossible(_))), "{result:?}");
    }

    #[tokio::test]
    async fn what_takes_too_long_ends_with_its_children() {
        let folder = Folder::with("s", "sleep 1000 & echo $! > \"$1\"; wait");
        let file = folder.0.path().join("pid");
        let mut limit = Duration::from_millis(250);
        let child = loop {
            let result = folder.run("s", &[file.to_str().unwrap()], limit).await;
            assert_eq!(result, Err(Failure::failed("Timeout while executing a shell script.")));
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
