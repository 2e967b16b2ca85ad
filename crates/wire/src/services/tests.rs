use std::time::Duration;

use super::Service::{Ftp, Http, Https, Imap, Ldap, Nntp, Pop, Smtp, Ssh, Tcp, Telnet};
use super::Verdict::{Down, Open, Up};
use super::{Service, TALK_BYTES_MAX, Talk, Verdict, ntp};

/// Talks in fragments of every size; the verdict after the last byte, and what was sent.
fn talk(service: Service, said: &[u8]) -> (Verdict, Vec<u8>) {
    let mut first = None;
    for size in [1, 2, 5, said.len().max(1)] {
        let mut talk = Talk::new(service, "h", "");
        let mut out = talk.take_out();
        let mut verdict = Open;
        for part in said.chunks(size) {
            verdict = talk.feed(part);
            out.extend(talk.take_out());
            if verdict != Open {
                break;
            }
        }
        if verdict == Open {
            verdict = talk.pause();
        }
        let result = (verdict, out);
        assert_eq!(*first.get_or_insert_with(|| result.clone()), result, "{said:?} by {size}");
    }
    first.unwrap()
}

#[test]
fn names_and_ports() {
    for (name, port) in [
        ("tcp", None),
        ("http", Some(80)),
        ("https", Some(443)),
        ("smtp", Some(25)),
        ("ftp", Some(21)),
        ("pop", Some(110)),
        ("nntp", Some(119)),
        ("imap", Some(143)),
        ("ssh", Some(22)),
        ("telnet", Some(23)),
        ("ldap", Some(389)),
        ("ntp", Some(123)),
    ] {
        assert_eq!(Service::from_name(name).unwrap().port(), port, "{name}");
    }
    for name in ["", "SSH", "pop3", "dns", "ldaps"] {
        assert_eq!(Service::from_name(name), None, "{name}");
    }
}

/// As a real server 7.0 judges them.
#[test]
fn greetings() {
    for (service, said, verdict) in [
        (Ssh, "SSH-2.0-OpenSSH_9\r\n", Up),
        (Ssh, "SSH-2.0-OpenSSH_9\n", Up),
        (Ssh, "SSH-1.99-x\r\n", Up),
        (Ssh, "SSH-2.0\r\n", Up),
        (Ssh, "SSH-2.0x\r\n", Up),
        (Ssh, "hello\r\nSSH-2.0-x\r\n", Up),
        (Ssh, "ssh-2.0-x\r\n", Open),
        (Ssh, " SSH-2.0-x\r\n", Open),
        (Ssh, "SSH-x.y-z\r\n", Open),
        (Ssh, "SSH-2-x\r\n", Open),
        (Ssh, "SSH-2.\r\n", Open),
        (Ssh, "SSH-2.0-x", Open),
        (Smtp, "220 hi\r\n", Up),
        (Smtp, "220\r\n", Up),
        (Smtp, "220-hi\r\n", Open),
        (Smtp, "220-hi\r\n220 there\r\n", Up),
        (Smtp, "220-hi\r\n554 there\r\n", Down),
        (Smtp, "221 hi\r\n", Down),
        (Smtp, "220hi\r\n", Down),
        (Smtp, "220\thi\r\n", Down),
        (Smtp, "hello\r\n220 x\r\n", Down),
        (Smtp, "\r\n220 x\r\n", Down),
        (Smtp, "22", Open),
        (Ftp, "220 hi\r\n", Up),
        (Ftp, "220-hi\r\n220 hi\r\n", Up),
        (Ftp, "120 wait\r\n220 ok\r\n", Up),
        (Ftp, "hello\r\n220 ok\r\n", Up),
        (Ftp, "220-hi\r\n", Open),
        (Ftp, "220\r\n", Open),
        (Ftp, "220hi\r\n", Open),
        (Ftp, "421 x\r\n", Open),
        (Pop, "+OK hi\r\n", Up),
        (Pop, "+OKAY\r\n", Up),
        (Pop, "-ERR\r\n", Down),
        (Pop, "+ok hi\r\n", Down),
        (Pop, "hi\r\n+OK x\r\n", Down),
        (Nntp, "200 hi\r\n", Up),
        (Nntp, "201 hi\r\n", Up),
        (Nntp, "2001\r\n", Up),
        (Nntp, "400 hi\r\n", Down),
        (Imap, "* OK hi\r\n", Up),
        (Imap, "* OKAY\r\n", Up),
        (Imap, "* PREAUTH hi\r\n", Down),
        (Imap, "* BYE\r\n", Down),
        (Imap, "* ok hi\r\n", Down),
    ] {
        assert_eq!(talk(service, said.as_bytes()).0, verdict, "{service:?} {said:?}");
    }
}

#[test]
fn farewells() {
    for (service, said, sent) in [
        (Ssh, "SSH-2.0-x\r\n", "SSH-2.0-vedette\r\n"),
        (Ssh, "SSH-1.99-x\r\n", "SSH-1.99-vedette\r\n"),
        (Smtp, "220 x\r\n", "QUIT\r\n"),
        (Ftp, "220 x\r\n", "QUIT\r\n"),
        (Pop, "+OK\r\n", "QUIT\r\n"),
        (Nntp, "200 x\r\n", "QUIT\r\n"),
        (Imap, "* OK\r\n", "a1 LOGOUT\r\n"),
        (Imap, "* BYE\r\n", ""),
    ] {
        assert_eq!(talk(service, said.as_bytes()).1, sent.as_bytes(), "{service:?} {said:?}");
    }
}

#[test]
fn a_last_line_need_not_be_complete() {
    for (service, said, verdict) in [
        (Ssh, "SSH-2.0-x", Up),
        (Smtp, "220", Up),
        (Pop, "+OK", Up),
        (Imap, "* OK", Up),
        (Smtp, "22", Down),
        (Nntp, "20", Down),
        (Ssh, "", Down),
        (Ftp, "120 x", Down),
        (Https, "HTTP/1.1 200 OK\r\n", Down),
        (Telnet, "login:", Down),
    ] {
        let mut talk = Talk::new(service, "h", "");
        assert_eq!(talk.feed(said.as_bytes()), Open);
        assert_eq!(talk.end(), verdict, "{service:?} {said:?}");
    }
}

#[test]
fn connections_that_say_it_all() {
    for service in [Tcp, Http] {
        let mut talk = Talk::new(service, "h", "");
        assert_eq!((talk.connected(), talk.take_out()), (Up, Vec::new()), "{service:?}");
    }
    for service in [Https, Ssh, Telnet, Ldap] {
        assert_eq!(Talk::new(service, "h", "").connected(), Open, "{service:?}");
    }
}

#[test]
fn web_servers() {
    let mut talk_to = Talk::new(Https, "web.example:8443", "x y");
    let request = "HEAD /x%20y HTTP/1.1\r\nHost: web.example:8443\r\nUser-Agent: Vedette\r\n\
                   Accept: */*\r\nConnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(talk_to.take_out()).unwrap(), request);
    let mut smuggled = Talk::new(Https, "h\r\nX: y", "\r\nZ: z");
    assert_eq!(smuggled.take_out().iter().filter(|byte| **byte == b'\n').count(), 6);
    for (said, verdict) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Up),
        ("HTTP/1.1 404 No\r\n\r\n", Up),
        ("HTTP/1.1 500 No\r\n\r\n", Up),
        ("HTTP/1.0 200\r\n\r\n", Up),
        ("HTTP/2 200\r\n\r\n", Up),
        ("HTTP/1.1 200 OK\n\n", Up),
        ("HTTP/1.1 100 Continue\r\n\r\n", Open),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", Up),
        ("HTTP/1.1 200 OK\r\n", Open),
        ("HTTP/9.9 200\r\n\r\n", Down),
        ("HTTP/1.1 2000\r\n\r\n", Down),
        ("HTTP/1.1 abc\r\n\r\n", Down),
        ("ICY 200 OK\r\n\r\n", Down),
        ("junk\r\n", Down),
    ] {
        assert_eq!(talk(Https, said.as_bytes()).0, verdict, "{said:?}");
    }
}

#[test]
fn terminals() {
    for (said, verdict, sent) in [
        (&b"login:"[..], Up, &b""[..]),
        (b"login: ", Up, b""),
        (b"hello\r\nuser:  ", Up, b""),
        (b":", Up, b""),
        (b"hello", Open, b""),
        (b"login: x", Open, b""),
        (b"user:\n", Open, b""),
        (b"user: \t", Open, b""),
        (b"user: \r", Open, b""),
        (b"user: \0", Open, b""),
        (b"user:\xff\xf9", Up, b""),
        (b"user:\xff\xff", Open, b""),
        (b"user:\xff", Open, b""),
        (
            b"\xff\xfd\x18\xff\xfd\x20\xff\xfb\x03login: ",
            Up,
            b"\xff\xfc\x18\xff\xfc\x20\xff\xfd\x03",
        ),
        (
            b"\xff\xfd\x18\xff\xfd\x01\xff\xfb\x01\xff\xfb\x03\xff\xfe\x05\xff\xfc\x06\xff\xfd\x03\
              \xff\xfa\x18\x01\xff\xff\xff\xf0name: ",
            Up,
            // What the other side will not do, or wants us not to do, is how it is anyway.
            b"\xff\xfc\x18\xff\xfc\x01\xff\xfe\x01\xff\xfd\x03\xff\xfb\x03",
        ),
    ] {
        assert_eq!(talk(Telnet, said), (verdict, sent.to_vec()), "{said:?}");
    }
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag, 0x82];
    out.extend(u16::try_from(content.len()).unwrap().to_be_bytes());
    out.extend(content);
    out
}

fn message(id: u8, operation: &[u8]) -> Vec<u8> {
    element(0x30, &[&[2, 1, id], operation].concat())
}

fn entry(attributes: &[(&str, &str)]) -> Vec<u8> {
    let one = |(name, value): &(&str, &str)| {
        let value = element(0x31, &element(4, value.as_bytes()));
        element(0x30, &[element(4, name.as_bytes()), value].concat())
    };
    let all: Vec<u8> = attributes.iter().flat_map(one).collect();
    element(0x64, &[element(4, b""), element(0x30, &all)].concat())
}

fn done(code: u8) -> Vec<u8> {
    element(0x65, &[10, 1, code, 4, 0, 4, 0])
}

#[test]
fn directories() {
    let context = [("namingContexts", "dc=example")];
    for (what, said, verdict) in [
        ("entry", [message(1, &entry(&context)), message(1, &done(0))].concat(), Up),
        ("any attribute", [message(1, &entry(&[("a", "b")])), message(1, &done(0))].concat(), Up),
        ("no attributes", [message(1, &entry(&[])), message(1, &done(0))].concat(), Down),
        ("too large", [message(1, &entry(&context)), message(1, &done(4))].concat(), Down),
        ("only done", message(1, &done(0)), Down),
        ("refused", message(1, &done(50)), Down),
        ("not done", message(1, &entry(&context)), Open),
        ("another's", [message(2, &entry(&context)), message(2, &done(0))].concat(), Open),
        ("notice", message(0, &element(0x78, &[10, 1, 52])), Down),
        ("junk", b"junk".to_vec(), Down),
        ("endless length", vec![0x30, 0x85, 1, 1, 1, 1, 1], Down),
        ("indefinite", vec![0x30, 0x80, 2, 1, 1], Down),
    ] {
        let (found, sent) = talk(Ldap, &said);
        assert_eq!(found, verdict, "{what}");
        let unbound = sent.ends_with(b"\x30\x05\x02\x01\x02\x42\x00");
        assert_eq!(unbound, verdict == Up, "{what}");
        assert_eq!(sent[..2], [0x30, 0x35], "{what}");
        assert_eq!(usize::from(sent[1]), 53);
    }
}

#[test]
fn who_talks_without_end_is_cut_off() {
    for (service, said) in [
        (Ssh, &b"x\n"[..]),
        (Ftp, b"x"),
        (Telnet, b":"),
        (Https, b"HTTP/1.1 200 OK\nx"),
        (Ldap, b"\x30\x84\x7f\xff\xff\xff"),
    ] {
        let mut talk = Talk::new(service, "h", "");
        let lot = said.repeat(1_000);
        let calls = (0..TALK_BYTES_MAX).take_while(|_| talk.feed(&lot) == Open).count();
        assert!(calls * lot.len() <= TALK_BYTES_MAX, "{service:?}");
    }
}

#[test]
fn time_servers() {
    let request = ntp::request(Duration::new(1_700_000_000, 500_000_000));
    assert_eq!((request[0], request[44], request[45]), (0x1b, 0x80, 0));
    assert_eq!(request[40..44], u32::to_be_bytes(3_908_988_800));
    let mut good = [0; 48];
    (good[0], good[1], good[47]) = (0x1c, 2, 1);
    good[24..32].copy_from_slice(&request[40..]);
    assert!(ntp::is_answer(&request, &good));
    for (what, at, byte, verdict) in [
        ("version 4", 0, 0x24, false),
        ("version 2", 0, 0x14, false),
        ("alarm", 0, 0xdc, true),
        ("stratum 0", 1, 0, true),
        ("stratum 15", 1, 15, true),
        ("version 1", 0, 0x0c, false),
        ("version 5", 0, 0x2c, false),
        ("client", 0, 0x1b, false),
        ("broadcast", 0, 0x1d, false),
        ("no stratum", 1, 16, false),
        ("answer to another", 24, 9, false),
        ("no time", 47, 0, false),
    ] {
        let mut reply = good;
        reply[at] = byte;
        assert_eq!(ntp::is_answer(&request, &reply), verdict, "{what}");
    }
    assert!(!ntp::is_answer(&request, &good[..47]));
    assert!(!ntp::is_answer(&request, &[&good[..], &[0; 20]].concat()));
}
