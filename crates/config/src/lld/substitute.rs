//! LLD macros in the members of prototypes, quoted as each member needs it.

use eval::lld::{Row, substitute_expression, substitute_text};
use eval::macros::FunctionEnv;
use objects::StepKind;
use serde_json::Value as Json;

use crate::objects::{Step, Tag};

/// Without the blanks around: names and most other members lose what macros bring along.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// With a backslash before each of these characters.
fn backslashed(value: &str, special: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if special.contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// One row's macros in several guises.
pub(super) struct Substitution<'a> {
    row: &'a Row,
    env: FunctionEnv<'a>,
}

impl<'a> Substitution<'a> {
    pub(super) fn new(row: &'a Row, tz: &'a jiff::tz::TimeZone) -> Self {
        Self { row, env: FunctionEnv { tz } }
    }

    pub(super) fn text(&self, text: &str) -> String {
        substitute_text(text, self.row, &self.env)
    }

    /// As [`Self::text`], [trimmed](trim).
    pub(super) fn name(&self, text: &str) -> String {
        trim(&self.text(text)).to_owned()
    }

    pub(super) fn key(&self, key: &str) -> Result<String, eval::key::KeyError> {
        eval::lld::substitute_key(key, self.row, &self.env)
    }

    pub(super) fn expression(&self, text: &str) -> String {
        substitute_expression(text, self.row, &self.env)
    }

    fn escaped(&self, text: &str, escape: impl Fn(&str) -> String) -> String {
        if !text.contains("{#") {
            return text.to_owned();
        }
        let macros = self.row.macros().iter().map(|(name, value)| (name.clone(), escape(value)));
        substitute_text(text, &Row::new(macros.collect()), &self.env)
    }

    /// In the texts of a JSON document. What is none before the macros are replaced (a bare
    /// macro stands for a number) is taken as plain text.
    pub(super) fn json(&self, text: &str) -> String {
        if !text.contains("{#") {
            return text.to_owned();
        }
        match serde_json::from_str::<Json>(text) {
            Ok(mut document) => {
                self.leaves(&mut document);
                document.to_string()
            }
            Err(_) => self.text(text),
        }
    }

    fn leaves(&self, json: &mut Json) {
        match json {
            Json::String(text) => *text = self.text(text),
            Json::Array(list) => list.iter_mut().for_each(|one| self.leaves(one)),
            Json::Object(members) => {
                let old = std::mem::take(members);
                for (name, mut value) in old {
                    self.leaves(&mut value);
                    members.insert(self.text(&name), value);
                }
            }
            _ => {}
        }
    }

    pub(super) fn xml(&self, text: &str) -> String {
        self.escaped(text, |value| {
            let mut out = String::with_capacity(value.len());
            for c in value.chars() {
                match c {
                    '&' => out.push_str("&amp;"),
                    '<' => out.push_str("&lt;"),
                    '>' => out.push_str("&gt;"),
                    '"' => out.push_str("&quot;"),
                    '\'' => out.push_str("&apos;"),
                    c => out.push(c),
                }
            }
            out
        })
    }

    pub(super) fn steps(&self, steps: &[Step]) -> Vec<Step> {
        steps
            .iter()
            .map(|step| Step {
                kind: step.kind,
                params: self.step_params(step),
                error_handler: step.error_handler,
                error_handler_params: self.text(&step.error_handler_params),
            })
            .collect()
    }

    /// In paths and patterns of metrics macros mostly stand in quoted texts, which quotes would end;
    /// in regular expressions they mean themselves.
    fn step_params(&self, step: &Step) -> String {
        let quotes = |value: &str| backslashed(value, "\\'\"");
        let regex = |value: &str| backslashed(value, ".\\+*?[^]$(){}=!<>|:-#");
        match step.kind {
            StepKind::JsonPath | StepKind::PrometheusPattern | StepKind::PrometheusToJson => {
                self.escaped(&step.params, quotes)
            }
            StepKind::MatchesRegex | StepKind::NotMatchesRegex => self.escaped(&step.params, regex),
            StepKind::Regex | StepKind::CheckRegexError => {
                let (pattern, output) = step.params.split_once('\n').unwrap_or((&step.params, ""));
                let output = self.escaped(output, |value| backslashed(value, "\\"));
                format!("{}\n{output}", self.escaped(pattern, regex))
            }
            _ => self.text(&step.params),
        }
    }

    pub(super) fn tags(&self, tags: &[Tag]) -> Vec<Tag> {
        let mut out: Vec<Tag> = Vec::with_capacity(tags.len());
        for tag in tags {
            let tag = Tag { tag: self.text(&tag.tag), value: self.text(&tag.value) };
            if !out.contains(&tag) {
                out.push(tag);
            }
        }
        out.sort();
        out
    }
}
