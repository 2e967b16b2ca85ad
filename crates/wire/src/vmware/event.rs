//! Events, in the form in which the field's servers show them.

use std::collections::HashMap;

use super::Node;

/// An event of the service's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Number, greater for later events.
    pub key: u64,
    /// Moment in the service's form, `2026-11-22T04:24:39.110484Z`.
    pub created: Box<str>,
    /// `info`, `warning`, `error`, `user`.
    pub severity: Box<str>,
    /// Message, an empty line, then type, source and user.
    pub text: String,
}

/// Severities by type of event: what the property `description.eventInfo` of the event manager
/// says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Severities(HashMap<Box<str>, Box<str>>);

impl Severities {
    /// Reads the property.
    pub fn parse(list: &[Node]) -> Self {
        let pair = |node: &Node| (node.text_at("key").into(), node.text_at("category").into());
        Self(list.iter().map(pair).collect())
    }

    fn of(&self, node: &Node, kind: &str) -> Box<str> {
        let known = [node.text_at("severity"), self.0.get(kind).map_or("", |known| known)];
        known.into_iter().find(|severity| !severity.is_empty()).unwrap_or("info").into()
    }
}

/// Reads the elements of a page of a collector; what has no number is left out.
pub fn events(page: &[Node], severities: &Severities) -> Vec<Event> {
    page.iter().filter_map(|node| event(node, severities)).collect()
}

fn event(node: &Node, severities: &Severities) -> Option<Event> {
    // What others define comes in an envelope of its own type.
    let kind = match node.text_at("eventTypeId") {
        "" => &node.kind,
        kind => kind,
    };
    let severity = severities.of(node, kind);
    let mut text = format!("{}\n\ntype: {severity}/{kind}", node.text_at("fullFormattedMessage"));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text += &format!("\n{name}: {value}");
        }
    };
    line("source", &source(node));
    line("user", node.text_at("userName"));
    Some(Event {
        key: node.text_at("key").parse().ok()?,
        created: node.text_at("createdTime").into(),
        severity,
        text,
    })
}

/// Where it happened: `datacenter/compute resource/host/machine ds:store net:network dvs:switch`;
/// of sessions the address that they come from.
fn source(node: &Node) -> String {
    let name = |part: &str| node.child(part).map_or("", |part| part.text_at("name"));
    let place = ["datacenter", "computeResource", "host", "vm"].map(name);
    let place: Vec<&str> = place.into_iter().filter(|name| !name.is_empty()).collect();
    let mut parts = vec![place.join("/")];
    for (part, label) in [("ds", "ds"), ("net", "net"), ("dvs", "dvs")] {
        let name = name(part);
        if !name.is_empty() {
            parts.push(format!("{label}:{name}"));
        }
    }
    let source = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    if source.is_empty() { node.text_at("ipAddress").to_owned() } else { source }
}
