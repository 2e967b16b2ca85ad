//! Messages of agents, senders and front ends.

use wire::Moment;
use wire::agent::{active, passive};
use wire::icmp;
use wire::services::{Service, Talk, Verdict, ntp};
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
