//! The text of a message that tells of several.

use std::borrow::Cow;
use std::fmt::Write as _;

use eval::units::age;
use objects::Severity;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Key, State, Tally};
use crate::text::{MESSAGE_BYTES_MAX, SUBJECT_CHARS_MAX, without_links};

/// Longest name of a problem, and longest list of its hosts, characters.
const NAME_CHARS_MAX: usize = 200;
/// Bytes that are left for what follows the lines.
const END_BYTES: usize = 8_192;
/// Longest address.
const LINK_BYTES_MAX: usize = 2_048;
/// Written in an address as it is.
const READABLE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What receivers make of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Html,
}

/// A problem in a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) severity: Severity,
    pub(crate) state: State,
    pub(crate) hosts: String,
    pub(crate) name: String,
    /// Until now, or until its end.
    pub(crate) age_s: u32,
    pub(crate) acknowledged: bool,
}

/// A message that summarises others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Summary {
    /// Of a group of the action with this name.
    Group { action: String, key: Key, counts: Counts, lines: Vec<Line>, link: Option<String> },
    /// Of messages beyond the limit.
    Storm {
        messages: u64,
        by_severity: [u64; 6],
        by_host: Vec<(String, u64)>,
        link: Option<String>,
    },
}

/// How many problems there are of each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) new: u64,
    pub(crate) updated: u64,
    pub(crate) resolved: u64,
    pub(crate) open: u64,
    /// Problems that the message is about.
    pub(crate) all: u64,
}

impl Counts {
    /// `open`: only what is still open is told.
    pub(crate) fn of(tally: &Tally, open: bool) -> Self {
        let all = tally.listed(open).1;
        if open {
            return Self { open: all, all, ..Self::default() };
        }
        let (new, updated, resolved) = (tally.new, tally.updated, tally.resolved);
        Self { new, updated, resolved, open: 0, all }
    }

    /// `3 new, 1 resolved`.
    fn shown(self) -> String {
        let parts = [
            (self.new, "new"),
            (self.updated, "updated"),
            (self.resolved, "resolved"),
            (self.open, "open"),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
        let text = parts.collect::<Vec<_>>().join(", ");
        if text.is_empty() { format!("{} open", self.all) } else { text }
    }
}

impl Summary {
    /// At most [`SUBJECT_CHARS_MAX`] characters.
    pub(crate) fn subject(&self) -> String {
        let text = match self {
            Self::Group { action, key, counts, .. } => {
                let key = key.shown();
                format!("[{}] {}", counts.shown(), if key.is_empty() { action } else { &key })
            }
            Self::Storm { messages, by_host, .. } => {
                let first = by_host.first().map_or("", |(host, _)| host);
                let others = if by_host.len() > 1 { " and others" } else { "" };
                format!("[{messages} messages withheld] {first}{others}").trim_end().to_owned()
            }
        };
        one_line(&text).chars().take(SUBJECT_CHARS_MAX).collect()
    }

    /// At most [`MESSAGE_BYTES_MAX`] bytes.
    pub(crate) fn message(&self, format: Format) -> String {
        let mut page = Page { text: String::new(), format };
        let link = match self {
            Self::Group { action, key, counts, lines, link } => {
                let (key, shown) = (key.shown(), counts.shown());
                let key = if key.is_empty() { String::new() } else { format!(" ({key})") };
                page.line(&format!("{action}{key}: {shown}."));
                page.line("");
                page.lines(lines, counts.all);
                link
            }
            Self::Storm { messages, by_severity, by_host, link } => {
                page.line(&format!(
                    "{messages} messages were withheld, because there were more than the limit of the media type."
                ));
                page.line("");
                for (severity, problems) in Severity::ALL.iter().zip(by_severity).rev() {
                    if *problems > 0 {
                        page.line(&format!("{}: {problems} problems", severity.label()));
                    }
                }
                page.line("");
                for (host, messages) in by_host {
                    page.line(&format!("{}: {messages} messages", short(host)));
                }
                link
            }
        };
        if let Some(link) = link {
            page.line("");
            page.link(link);
        }
        page.text
    }
}

struct Page {
    text: String,
    format: Format,
}

impl Page {
    fn line(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str(if self.format == Format::Html { "<br>\n" } else { "\n" });
        }
        self.text.push_str(&self.escaped(&one_line(text)));
    }

    fn escaped<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.format {
            Format::Plain => Cow::Borrowed(text),
            Format::Html => Cow::Owned(
                text.replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;")
                    .replace('"', "&quot;"),
            ),
        }
    }

    fn link(&mut self, link: &str) {
        match self.format {
            Format::Plain => self.line(link),
            Format::Html => {
                self.line("");
                let link = self.escaped(link).into_owned();
                let _ = write!(self.text, "<a href=\"{link}\">{link}</a>");
            }
        }
    }

    fn lines(&mut self, lines: &[Line], all: u64) {
        let mut listed = 0;
        for line in lines {
            let before = self.text.len();
            self.line(&line.shown());
            if self.text.len() > MESSAGE_BYTES_MAX - END_BYTES {
                self.text.truncate(before);
                break;
            }
            listed += 1;
        }
        if all > listed {
            self.line(&format!("and {} more", all - listed));
        }
    }
}

impl Line {
    fn shown(&self) -> String {
        let state = match self.state {
            State::New => "",
            State::Updated => ", updated",
            State::Open => ", still open",
            State::Resolved => ", resolved",
        };
        let acknowledged = if self.acknowledged { ", acknowledged" } else { "" };
        let hosts = short(&self.hosts);
        let colon = if hosts.is_empty() { "" } else { ": " };
        let when = if self.state == State::Resolved { "after" } else { "for" };
        format!(
            "[{}{state}{acknowledged}] {hosts}{colon}{} ({when} {})",
            self.severity.label(),
            short(&self.name),
            age(self.age_s)
        )
    }
}

/// Names and tags may have line feeds, and macros that must not become links.
fn one_line(text: &str) -> String {
    without_links(text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
}

fn short(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The address of the list of problems, filtered by the tags of the group and by hosts as far as there is room. `None` =
/// the setting with the address of the interface is empty.
pub(crate) fn link(url: &str, key: &Key, hosts: &[u64]) -> Option<String> {
    let url = url.trim().trim_end_matches('/');
    if url.is_empty() {
        return None;
    }
    let mut link = format!("{url}/problems?sort=severity");
    let encoded = |text: &str| utf8_percent_encode(text, READABLE).to_string();
    // The list separates tags by commas.
    let tags =
        key.tags().filter(|(tag, value)| ![tag, value].iter().any(|text| text.contains(',')));
    let tags: Vec<String> = tags.map(|(tag, value)| encoded(&format!("{tag}={value}"))).collect();
    if !tags.is_empty() {
        let _ = write!(link, "&tags={}", tags.join(","));
    }
    if !hosts.is_empty() {
        let hosts: Vec<String> = hosts.iter().map(u64::to_string).collect();
        let _ = write!(link, "&host={}", hosts.join(","));
    }
    Some(if link.len() <= LINK_BYTES_MAX { link } else { format!("{url}/problems?sort=severity") })
}
