//! `net.if.*` from `/proc/net/dev`.

use serde_json::{Value, json};

use super::{Answer, Params, read_text};
use crate::Agent;

/// Counters of one interface: 8 received, 8 sent.
type Counters = [u64; 16];

const NOT_FOUND: &str = "Cannot find information for this network interface in /proc/net/dev.";

/// Parameter names and columns; the first is the default.
const IN: &[(&str, usize)] = &[
    ("bytes", 0),
    ("packets", 1),
    ("errors", 2),
    ("dropped", 3),
    ("overruns", 4),
    ("frame", 5),
    ("compressed", 6),
    ("multicast", 7),
];
const OUT: &[(&str, usize)] = &[
    ("bytes", 8),
    ("packets", 9),
    ("errors", 10),
    ("dropped", 11),
    ("overruns", 12),
    ("collisions", 13),
    ("carrier", 14),
    ("compressed", 15),
];
/// Pairs of columns that mean the same in both directions.
const TOTAL: &[(&str, (usize, usize))] = &[
    ("bytes", (0, 8)),
    ("packets", (1, 9)),
    ("errors", (2, 10)),
    ("dropped", (3, 11)),
    ("overruns", (4, 12)),
    ("compressed", (6, 15)),
];

fn parse_interfaces(text: &str) -> impl Iterator<Item = (&str, Counters)> {
    text.lines().skip(2).filter_map(|line| {
        let (name, rest) = line.rsplit_once(':').filter(|(_, rest)| !rest.trim().is_empty())?;
        let mut counters = [0; 16];
        for (slot, word) in counters.iter_mut().zip(rest.split_ascii_whitespace()) {
            *slot = word.parse().ok()?;
        }
        Some((name.trim(), counters))
    })
}

fn counters(params: &Params) -> Result<Counters, String> {
    let name = params.get(0);
    if name.is_empty() {
        return Err("Network interface name cannot be empty.".into());
    }
    let text = read_text("/proc/net/dev")?;
    let found = parse_interfaces(&text).find(|(found, _)| *found == name);
    found.map(|(_, counters)| counters).ok_or_else(|| NOT_FOUND.into())
}

pub(super) fn incoming(_: &Agent, params: &Params) -> Answer {
    let counters = counters(params)?;
    Ok(counters[params.choose(1, IN)?].to_string())
}

pub(super) fn outgoing(_: &Agent, params: &Params) -> Answer {
    let counters = counters(params)?;
    Ok(counters[params.choose(1, OUT)?].to_string())
}

pub(super) fn total(_: &Agent, params: &Params) -> Answer {
    let counters = counters(params)?;
    let (received, sent) = params.choose(1, TOTAL)?;
    Ok(counters[received].saturating_add(counters[sent]).to_string())
}

pub(super) fn collisions(_: &Agent, params: &Params) -> Answer {
    counters(params).map(|counters| counters[13].to_string())
}

pub(super) fn discovery(_: &Agent, _: &Params) -> Answer {
    let text = read_text("/proc/net/dev")?;
    let rows: Vec<Value> =
        parse_interfaces(&text).map(|(name, _)| json!({ "{#IFNAME}": name })).collect();
    Ok(json!(rows).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_read() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes packets\n    \
                    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  \
                    eth0:0:21 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n bad\n  x: y\n";
        let found: Vec<_> = parse_interfaces(text).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].0, "lo");
        assert_eq!(found[0].1[15], 16);
        assert_eq!((found[1].0, found[1].1[0]), ("eth0:0", 21));
    }
}
