//! The syntax of `haproxy.cfg`: lines of words in sections. Source: HAProxy's configuration manual,
//! section 2, "Configuring HAProxy".

use crate::import::{Directive, Place};

/// Sections that have directives of proxies; others (`global`, `peers`, `userlist`, …) say nothing
/// about forwarding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Accepts connections and chooses a backend.
    Frontend,
    /// Servers and how one of them is chosen.
    Backend,
    /// A frontend and a backend in one.
    Listen,
}

/// A proxy with the directives of the `defaults` that hold for it before its own.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) defaults: Vec<Directive>,
    pub(super) own: Vec<Directive>,
}

impl Section {
    /// Directives in the order in which later ones replace earlier ones.
    pub(super) fn directives(&self) -> impl Iterator<Item = &Directive> {
        self.defaults.iter().chain(&self.own)
    }

    /// The last directive of a name decides.
    pub(super) fn last(&self, name: &str) -> Option<&Directive> {
        self.directives().filter(|directive| directive.name() == name).last()
    }
}

enum Target {
    Defaults,
    Proxy,
    Other,
}

const OTHER: [&str; 15] = [
    "global",
    "peers",
    "resolvers",
    "mailers",
    "userlist",
    "cache",
    "program",
    "http-errors",
    "ring",
    "log-forward",
    "fcgi-app",
    "crt-store",
    "log-profile",
    "traces",
    "acme",
];

/// Splits a file into its proxies.
///
/// # Errors
/// The line with a quote that does not end, or a directive outside a section.
pub(super) fn read(file: &str, text: &str) -> anyhow::Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    let mut all_defaults: Vec<(String, Vec<Directive>)> = Vec::new();
    let mut target = None;
    for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        let place = Place { file: file.to_owned(), line };
        let words = words(text).map_err(|problem| anyhow::anyhow!("{file}:{line}: {problem}"))?;
        let Some(first) = words.first().cloned() else { continue };
        let name = words.get(1).cloned().unwrap_or_default();
        let directive = Directive { place, words };
        let kind = match first.as_str() {
            "frontend" => Some(Kind::Frontend),
            "backend" => Some(Kind::Backend),
            "listen" => Some(Kind::Listen),
            _ => None,
        };
        if let Some(kind) = kind {
            let from = directive.words.iter().position(|word| word == "from");
            let from = from.and_then(|at| directive.words.get(at + 1));
            let defaults =
                all_defaults.iter().rev().find(|(name, _)| from.is_none_or(|f| f == name));
            let defaults = defaults.map(|(_, lines)| lines.clone()).unwrap_or_default();
            sections.push(Section { kind, name, defaults, own: Vec::new() });
            target = Some(Target::Proxy);
        } else if first == "defaults" {
            all_defaults.push((name, Vec::new()));
            target = Some(Target::Defaults);
        } else if OTHER.contains(&first.as_str()) && starts_section(text) {
            target = Some(Target::Other);
        } else {
            let lines = match target {
                Some(Target::Proxy) => sections.last_mut().map(|section| &mut section.own),
                Some(Target::Defaults) => all_defaults.last_mut().map(|(_, lines)| lines),
                Some(Target::Other) => continue,
                None => anyhow::bail!("{file}:{line}: '{first}' stands before any section"),
            };
            lines.into_iter().for_each(|lines| lines.push(directive.clone()));
        }
    }
    Ok(sections)
}

/// `cache` is a directive as well, which is indented by convention.
fn starts_section(text: &str) -> bool {
    !text.starts_with([' ', '\t'])
}

/// Words of a line: blanks separate, quotes and backslashes protect, `#` begins a comment.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'', None) | ('"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => match chars.next() {
                Some('n') => word.get_or_insert_default().push('\n'),
                Some('r') => word.get_or_insert_default().push('\r'),
                Some('t') => word.get_or_insert_default().push('\t'),
                // Regular expressions keep theirs: `\1` refers to a group.
                Some(c) if c.is_ascii_digit() => word.get_or_insert_default().extend(['\\', c]),
                Some(c) => word.get_or_insert_default().push(c),
                None => {}
            },
            ('#', None) => break,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote does not end".to_owned());
    }
    words.extend(word);
    Ok(words)
}
