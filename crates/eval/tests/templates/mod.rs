//! The official templates (`templates` below `VEDETTE_SHARED`) as trees.

use std::path::{Path, PathBuf};

use saphyr_parser::{Event, Parser, ScalarStyle};

/// As much of YAML as exports use.
#[derive(Debug)]
pub(crate) enum Node {
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Node {
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }
}

fn read<'a>(events: &mut impl Iterator<Item = Event<'a>>, first: Event<'a>) -> Option<Node> {
    Some(match first {
        Event::Scalar(text, style, ..) => {
            let nothing = style == ScalarStyle::Plain && text == "~";
            Node::Text(if nothing { String::new() } else { text.to_string() })
        }
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                match events.next()? {
                    Event::SequenceEnd => break,
                    event => list.push(read(events, event)?),
                }
            }
            Node::List(list)
        }
        Event::MappingStart(..) => {
            let mut members = Vec::new();
            loop {
                match events.next()? {
                    Event::MappingEnd => break,
                    event => {
                        let name = read(events, event)?.text().to_owned();
                        let value = events.next()?;
                        members.push((name, read(events, value)?));
                    }
                }
            }
            Node::Map(members)
        }
        _ => {
            let next = events.next()?;
            read(events, next)?
        }
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "an environment variable names the folder of recorded data"
)]
fn folder() -> PathBuf {
    let shared = std::env::var("VEDETTE_SHARED").expect("set VEDETTE_SHARED to find templates/");
    Path::new(&shared).join("templates/zabbix-7.0")
}

/// Name and tree of each file, by name.
pub(crate) fn documents() -> Vec<(String, Node)> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder()).expect("the templates are missing") {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut events = Parser::new_from_str(&text).map(|event| event.unwrap().0);
        let first = events.next().unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push((name, read(&mut events, first).unwrap()));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 200, "only {} templates", found.len());
    found
}
