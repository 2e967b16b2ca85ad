//! Messages of agents, senders and front ends.

use wire::Moment;
use wire::agent::{active, passive};
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
