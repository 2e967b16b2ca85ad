//! A scripted mail server on loopback: what it gets, and what comes of what it does.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use openssl::ssl::{SslAcceptor, SslMethod};
use openssl::x509::X509;

use super::*;
use crate::testing::{message, tools};

/// What the server does at a command; elsewhere it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Says(&'static str),
    Hangs,
    Closes,
}

use Does::{Closes, Hangs, Says};

#[derive(Clone, Default)]
struct Script {
    /// Begin of a line, `connect` or `end`, and what happens; used once, in this order.
    at: Vec<(&'static str, Does)>,
    /// Extensions.
    offers: &'static str,
    tls: Option<Arc<SslAcceptor>>,
    /// TLS from the start.
    early: bool,
    /// Gets a word when the server hangs.
    hangs: Option<std::sync::mpsc::SyncSender<()>>,
}

trait Both: Read + Write {}
impl<S: Read + Write> Both for S {}

/// What the server saw of one connection.
type Seen = Vec<String>;

struct Server {
    port: u16,
    thread: JoinHandle<Seen>,
}

impl Server {
    fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            // A client that leaves ends the dialogue.
            let _ended = serve(stream, script, &mut seen);
            seen
        });
        Self { port, thread }
    }
}

fn serve(stream: TcpStream, mut script: Script, seen: &mut Seen) -> std::io::Result<()> {
    let early = script.early;
    let mut line: BufReader<Box<dyn Both>> = BufReader::new(Box::new(stream));
    if early {
        line = protect(line, &script)?;
    }
    let mut expected = std::mem::take(&mut script.at).into_iter().peekable();
    let mut does = |command: &str, usual: String| {
        let hit = expected.peek().is_some_and(|(at, _)| command.starts_with(at));
        if hit { expected.next().map(|(_, does)| does) } else { None }.ok_or(usual)
    };
    let mut command = String::from("connect");
    loop {
        let usual = match command.get(..4).unwrap_or_default() {
            "conn" => String::from("220 ready"),
            "EHLO" if !script.offers.is_empty() => {
                let lines: Vec<_> = script.offers.split(',').collect();
                let (last, others) = lines.split_last().unwrap();
                let others: String = others.iter().map(|one| format!("250-{one}\r\n")).collect();
                format!("250-mx greets\r\n{others}250 {last}")
            }
            "DATA" => String::from("354 go on"),
            "STAR" => String::from("220 TLS"),
            "QUIT" => String::from("221 bye"),
            "AUTH" => String::from("235 in"),
            _ => String::from("250 fine"),
        };
        match does(&command, usual) {
            Ok(Hangs) => {
                script.hangs.iter().for_each(|hangs| hangs.send(()).unwrap());
                return std::io::copy(line.get_mut(), &mut std::io::sink()).map(drop);
            }
            Ok(Closes) => return Ok(()),
            Ok(Says(text)) => write!(line.get_mut(), "{text}\r\n")?,
            Err(usual) => write!(line.get_mut(), "{usual}\r\n")?,
        }
        line.get_mut().flush()?;
        match &*command {
            "DATA" => {
                command = String::from("end");
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") {
                    if line.read_line(&mut text)? == 0 {
                        seen.push(format!("broken {text}"));
                        return Ok(());
                    }
                }
                seen.push(text);
                continue;
            }
            "STARTTLS" => line = protect(line, &script)?,
            _ => {}
        }
        let mut text = String::new();
        if line.read_line(&mut text)? == 0 {
            return Ok(());
        }
        command = text.trim_end().to_owned();
        seen.push(command.clone());
    }
}

fn protect(
    line: BufReader<Box<dyn Both>>,
    script: &Script,
) -> std::io::Result<BufReader<Box<dyn Both>>> {
    let acceptor = script.tls.as_ref().unwrap();
    struct Plain(Box<dyn Both>);
    impl std::fmt::Debug for Plain {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Plain")
        }
    }
    impl Read for Plain {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(bytes)
        }
    }
    impl Write for Plain {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            self.0.flush()
        }
    }
    let stream = acceptor.accept(Plain(line.into_inner()));
    let stream = stream.map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(BufReader::new(Box::new(stream)))
}

fn settings(port: u16) -> Mail {
    Mail {
        server: String::from("127.0.0.1"),
        port,
        helo: String::from("vedette.test"),
        from: String::from("Monitor <monitor@vedette.test>"),
        security: Security::None,
        login: None,
        html: false,
    }
}

/// Sends to `sendto` with settings that `change` makes.
async fn exchange(
    script: Script,
    sendto: &str,
    limit: Duration,
    change: impl Fn(&mut Mail, &mut Tools),
) -> (Result<Sent>, Seen, Vec<String>) {
    let server = Server::start(script);
    let mut mail = settings(server.port);
    let mut tools = tools();
    tools.attempt_max = limit;
    change(&mut mail, &mut tools);
    let mut log = Log::on();
    let result = send(&tools, &mail, &message(sendto), &mut log).await;
    let seen = tokio::task::spawn_blocking(|| server.thread.join().unwrap()).await.unwrap();
    (result, seen, log.into_lines())
}

const LONG: Duration = Duration::from_secs(60);
const THREE: &str = "a@b.test\nBe <b@b.test>\nc@b.test";

fn unchanged(_: &mut Mail, _: &mut Tools) {}

#[tokio::test]
async fn one_transaction_has_all_addresses() {
    let (result, seen, log) = exchange(Script::default(), THREE, LONG, unchanged).await;
    assert_eq!(result, Ok(Sent::default()));
    let envelope = [
        "EHLO vedette.test",
        "MAIL FROM:<monitor@vedette.test>",
        "RCPT TO:<a@b.test>",
        "RCPT TO:<b@b.test>",
        "RCPT TO:<c@b.test>",
        "DATA",
    ];
    assert_eq!(seen[..6], envelope);
    assert!(seen[6].contains("\r\nTo: <a@b.test>,Be <b@b.test>,<c@b.test>\r\n"), "{}", seen[6]);
    assert!(seen[6].ends_with("\r\n\r\ndmFsdWUgMQ==\r\n.\r\n") && seen[7] == "QUIT", "{seen:?}");
    assert!(log.contains(&String::from("> DATA")) && log.contains(&String::from("< 250 fine")));
    // The name of the client is the sender's domain if it has none.
    let no_name = |mail: &mut Mail, _: &mut Tools| mail.helo.clear();
    let (_, seen, _) = exchange(Script::default(), "a@b.test", LONG, no_name).await;
    assert_eq!(seen[0], "EHLO vedette.test");
}

#[tokio::test]
async fn refusals_are_shown_as_7_0_shows_them() {
    for (at, says, expected) in [
        ("connect", "554 no", "wrong answer on welcome message \"554 no\""),
        ("EHLO", "421 busy", "wrong answer on HELO \"421 busy\""),
        ("MAIL", "421 busy", "wrong answer on MAIL FROM \"421 busy\""),
        ("RCPT TO:<b", "550 no such user", "wrong answer on RCPT TO \"550 no such user\""),
        ("RCPT", "550-no\r\n550 such user", "wrong answer on RCPT TO \"550 such user\""),
        ("DATA", "451 later", "wrong answer on DATA \"451 later\""),
        ("end", "552 too\tlarge", "wrong answer on end of data \"552 toolarge\""),
        ("MAIL", "what", "error receiving answer on MAIL FROM: malformed reply"),
    ] {
        let script = Script { at: vec![(at, Says(says))], ..Script::default() };
        let (result, seen, _) = exchange(script, THREE, LONG, unchanged).await;
        assert_eq!(result, Err(Failure::failed(expected)), "{at}");
        // Who is refused in a group gets it for none of the group.
        let data = seen.iter().any(|line| line == "DATA");
        assert_eq!(data, ["DATA", "end"].contains(&at), "{at}: {seen:?}");
    }
}

fn reason(result: &Result<Sent>) -> &str {
    match result {
        Err(Failure::Failed(why) | Failure::Unknown(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_hangs_or_closes_has_an_end() {
    let stages = ["connect", "EHLO", "MAIL", "RCPT", "DATA", "end"];
    let names = ["welcome message", "HELO", "MAIL FROM", "RCPT TO", "DATA", "end of data"];
    for (at, name) in stages.into_iter().zip(names) {
        let script = Script { at: vec![(at, Closes)], ..Script::default() };
        let (result, ..) = exchange(script, "a@b.test", LONG, unchanged).await;
        let why = reason(&result);
        assert!(why.starts_with("error ") && why.contains(name), "{at}: {why}");
        // After its end the server may have the message.
        assert_eq!(matches!(result, Err(Failure::Unknown(_))), at == "end", "{at}: {result:?}");
        let mut limit = Duration::from_secs(1);
        loop {
            let script = Script { at: vec![(at, Hangs)], ..Script::default() };
            let (result, ..) = exchange(script, "a@b.test", limit, unchanged).await;
            let why = reason(&result);
            if why.contains(name) && why.contains("timed out after") {
                assert_eq!(matches!(result, Err(Failure::Unknown(_))), at == "end", "{at}");
                break;
            }
            // A slow machine was at an earlier stage.
            assert!(why.contains("timed out"), "{at}: {why}");
            limit *= 2;
            assert!(limit < LONG, "{at}: {why}");
        }
    }
}

#[tokio::test]
async fn a_stop_ends_attempts() {
    let at_the_end = "error receiving answer on end of data: the server was stopped";
    for (at, which, expected) in [
        ("MAIL", Cancel::Safe, Failure::Cancelled),
        ("end", Cancel::All, Failure::Unknown(at_the_end.to_owned())),
    ] {
        let (hangs, hung) = std::sync::mpsc::sync_channel(1);
        let script = Script { at: vec![(at, Hangs)], hangs: Some(hangs), ..Script::default() };
        let server = Server::start(script);
        let (cancel, cancelled) = tokio::sync::watch::channel(Cancel::None);
        let tools = Tools { cancel: cancelled, ..tools() };
        let (mail, message, mut log) = (settings(server.port), message("a@b.test"), Log::off());
        let stop = async {
            tokio::task::spawn_blocking(move || hung.recv().unwrap()).await.unwrap();
            // A mail that is sent whole goes on until all attempts have to end.
            cancel.send_replace(Cancel::Safe);
            tokio::task::yield_now().await;
            cancel.send_replace(which);
        };
        let (result, ()) = tokio::join!(send(&tools, &mail, &message, &mut log), stop);
        assert_eq!(result, Err(expected), "{at}");
        tokio::task::spawn_blocking(|| server.thread.join().unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn a_farewell_that_hangs_changes_nothing() {
    let script = Script { at: vec![("QUIT", Hangs)], ..Script::default() };
    let (result, seen, _) = exchange(script, "a@b.test", LONG, unchanged).await;
    assert_eq!((result, seen.last().map(String::as_str)), (Ok(Sent::default()), Some("QUIT")));
    let at = vec![("end", Says("552 too large")), ("QUIT", Hangs)];
    let script = Script { at, ..Script::default() };
    let (result, ..) = exchange(script, "a@b.test", LONG, unchanged).await;
    let expected = "wrong answer on end of data \"552 too large\"";
    assert_eq!(result, Err(Failure::failed(expected)));
}

#[tokio::test]
async fn what_is_not_reachable_is_named() {
    let free = stdx::listening::free_address().unwrap();
    let mut mail = settings(free.port());
    let result = send(&tools(), &mail, &message("a@b.test"), &mut Log::off()).await;
    let port = free.port();
    let expected = format!(
        "cannot connect to SMTP server \"127.0.0.1\": cannot connect to [[127.0.0.1]:{port}]: \
         connection error (POLLERR,POLLHUP)"
    );
    assert_eq!(result, Err(Failure::Failed(expected)));
    mail.server = "x".repeat(64);
    let result = send(&tools(), &mail, &message("a@b.test"), &mut Log::off()).await;
    let Err(Failure::Failed(why)) = result else { panic!("{result:?}") };
    assert!(why.contains("cannot resolve [xxx"), "{why}");
    for (from, to) in [("", "a@b.test"), ("m@b.test\r\nDATA", "a@b.test"), ("m@b.test", "a")] {
        mail.from = from.to_owned();
        let result = send(&tools(), &mail, &message(to), &mut Log::off()).await;
        assert!(matches!(result, Err(Failure::Impossible(_))), "{from:?} {to:?}: {result:?}");
    }
    mail.from = String::from("m@b.test");
    mail.server = String::from("127.0.0.1");
    let server = Server::start(Script::default());
    (mail.port, mail.helo) = (server.port, String::from("a\r\nMAIL FROM:<x@y.test>"));
    let result = send(&tools(), &mail, &message("a@b.test"), &mut Log::off()).await;
    assert!(matches!(result, Err(Failure::Failed(_))), "{result:?}");
    assert_eq!(server.thread.join().unwrap(), Seen::new());
}

#[tokio::test]
async fn old_servers_know_only_helo() {
    let script = Script { at: vec![("EHLO", Says("502 what"))], ..Script::default() };
    let (result, seen, _) = exchange(script, "a@b.test", LONG, unchanged).await;
    assert_eq!(result, Ok(Sent::default()));
    assert_eq!(seen[1], "HELO vedette.test");
}

#[tokio::test]
async fn addresses_beyond_ascii_need_the_extension() {
    let script = Script { offers: "SMTPUTF8", ..Script::default() };
    let (result, seen, _) = exchange(script, "jürgen@bücher.test", LONG, unchanged).await;
    assert_eq!(result, Ok(Sent::default()));
    assert_eq!(seen[1], "MAIL FROM:<monitor@vedette.test> SMTPUTF8");
    assert_eq!(seen[2], "RCPT TO:<jürgen@xn--bcher-kva.test>");
    let (result, ..) = exchange(Script::default(), "jürgen@b.test", LONG, unchanged).await;
    assert!(matches!(&result, Err(Failure::Failed(why)) if why.contains("SMTPUTF8")), "{result:?}");
    let (result, seen, _) = exchange(Script::default(), "j@bücher.test", LONG, unchanged).await;
    assert_eq!((result, &*seen[1]), (Ok(Sent::default()), "MAIL FROM:<monitor@vedette.test>"));
}

fn with_login(mail: &mut Mail, _: &mut Tools) {
    mail.login = Some(Login { user: String::from("tim"), password: String::from("word") });
}

#[tokio::test]
async fn logins_use_what_the_server_offers() {
    let challenge = "334 PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+";
    for (offers, at, expected) in [
        ("AUTH PLAIN LOGIN", vec![], vec!["AUTH PLAIN AHRpbQB3b3Jk"]),
        (
            "AUTH LOGIN",
            vec![
                ("AUTH", Says("334 VXNlcm5hbWU6")),
                ("dGlt", Says("334 UGFzc3dvcmQ6")),
                ("d29yZA==", Says("235 in")),
            ],
            vec!["AUTH LOGIN", "dGlt", "d29yZA=="],
        ),
        (
            "SIZE 9,AUTH PLAIN CRAM-MD5",
            vec![("AUTH", Says(challenge)), ("dGlt", Says("235 in"))],
            vec!["AUTH CRAM-MD5"],
        ),
    ] {
        let script = Script { at, offers, ..Script::default() };
        let (result, seen, log) = exchange(script, "a@b.test", LONG, with_login).await;
        assert_eq!(result, Ok(Sent::default()), "{offers}: {seen:?}");
        assert_eq!(seen[1..=expected.len()], expected, "{offers}");
        let log = log.join("\n");
        assert!(
            !log.contains("AHRpbQB3b3Jk") && !log.contains("d29yZA") && log.contains("***"),
            "{log}"
        );
    }
    for (offers, at, expected) in [
        ("AUTH PLAIN", vec![("AUTH", Says("535 wrong"))], "wrong answer on AUTH \"535 wrong\""),
        ("AUTH PLAIN", vec![("AUTH", Says("334 more"))], "wrong answer on AUTH \"334 more\""),
        (
            "AUTH GSSAPI",
            vec![],
            "the SMTP server offers none of the logins PLAIN, LOGIN and CRAM-MD5",
        ),
    ] {
        let script = Script { at, offers, ..Script::default() };
        let (result, ..) = exchange(script, "a@b.test", LONG, with_login).await;
        assert_eq!(result, Err(Failure::failed(expected)), "{offers}");
    }
}

/// An authority in a folder that OpenSSL can search, and a server with its certificate for `names`.
fn authority(folder: &Path, names: &[&str]) -> Arc<SslAcceptor> {
    let ca_key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, "Test authority");
    let ca = params.self_signed(&ca_key).unwrap();
    let issuer = rcgen::Issuer::from_params(&params, &ca_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let own = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let file = folder.join("ca.pem");
    std::fs::write(&file, ca.pem()).unwrap();
    let rehash = std::process::Command::new("openssl").arg("rehash").arg(folder).status();
    assert!(rehash.unwrap().success());
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
    acceptor.set_certificate(&X509::from_pem(own.pem().as_bytes()).unwrap()).unwrap();
    let key = openssl::pkey::PKey::private_key_from_pem(key.serialize_pem().as_bytes()).unwrap();
    acceptor.set_private_key(&key).unwrap();
    Arc::new(acceptor.build())
}

#[tokio::test]
async fn certificates_are_checked_as_the_switches_say() {
    let folder = tempfile::tempdir().unwrap();
    let good = authority(folder.path(), &["127.0.0.1"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let other = authority(elsewhere.path(), &["other.test"]);
    let trusted = Some(folder.path().to_owned());
    let wrong = "the certificate is for another server";
    let untrusted = "the certificate is not trusted";
    for (tls, (peer, host), expected) in [
        (&good, (true, true), None),
        (&good, (false, true), None),
        (&other, (false, false), None),
        (&other, (false, true), Some(wrong)),
        (&other, (true, false), Some(untrusted)),
    ] {
        let verify = Verify { peer, host };
        for security in [Security::StartTls(verify), Security::Tls(verify)] {
            let early = matches!(security, Security::Tls(_));
            let offers = if early { "AUTH PLAIN" } else { "AUTH PLAIN,STARTTLS" };
            let script = Script { offers, tls: Some(Arc::clone(tls)), early, ..Script::default() };
            let (result, seen, _) = exchange(script, "a@b.test", LONG, |mail, tools| {
                with_login(mail, tools);
                mail.security = security;
                tools.authorities.clone_from(&trusted);
            })
            .await;
            match (&result, expected) {
                (Ok(_), None) => assert!(seen.contains(&String::from("AUTH PLAIN AHRpbQB3b3Jk"))),
                (Err(Failure::Failed(why)), Some(part)) => {
                    assert!(why.contains(part), "{why}");
                    assert!(seen.len() <= 2, "nothing is said without protection: {seen:?}");
                }
                _ => panic!("{security:?} {expected:?}: {result:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_server_without_starttls_gets_nothing() {
    let verify = Verify { peer: false, host: false };
    let start = |mail: &mut Mail, tools: &mut Tools| {
        with_login(mail, tools);
        mail.security = Security::StartTls(verify);
    };
    let script = Script { offers: "AUTH PLAIN", ..Script::default() };
    let (result, seen, _) = exchange(script, "a@b.test", LONG, start).await;
    assert_eq!(result, Err(Failure::failed("the SMTP server does not support STARTTLS")));
    assert_eq!(seen, ["EHLO vedette.test"]);
    // Replies behind the one to STARTTLS may be of an attacker.
    let at = vec![("STARTTLS", Says("220 go\r\n250 AUTH PLAIN"))];
    let script = Script { at, offers: "STARTTLS", ..Script::default() };
    let (result, ..) = exchange_plain(script, start).await;
    let expected = "the SMTP server sent data in clear text after STARTTLS";
    assert_eq!(result, Err(Failure::failed(expected)));
}

/// The server does not start TLS itself.
async fn exchange_plain(
    mut script: Script,
    change: impl Fn(&mut Mail, &mut Tools),
) -> (Result<Sent>, Seen, Vec<String>) {
    script.at.push(("STARTTLS", Closes));
    script.tls = Some(authority(tempfile::tempdir().unwrap().path(), &["127.0.0.1"]));
    exchange(script, "a@b.test", LONG, change).await
}
