//! Keys that run a shell command: `UserParameter`, and `system.run`.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use collect::program::{self, Complete, Excess, Limits, Stopped, Streams};
use eval::key::ItemKey;
use tokio::process::Command;

use crate::errors::{UNSUPPORTED, system_error};

/// Largest output of a command.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Signs that parameters of commands must not have, as in 7.0: a shell would read them.
const REFUSED: &str = "\\'\"`*?[]{}~$!&;()<>|#@\n";
const REFUSED_TEXT: &str = "Special characters \"\\, ', \", `, *, ?, [, ], {, }, ~, $, !, &, ;, (, ), <, >, |, #, @, 0x0a\" \
                            are not allowed in the parameters.";
/// Ends a key that takes parameters.
const FLEXIBLE: &str = "[*]";
const SYSTEM_RUN: &str = "system.run";

/// Keys that run commands. None by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands {
    user: BTreeMap<String, UserParameter>,
    /// Parameters may have all signs.
    pub is_unsafe: bool,
    /// Working folder of commands of user parameters; `None` = the agent's own.
    pub folder: Option<PathBuf>,
    /// The key `system.run`, which rules must allow in addition.
    pub system_run: SystemRun,
}

/// Whether the key `system.run` exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SystemRun {
    /// It is not supported.
    #[default]
    Off,
    /// It runs commands.
    On,
    /// It runs commands and logs them.
    Logged,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct UserParameter {
    /// `key[*]`
    is_flexible: bool,
    command: String,
}

/// A user parameter that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Not `key,command`.
    #[error("\"{0}\" is not a user parameter, such as key,command or key[*],command")]
    Form(String),
    /// The key exists.
    #[error("key \"{0}\" already exists")]
    Exists(String),
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    command: String,
    folder: Option<PathBuf>,
    waits: bool,
}

impl Commands {
    /// Adds a user parameter in the form `key,command` or `key[*],command`. It hides a key of the agent with that
    /// name.
    pub fn add(&mut self, text: &str) -> Result<(), CommandError> {
        let form = || CommandError::Form(text.to_owned());
        let (key, command) = text.split_once(',').ok_or_else(form)?;
        let (name, is_flexible) = match key.strip_suffix(FLEXIBLE) {
            Some(name) => (name, true),
            None => (key, false),
        };
        if !ItemKey::parse(name).is_ok_and(|key| key.params.is_none()) {
            return Err(form());
        }
        if self.user.contains_key(name) || name == SYSTEM_RUN {
            return Err(CommandError::Exists(name.to_owned()));
        }
        let command = command.trim_start().to_owned();
        self.user.insert(name.to_owned(), UserParameter { is_flexible, command });
        Ok(())
    }

    /// Keys of user parameters, in alphabetical order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.user.keys().map(String::as_str)
    }

    /// The command of a key; `None` = the key runs no command.
    pub(crate) fn job(&self, key: &ItemKey) -> Option<Result<Job, String>> {
        if key.name == SYSTEM_RUN {
            return Some(self.system_run(key));
        }
        let parameter = self.user.get(&key.name)?;
        if !parameter.is_flexible && key.params.is_some() {
            return Some(Err(String::from("Item does not allow parameters.")));
        }
        let command = match parameter.is_flexible {
            true => expand(&parameter.command, key, self.is_unsafe),
            false => Ok(parameter.command.clone()),
        };
        Some(command.map(|command| Job { command, folder: self.folder.clone(), waits: true }))
    }

    fn system_run(&self, key: &ItemKey) -> Result<Job, String> {
        if self.system_run == SystemRun::Off {
            return Err(String::from(UNSUPPORTED));
        }
        if key.param_count() > 2 {
            return Err(String::from("Too many parameters."));
        }
        let command = key.param(0).filter(|command| !command.is_empty());
        let command = command.ok_or("Invalid first parameter.")?;
        let waits = match key.param(1).as_deref() {
            None | Some("" | "wait") => true,
            Some("nowait") => false,
            Some(_) => return Err(String::from("Invalid second parameter.")),
        };
        if self.system_run == SystemRun::Logged {
            tracing::info!("executing command \"{command}\"");
        }
        Ok(Job { command, folder: None, waits })
    }
}

/// Puts the parameters of a key into a command: `$1` to `$9`, `$0` = the command itself, `$$` = `$`.
fn expand(command: &str, key: &ItemKey, is_unsafe: bool) -> Result<String, String> {
    let mut expanded = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        rest = after;
        match after.bytes().next() {
            Some(b'$') => expanded.push('$'),
            Some(b'0') => expanded.push_str(command),
            Some(digit @ b'1'..=b'9') => {
                let value = key.param(usize::from(digit - b'1')).unwrap_or_default();
                if !is_unsafe && value.contains(|sign: char| REFUSED.contains(sign)) {
                    return Err(String::from(REFUSED_TEXT));
                }
                expanded.push_str(&value);
            }
            _ => {
                expanded.push('$');
                continue;
            }
        }
        rest = &after[1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

impl Job {
    /// Runs the command. When its time is over, it is killed with its process group.
    pub(crate) async fn run(self, time: Duration) -> Result<String, String> {
        let mut shell = Command::new("/bin/sh");
        // The shell ends its command lines at NUL, and the system refuses them.
        shell.arg0("sh").arg("-c").arg(self.command.split('\0').next().unwrap_or_default());
        if let Some(folder) = &self.folder {
            shell.current_dir(folder);
        }
        if !self.waits {
            shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // The system's runtime reaps it.
            let started = shell.process_group(0).spawn();
            return started.map(|_| String::from("1")).map_err(|error| cannot_start(&error));
        }
        let bytes = OUTPUT_BYTES_MAX;
        let limits = Limits { time, bytes, excess: Excess::Kill, complete: Complete::AtClose };
        match program::run(shell, Streams::Joined, limits, std::future::pending()).await {
            Ok(ended) => match ended.status.signal() {
                Some(signal) => Err(format!("Process killed by signal: {signal}.")),
                None => Ok(text(&ended.out)),
            },
            Err(Stopped::NotStarted(error)) => Err(cannot_start(&error)),
            Err(stopped) => Err(stopped.to_string()),
        }
    }
}

fn cannot_start(error: &std::io::Error) -> String {
    format!("Cannot execute command: {}", system_error(error))
}

/// An output as a value, as agents return it: up to its first NUL, without white space at the end. What is
/// not UTF-8 becomes `?`.
fn text(output: &[u8]) -> String {
    let output = output.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut text = String::with_capacity(output.len());
    for chunk in output.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('?');
        }
    }
    text.truncate(text.trim_end_matches([' ', '\t', '\r', '\n']).len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn commands(lines: &[&str]) -> Commands {
        let mut commands = Commands::default();
        for line in lines {
            commands.add(line).unwrap();
        }
        commands
    }

    fn command(commands: &Commands, key: &str) -> Result<String, String> {
        let job = commands.job(&ItemKey::parse(key).unwrap()).unwrap();
        job.map(|job| job.command)
    }

    /// As a 7.0.22 agent runs them.
    #[test]
    fn parameters_are_put_in_as_by_agentd() {
        let line = "e[*],  echo $$1|$$|$$x|$1$2|$$$1|$$$|$a$10$9|$0x|$";
        let raw = line.strip_prefix("e[*],  ").unwrap();
        let all = commands(&[line, "arr[*],$1/$2", "plain,echo $1"]);
        let expected =
            |a: &str, b: &str, i: &str| format!("echo $1|$|$x|{a}{b}|${a}|$$|$a{a}0{i}|{raw}x|$");
        for (key, a, b, i) in [
            ("e", "", "", ""),
            ("e[]", "", "", ""),
            ("e[a,b]", "a", "b", ""),
            ("e[\"a b\",,,,,,,,nine,ten;]", "a b", "", "nine"),
        ] {
            assert_eq!(command(&all, key), Ok(expected(a, b, i)), "{key}");
        }
        assert_eq!(command(&all, "arr[[a,b],c]").as_deref(), Ok("a,b/c"));
        assert_eq!(command(&all, "plain").as_deref(), Ok("echo $1"));
        for key in ["plain[]", "plain[a]"] {
            assert_eq!(command(&all, key), Err("Item does not allow parameters.".into()), "{key}");
        }
        assert_eq!(all.job(&ItemKey::parse("other").unwrap()), None);
    }

    #[test]
    fn signs_of_shells_are_refused() {
        let mut all = commands(&["e[*],echo '$2'"]);
        for sign in REFUSED.chars() {
            let key = ItemKey {
                name: "e".into(),
                params: ["ok;", &format!("a{sign}b")]
                    .map(|value| eval::key::KeyParam::Text { value: value.into(), quoted: true })
                    .to_vec()
                    .into(),
            };
            let refused = Err(String::from(REFUSED_TEXT));
            assert_eq!(all.job(&key).unwrap().map(|job| job.command), refused, "{sign:?}");
            all.is_unsafe = true;
            let expected = format!("echo 'a{sign}b'");
            assert_eq!(all.job(&key).unwrap().map(|job| job.command), Ok(expected));
            all.is_unsafe = false;
        }
        let usual = "/etc/../x-y_z:%+=^ü";
        assert_eq!(command(&all, &format!("e[,{usual}]")), Ok(format!("echo '{usual}'")));
    }

    #[test]
    fn wrong_user_parameters_are_refused() {
        let mut all = commands(&["a,b", "f[*],b", "empty,"]);
        for line in ["a", "c d,e", "c[x],d", "c[*]x,d", "c[ *],d", ",d"] {
            assert_eq!(all.add(line), Err(CommandError::Form(line.into())), "{line}");
        }
        for line in ["a,c", "a[*],c", "f,c", "system.run[*],x"] {
            let name = line.split([',', '[']).next().unwrap();
            assert_eq!(all.add(line), Err(CommandError::Exists(name.into())), "{line}");
        }
        assert_eq!(all.names().collect::<Vec<_>>(), ["a", "empty", "f"]);
    }

    #[test]
    fn system_run_must_be_turned_on() {
        let mut all = Commands::default();
        assert_eq!(command(&all, "system.run[id]"), Err(UNSUPPORTED.into()));
        all.system_run = SystemRun::On;
        assert_eq!(command(&all, "system.run[\"id; x\"]").as_deref(), Ok("id; x"));
        for (key, error) in [
            ("system.run", "Invalid first parameter."),
            ("system.run[]", "Invalid first parameter."),
            ("system.run[id,x]", "Invalid second parameter."),
            ("system.run[id,wait,]", "Too many parameters."),
        ] {
            assert_eq!(command(&all, key), Err(error.into()), "{key}");
        }
    }

    async fn run(command: &str, time: Duration) -> Result<String, String> {
        Job { command: command.into(), folder: Some("/tmp".into()), waits: true }.run(time).await
    }

    #[tokio::test]
    async fn values_are_those_of_agentd() {
        for (command, expected) in [
            ("echo out; echo err >&2; exit 3", Ok("out\nerr")),
            ("pwd", Ok("/tmp")),
            ("exit 4", Ok("")),
            ("", Ok("")),
            ("printf '  a \\n \\t\\r\\n'", Ok("  a")),
            ("printf 'a\\000b'", Ok("a")),
            ("printf 'a\\342\\202b\\377c\\n'", Ok("a?b?c")),
            ("kill -9 $$", Err("Process killed by signal: 9.")),
            ("cat", Ok("")),
        ] {
            let value = run(command, LONG).await;
            assert_eq!(value.as_deref().map_err(String::as_str), expected, "{command}");
        }
        let gone = Job { command: "x".into(), folder: Some("/no/such".into()), waits: true };
        let error = gone.run(LONG).await.unwrap_err();
        assert_eq!(error, "Cannot execute command: [2] No such file or directory");
    }

    #[tokio::test]
    async fn commands_have_a_time_and_a_size() {
        let short = Duration::from_millis(100);
        for endless in ["sleep 1000", "sleep 1000 & echo 1", "while :; do :; done"] {
            let error = run(endless, short).await.unwrap_err();
            assert_eq!(error, "Timeout while executing a shell script.", "{endless}");
        }
        let error = run("yes", LONG).await.unwrap_err();
        assert_eq!(error, "The program printed more than 16 MiB.");
    }
}
