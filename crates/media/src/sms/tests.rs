//! A simulated modem at the other side of a pseudo terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;
use crate::testing::{message, tools};

/// What the modem answers to a text.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Sent,
    Refuses,
    Silent,
    /// It says nothing to any command.
    Dead,
}

/// Starts a modem; it returns the commands that it got, without their ends.
fn modem(answer: Answer, echoes: bool) -> (PathBuf, File, JoinHandle<Vec<String>>) {
    let side = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&side).unwrap();
    unlockpt(&side).unwrap();
    let path = PathBuf::from(ptsname(&side, Vec::new()).unwrap().to_str().unwrap());
    // Without an open line on the other side, reading fails.
    let kept = File::options().read(true).write(true).open(&path).unwrap();
    let mut raw = rustix::termios::tcgetattr(&kept).unwrap();
    raw.make_raw();
    rustix::termios::tcsetattr(&kept, rustix::termios::OptionalActions::Now, &raw).unwrap();
    let mut line = File::from(side);
    let thread = std::thread::spawn(move || {
        let (mut seen, mut command) = (Vec::new(), String::new());
        let mut byte = [0];
        loop {
            line.read_exact(&mut byte).unwrap();
            if echoes {
                line.write_all(&byte).unwrap();
            }
            match byte[0] {
                b'\x1b' => command.clear(),
                b'\r' if command.is_empty() => {}
                b'\r' if matches!(answer, Answer::Dead) => command.clear(),
                b'\r' => {
                    let text: &[u8] = match command.starts_with("AT+CMGS=") {
                        true => b"\r\n> ",
                        false => b"\r\n+CMTI: \"SM\",3\r\n\r\nOK\r\n",
                    };
                    line.write_all(text).unwrap();
                    seen.push(std::mem::take(&mut command));
                }
                b'\x1a' => {
                    seen.push(std::mem::take(&mut command));
                    let text: &[u8] = match answer {
                        Answer::Sent => b"\r\n+CMGS: 42\r\n\r\nOK\r\n",
                        Answer::Refuses => b"\r\n+CMS ERROR: 38\r\n",
                        Answer::Silent | Answer::Dead => b"",
                    };
                    line.write_all(text).unwrap();
                }
                b'#' => return seen,
                other => command.push(char::from(other)),
            }
        }
    });
    (path, kept, thread)
}

fn run(
    answer: Answer,
    text: &str,
    limit: Duration,
    echoes: bool,
) -> (Result<Sent>, Vec<String>, Vec<String>) {
    let (modem, mut kept, thread) = modem(answer, echoes);
    let mut message = message("+46708251358");
    message.message = text.to_owned();
    let mut tools = tools();
    tools.attempt_max = limit;
    let mut log = Log::on();
    let result = send(&tools, &Sms { modem }, &message, &mut log);
    kept.write_all(b"#").unwrap();
    (result, thread.join().unwrap(), log.into_lines())
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(1);

#[test]
fn a_text_is_sent_in_pdu_mode() {
    for echoes in [false, true] {
        let (result, seen, log) = run(Answer::Sent, "hellohello", LONG, echoes);
        assert_eq!(result, Ok(Sent::default()));
        let pdu = "0001000B916407281553F800000AE8329BFD4697D9EC37";
        assert_eq!(seen, ["ATE0", "AT+CMGF=0", "AT+CMGS=22", pdu]);
        assert!(log.iter().any(|line| line == "< +CMGS: 42"), "{log:?}");
    }
}

#[test]
fn a_long_text_has_several_parts() {
    let (result, seen, _) = run(Answer::Sent, &"x".repeat(400), LONG, false);
    assert_eq!(result, Ok(Sent::default()));
    assert_eq!(seen.iter().filter(|command| command.starts_with("AT+CMGS=")).count(), 3);
}

#[test]
fn refusals_and_silence_are_different() {
    let (result, ..) = run(Answer::Refuses, "x", LONG, false);
    assert_eq!(result, Err(Failure::failed("the GSM modem answers \"+CMS ERROR: 38\"")));
    let (result, seen, _) = run(Answer::Silent, "x", SHORT, false);
    // A slow machine may be late for the text as well.
    match seen.len() {
        4 => assert!(matches!(result, Err(Failure::Unknown(_))), "{result:?}"),
        _ => assert!(matches!(result, Err(Failure::Failed(_))), "{result:?}"),
    }
    let (result, ..) = run(Answer::Dead, "x", SHORT, false);
    assert_eq!(result, Err(Failure::failed("the GSM modem does not answer")));
}

#[test]
fn what_is_no_modem_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let to = |modem: PathBuf| send(&tools(), &Sms { modem }, &message("112"), &mut Log::off());
    assert!(matches!(to(file.clone()), Err(Failure::Impossible(_))));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    assert!(matches!(to(PathBuf::from("/dev/null")), Err(Failure::Impossible(_))));
    let missing = to(folder.path().join("none"));
    assert!(
        matches!(&missing, Err(Failure::Failed(why)) if why.contains("[2] No such")),
        "{missing:?}"
    );
    let letters = send(&tools(), &Sms { modem: file }, &message("alice"), &mut Log::off());
    let expected = Failure::Impossible(String::from("\"alice\" is not a telephone number"));
    assert_eq!(letters, Err(expected));
}
