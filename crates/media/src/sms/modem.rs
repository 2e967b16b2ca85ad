//! A modem at a serial line: commands and what it says to them, each within a time.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, ControlModes, OptionalActions, QueueSelector};

use crate::attempt::{Cancel, Failure, Log, Result, Tools, os_error};

/// Bytes of a response that are kept.
const RESPONSE_BYTES_MAX: usize = 16 << 10;
/// The line is not waited for any longer without a look at whether the server stops.
const LOOK: Duration = Duration::from_millis(200);

/// What ends a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The line `OK`.
    Ok,
    /// The prompt for a text.
    Prompt,
    /// The line `OK` behind the number of the sent text: another `OK` may be of an earlier command.
    Sent,
}

/// An open line.
pub(super) struct Modem<'a> {
    line: File,
    tools: &'a Tools,
    /// When the attempt has to be over, by the monotonic clock.
    end: Duration,
    log: &'a mut Log,
}

impl<'a> Modem<'a> {
    /// Opens the line. Its speed stays as the operator has set it.
    pub(super) fn open(path: &Path, tools: &'a Tools, log: &'a mut Log) -> Result<Self> {
        let cannot = |why: &str| format!("cannot open GSM modem \"{}\": {why}", path.display());
        let about = std::fs::metadata(path);
        if about.is_ok_and(|about| !about.file_type().is_char_device()) {
            return Err(Failure::Impossible(cannot("it is not a serial line")));
        }
        let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or(0);
        let line = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
        let line = line.map_err(|error| Failure::Failed(cannot(&os_error(&error))))?;
        let set = || -> io::Result<()> {
            let mut settings = termios::tcgetattr(&line)?;
            settings.make_raw();
            settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
            termios::tcsetattr(&line, OptionalActions::Now, &settings)?;
            Ok(termios::tcflush(&line, QueueSelector::IOFlush)?)
        };
        set().map_err(|error| Failure::Impossible(cannot(&os_error(&error))))?;
        let end = tools.clock.monotonic() + tools.attempt_max;
        Ok(Self { line, tools, end, log })
    }

    /// Sends a command and reads the response. Lines that come by themselves, such as of received messages, are
    /// part of it.
    pub(super) fn command(&mut self, text: &str, until: Until) -> Result<String> {
        self.say(text)?;
        self.listen(until)
    }

    /// Sends a command or a text.
    pub(super) fn say(&mut self, text: &str) -> Result<()> {
        self.log.add(|| format!("> {}", text.trim_end_matches(['\r', '\u{1a}'])));
        self.send(text.as_bytes())
    }

    /// Reads the response.
    pub(super) fn listen(&mut self, until: Until) -> Result<String> {
        let mut response = Vec::new();
        loop {
            match verdict(&response, until) {
                Some(good) => {
                    let text = String::from_utf8_lossy(&response).trim().to_owned();
                    for line in text.lines().filter(|line| !line.trim().is_empty()) {
                        self.log.add(|| format!("< {}", line.trim()));
                    }
                    self.log.respond(|| text.clone());
                    return if good { Ok(text) } else { Err(Failure::Failed(refusal(&text))) };
                }
                None if response.len() >= RESPONSE_BYTES_MAX => {
                    return Err(Failure::failed("the GSM modem sends something else without end"));
                }
                None => self.read(&mut response)?,
            }
        }
    }

    /// Leaves the prompt of an earlier text.
    pub(super) fn escape(&mut self) -> Result<()> {
        self.send(b"\x1b\r")
    }

    fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            self.wait(PollFlags::OUT)?;
            match self.line.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) => pass(&error)?,
            }
        }
        Ok(())
    }

    fn read(&mut self, response: &mut Vec<u8>) -> Result<()> {
        self.wait(PollFlags::IN)?;
        let mut bytes = [0; 512];
        match self.line.read(&mut bytes) {
            Ok(0) => return Err(Failure::failed("the GSM modem is gone")),
            Ok(count) => response.extend(&bytes[..count]),
            Err(error) => pass(&error)?,
        }
        Ok(())
    }

    /// Waits until the line is ready.
    fn wait(&self, flags: PollFlags) -> Result<()> {
        loop {
            let left = self.end.saturating_sub(self.tools.clock.monotonic());
            if left.is_zero() {
                return Err(Failure::failed("the GSM modem does not answer"));
            }
            if *self.tools.cancel.borrow() == Cancel::All {
                return Err(Failure::Cancelled);
            }
            let step = left.min(LOOK);
            let step = Timespec {
                tv_sec: i64::try_from(step.as_secs()).unwrap_or(0),
                tv_nsec: step.subsec_nanos().into(),
            };
            let ready = poll(&mut [PollFd::new(&self.line, flags)], Some(&step));
            match ready {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(gone(&error.into())),
            }
        }
    }
}

/// An error that only says that nothing is there yet is none.
fn pass(error: &io::Error) -> Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(gone(error)),
    }
}

fn gone(error: &io::Error) -> Failure {
    Failure::Failed(format!("the GSM modem is gone: {}", os_error(error)))
}

/// Whether a response is complete, and good.
fn verdict(response: &[u8], until: Until) -> Option<bool> {
    let text = String::from_utf8_lossy(response);
    // The last line may still grow.
    let whole = text.rfind(['\r', '\n']).map_or("", |end| &text[..end]);
    let mut lines = whole.split(['\r', '\n']).map(str::trim);
    let fails = |line: &str| {
        line == "ERROR" || line.starts_with("+CMS ERROR") || line.starts_with("+CME ERROR")
    };
    if lines.clone().any(fails) {
        return Some(false);
    }
    let good = match until {
        Until::Ok => lines.any(|line| line == "OK"),
        Until::Sent => {
            lines.find(|line| line.starts_with("+CMGS:")).is_some()
                && lines.any(|line| line == "OK")
        }
        Until::Prompt => text.trim_end_matches(' ').ends_with('>'),
    };
    good.then_some(true)
}

fn refusal(response: &str) -> String {
    let line = response.lines().map(str::trim).find(|line| line.contains("ERROR"));
    let line: String =
        line.unwrap_or_default().chars().filter(|c| !c.is_control()).take(200).collect();
    format!("the GSM modem answers \"{line}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_end_with_a_whole_line_or_the_prompt() {
        for (response, until, expected) in [
            ("", Until::Ok, None),
            ("\r\nOK", Until::Ok, None),
            ("\r\nOK\r\n", Until::Ok, Some(true)),
            ("AT\r\r\nOK\r\n", Until::Ok, Some(true)),
            ("\r\n+CMTI: \"SM\",1\r\n", Until::Ok, None),
            ("\r\n+CMGS: 7\r\n\r\nOK\r\n", Until::Ok, Some(true)),
            ("\r\n+CMS ERROR: 38\r\n", Until::Ok, Some(false)),
            ("\r\nERROR\r\n", Until::Prompt, Some(false)),
            ("\r\nOK\r\n+CMGS: 7\r\n", Until::Sent, None),
            ("\r\nOK\r\n+CMGS: 7\r\n\r\nOK\r\n", Until::Sent, Some(true)),
            ("\r\n> ", Until::Prompt, Some(true)),
            ("\r\nOK\r\n", Until::Prompt, None),
        ] {
            assert_eq!(verdict(response.as_bytes(), until), expected, "{response:?}");
        }
        assert_eq!(refusal("\r\n+CMS ERROR: 38\r\n"), "the GSM modem answers \"+CMS ERROR: 38\"");
    }
}
