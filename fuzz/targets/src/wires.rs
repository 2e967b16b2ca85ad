//! Messages of agents, senders and front ends.

use wire::Moment;
use wire::agent::{active, passive};
use wire::icmp;
use wire::services::{Service, Talk, Verdict, ntp};
use wire::snmp::usm::{AuthProtocol, Keys, MasterKeys, PrivProtocol, Report};
use wire::snmp::{Message, Oid, Varbinds, v3};
use wire::zbxd::{Decoder, Limits, Progress};

fn text(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Frames in fragments of every size.
pub(crate) fn zbxd(data: &[u8]) {
    for size in [1, 3, data.len().max(1)] {
        let mut decoder = Decoder::new(Limits::TRAPPER);
        for fragment in data.chunks(size) {
            match decoder.feed(fragment) {
                Ok(Progress::More) => {}
                _ => return,
            }
        }
        drop(decoder.end());
    }
}

pub(crate) fn sender(data: &[u8]) {
    let (text, now) = (text(data), Moment::default());
    drop(wire::sender::parse_sender_data(&text, now));
    drop(wire::sender::parse_agent_data(&text, now));
    drop(wire::sender::parse_history_push(&text, now));
    drop(wire::sender::SendAnswer::parse(&text));
}

pub(crate) fn agent(data: &[u8]) {
    let text = text(data);
    drop(active::ActiveChecks::parse(&text));
    drop(active::Heartbeat::parse(&text));
    drop(passive::Request::parse(&text));
    drop(passive::parse_answer(&text, passive::Dialect::Json));
    drop(passive::parse_answer(&text, passive::Dialect::Plain));
}

pub(crate) fn trapper(data: &[u8]) {
    drop(wire::trapper::Request::parse(&text(data), Moment::default()));
}

pub(crate) fn peers(data: &[u8]) {
    drop(wire::peers::PeerList::parse(&text(data)));
    drop(eval::peers::AllowedPeers::parse(&text(data)));
}

/// Echo replies, with the IP header that raw sockets give and without.
pub(crate) fn icmp(data: &[u8]) {
    for family in [icmp::Family::V4, icmp::Family::V6] {
        icmp::decode(family, data);
        icmp::after_ip_header(data).map(|message| icmp::decode(family, message));
    }
}

/// What services say to simple checks; the first byte picks one.
pub(crate) fn services(data: &[u8]) {
    const NAMES: [&str; 10] =
        ["https", "smtp", "ftp", "pop", "nntp", "imap", "ssh", "telnet", "ldap", "tcp"];
    let Some((pick, said)) = data.split_first() else { return };
    let service = NAMES.get(usize::from(*pick) % NAMES.len()).and_then(|n| Service::from_name(n));
    let Some(service) = service else { return };
    for size in [1, 3, said.len().max(1)] {
        let mut talk = Talk::new(service, "h", "/");
        for part in said.chunks(size) {
            if talk.feed(part) != Verdict::Open {
                break;
            }
            talk.take_out();
            talk.pause();
        }
        talk.end();
    }
    ntp::is_answer(&ntp::request(std::time::Duration::ZERO), said);
}

/// Answers of web servers in fragments of every size, what they ask and set, and URLs.
pub(crate) fn http(data: &[u8]) {
    use wire::http::{Asked, Decoder, Progress, Url, content, cookies::Jar};
    const BODY_MAX: usize = 1 << 16;
    let from = Url { https: true, user: None, host: "h".into(), port: None, target: "/a".into() };
    let _url = Url::parse(&text(data)).and_then(|url| url.join(&text(data)));
    drop(from.join(&text(data)));
    for size in [1, 3, data.len().max(1)] {
        let mut decoder = Decoder::new(Asked::Other, BODY_MAX);
        let mut fragments = data.chunks(size);
        let fed = fragments.try_for_each(|fragment| match decoder.feed(fragment) {
            Ok(Progress::More) => Ok(()),
            Ok(Progress::Done(used)) => {
                assert!(used <= fragment.len());
                Err(true)
            }
            Err(_) => Err(false),
        });
        if fed == Err(false) || decoder.end().is_err() {
            continue;
        }
        let mut answer = decoder.finish();
        drop(wire::http_auth::digest::Challenge::find(answer.header("www-authenticate")));
        drop(wire::http_auth::ntlm::Challenge::find(answer.header("www-authenticate")));
        drop(wire::http_auth::negotiate::token(answer.header("www-authenticate")));
        let mut jar = Jar::default();
        jar.take(&from, answer.header("set-cookie"), 1_700_000_000);
        drop(jar.header(&from));
        drop(content::unpack(&mut answer, BODY_MAX));
        let kind = answer.header("content-type").next().map(str::to_owned);
        let body = content::text(answer.body, kind.as_deref());
        let json = format!(
            "{{\"header\":{},\"body\":{}}}",
            content::head_json(&content::head_text(&answer.head)),
            content::body_json(&body, kind.as_deref())
        );
        drop(json);
    }
}

/// Every sign of a seed is one byte: commands of the protocol are beyond ASCII.
pub(crate) fn telnet(data: &[u8]) {
    let bytes: Vec<u8> = match str::from_utf8(data) {
        Ok(text) => text.chars().map(|sign| u8::try_from(sign).unwrap_or(255)).collect(),
        Err(_) => data.to_vec(),
    };
    let (mut decoder, mut text, mut replies) =
        (wire::telnet::Decoder::default(), Vec::new(), Vec::new());
    for piece in bytes.chunks(7) {
        decoder.feed(piece, &mut text, &mut replies);
    }
    assert!(text.len() <= bytes.len() && replies.len() <= wire::telnet::REPLIES_MAX + 3);
    assert!(wire::telnet::unix_lines(&text).len() <= text.len());
}

pub(crate) fn java_gateway(data: &[u8]) {
    for count in [1, 2] {
        drop(wire::java_gateway::parse(&text(data), count));
    }
}

/// Everything that may come in a datagram of SNMP; what is read is shown, too.
pub(crate) fn datagram(data: &[u8]) {
    let walk = |varbinds: Varbinds<'_>| {
        for (oid, value) in varbinds.flatten() {
            drop(format!("{oid} = {value:?}"));
            let _ = Report::of(oid);
            assert_eq!(
                Oid::parse(&oid.to_string()).map(|again| again.cmp(&oid.to_oid())).ok(),
                (oid.arcs().count() <= wire::snmp::ARCS_MAX).then_some(std::cmp::Ordering::Equal)
            );
        }
    };
    if let Ok(message) = Message::parse(data) {
        if let Ok(pdu) = message.pdu() {
            walk(pdu.varbinds);
        }
        if let Ok(trap) = message.trap_v1() {
            walk(trap.varbinds);
        }
    }
    if let Ok(sealed) = v3::Sealed::parse(data) {
        for keys in datagram_keys() {
            let _ = sealed.verify(keys);
            let mut room = Vec::new();
            if let Ok(opened) = sealed.open(keys, &mut room) {
                walk(opened.pdu.varbinds);
            }
        }
    }
}

fn datagram_keys() -> &'static [Keys] {
    static KEYS: std::sync::OnceLock<Vec<Keys>> = std::sync::OnceLock::new();
    KEYS.get_or_init(|| {
        let phrase = &b"maplesyrup"[..];
        let of = |privacy: Option<PrivProtocol>| {
            let auth = Some((AuthProtocol::Sha1, phrase));
            MasterKeys::new(auth, privacy.map(|p| (p, phrase)))?.for_engine(b"engine")
        };
        let keys = [None, Some(PrivProtocol::Des), Some(PrivProtocol::Aes256)];
        std::iter::once(Keys::NONE).chain(keys.into_iter().filter_map(|p| of(p).ok())).collect()
    })
}

/// Replies of mail servers, and messages to them.
pub(crate) fn smtp(data: &[u8]) {
    use wire::smtp::{Mechanism, Offers, reply, stuffed};
    for end in [data.len() / 2, data.len()] {
        if let Ok(Some((code, length))) = reply(&data[..end]) {
            assert!(code < 1_000 && (3..=end).contains(&length));
            // More bytes do not change a whole reply.
            assert_eq!(reply(data), Ok(Some((code, length))));
        }
    }
    let text = text(data);
    let offers = Offers::parse(&text);
    for mechanism in [Mechanism::Plain, Mechanism::Login, Mechanism::CramMd5] {
        for step in 0..3 {
            let response = mechanism.response(step, &text, "user", &text);
            assert!(response.is_none_or(|response| !response.contains(['\r', '\n'])));
        }
        assert!(!mechanism.command(&text, &text).contains(['\r', '\n']));
    }
    assert_eq!(offers.mechanism(true).is_some(), offers.mechanism(false).is_some());
    // Only the end has a line with nothing but a dot.
    let message = text.replace("\r\n", "\n").replace('\n', "\r\n");
    let sent = stuffed(&message);
    let ends = format!("\r\n{sent}").matches("\r\n.\r\n").count();
    assert!(ends == 1 && sent.ends_with(".\r\n"));
}

/// Text messages: a number and a text with a zero byte between them.
pub(crate) fn sms(data: &[u8]) {
    let text = text(data);
    let (number, text) = text.split_once('\0').unwrap_or(("+123", &text));
    let Ok(parts) = wire::sms::parts(number, text, 7) else { return };
    assert!((1..=wire::sms::PARTS_MAX).contains(&parts.len()));
    for part in parts {
        assert!(part.length <= 164 && part.digits.len() == 2 + 2 * part.length);
        assert!(part.digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    }
}
