//! User macros: syntax, definitions, resolution.

use model::HostId;

use crate::regex;

/// Longest chain of linked templates that is followed.
pub const TEMPLATE_DEPTH_MAX: usize = 64;

/// A user macro as written: `{$NAME}`, `{$NAME:context}`, `{$NAME:regex:"pattern"}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserMacro {
    /// Name without `{$` and `}`.
    pub name: String,
    /// What stands behind the colon.
    pub context: Context,
}

/// The context of a user macro.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// `{$NAME}`
    None,
    /// `{$NAME:text}`, unquoted.
    Exact(String),
    /// `{$NAME:regex:pattern}`; only in definitions.
    Regex(String),
}

/// The text is not a user macro.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid macro \"{0}\"")]
pub struct UserMacroError(pub String);

impl UserMacro {
    /// Parses a text that is exactly one user macro.
    pub fn parse(text: &str) -> Result<Self, UserMacroError> {
        match Self::parse_prefix(text) {
            Ok((parsed, len)) if len == text.len() => Ok(parsed),
            _ => Err(UserMacroError(text.to_owned())),
        }
    }

    /// Parses the user macro at the start of `text`; gives its length in bytes too.
    pub fn parse_prefix(text: &str) -> Result<(Self, usize), UserMacroError> {
        Self::parse_inner(text).ok_or_else(|| UserMacroError(text.to_owned()))
    }

    fn parse_inner(text: &str) -> Option<(Self, usize)> {
        let after = text.strip_prefix("{$")?;
        let name_len = after
            .bytes()
            .take_while(|b| {
                b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.')
            })
            .count();
        if name_len == 0 {
            return None;
        }
        let name = after[..name_len].to_owned();
        let mut at = 2 + name_len;
        match text.as_bytes().get(at)? {
            b'}' => return Some((Self { name, context: Context::None }, at + 1)),
            b':' => at += 1,
            _ => return None,
        }
        at += spaces(text, at);
        let is_regex = text[at..].starts_with("regex:");
        if is_regex {
            at += "regex:".len();
            at += spaces(text, at);
        }
        let (value, end) = if text.as_bytes().get(at) == Some(&b'"') {
            let (value, end) = unquote(text, at)?;
            (value, end + spaces(text, end))
        } else {
            let len = text[at..].find('}')?;
            (text[at..at + len].to_owned(), at + len)
        };
        if text.as_bytes().get(end) != Some(&b'}') {
            return None;
        }
        let context = if is_regex { Context::Regex(value) } else { Context::Exact(value) };
        Some((Self { name, context }, end + 1))
    }
}

impl std::fmt::Display for UserMacro {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (prefix, context) = match &self.context {
            Context::None => return write!(f, "{{${}}}", self.name),
            Context::Exact(context) => ("", context),
            Context::Regex(context) => ("regex:", context),
        };
        let quoted = context.starts_with([' ', '"'])
            || context.contains('}')
            || (prefix.is_empty() && context.starts_with("regex:"));
        if quoted {
            write!(f, "{{${}:{prefix}\"{}\"}}", self.name, context.replace('"', "\\\""))
        } else {
            write!(f, "{{${}:{prefix}{context}}}", self.name)
        }
    }
}

fn spaces(text: &str, from: usize) -> usize {
    text.as_bytes()[from..].iter().take_while(|b| **b == b' ').count()
}

/// Reads the quoted text at `from`; only `\"` is an escape.
fn unquote(text: &str, from: usize) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text[from + 1..].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        match c {
            '"' => return Some((value, from + 2 + offset)),
            '\\' if matches!(chars.peek(), Some((_, '"'))) => {
                value.push('"');
                chars.next();
            }
            c => value.push(c),
        }
    }
    None
}

/// A user macro defined globally, on a template or on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacroDef {
    /// Name without `{$` and `}`.
    pub name: String,
    /// For which contexts it holds.
    pub context: Context,
    /// Its value; of a vault macro the path.
    pub value: String,
    /// How the value is kept.
    pub kind: MacroKind,
}

/// The API's `type` of a user macro.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum MacroKind {
    #[default]
    Text = 0,
    /// 1: never shown
    Secret = 1,
    /// 2: the value is a path in a vault
    Vault = 2,
}

impl MacroDef {
    /// A text macro from its written form (`{$NAME:context}`).
    pub fn text(written: &str, value: &str) -> Result<Self, UserMacroError> {
        let UserMacro { name, context } = UserMacro::parse(written)?;
        Ok(Self { name, context, value: value.to_owned(), kind: MacroKind::Text })
    }

    /// The value for texts that somebody may see.
    pub fn masked(&self) -> &str {
        match self.kind {
            MacroKind::Text => &self.value,
            MacroKind::Secret | MacroKind::Vault => MASK,
        }
    }
}

/// What stands for the value of a secret macro.
pub const MASK: &str = "******";

/// Where definitions and template links come from.
pub trait MacroNodes {
    /// Macros of a host or template.
    fn macros(&self, node: HostId) -> &[MacroDef];
    /// Templates linked to a host or template.
    fn templates(&self, node: HostId) -> &[HostId];
    /// Global macros.
    fn global(&self) -> &[MacroDef];
}

/// Hosts in whose eyes macros are resolved: each host and its templates in turn, level by
/// level, then the global macros. A definition with fitting context (exact before regular
/// expression) anywhere wins over those without context.
#[derive(Clone, Copy)]
pub struct MacroScope<'a> {
    /// Definitions and links.
    pub nodes: &'a dyn MacroNodes,
    /// Hosts in order.
    pub hosts: &'a [HostId],
}

impl std::fmt::Debug for MacroScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MacroScope").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl<'a> MacroScope<'a> {
    /// The definition that a macro stands for.
    pub fn resolve(&self, wanted: &UserMacro) -> Option<&'a MacroDef> {
        let mut base = None;
        let mut level: Vec<HostId> = self.hosts.to_vec();
        let mut seen: Vec<HostId> = Vec::new();
        for _ in 0..TEMPLATE_DEPTH_MAX {
            if level.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for node in level {
                if seen.contains(&node) {
                    continue;
                }
                seen.push(node);
                match find(self.nodes.macros(node), wanted) {
                    Some(Found::Context(def)) => return Some(def),
                    Some(Found::Base(def)) => base = base.or(Some(def)),
                    None => {}
                }
                next.extend_from_slice(self.nodes.templates(node));
            }
            level = next;
        }
        match find(self.nodes.global(), wanted) {
            Some(Found::Context(def)) => Some(def),
            Some(Found::Base(def)) => base.or(Some(def)),
            None => base,
        }
    }
}

enum Found<'a> {
    /// Fits with the context asked for.
    Context(&'a MacroDef),
    /// The definition without context, while one was asked for.
    Base(&'a MacroDef),
}

fn find<'a>(defs: &'a [MacroDef], wanted: &UserMacro) -> Option<Found<'a>> {
    let named = || defs.iter().filter(|d| d.name == wanted.name);
    if let Some(def) = named().find(|d| d.context == wanted.context) {
        return Some(Found::Context(def));
    }
    if let Context::Exact(context) = &wanted.context {
        let mut fitting: Vec<&MacroDef> = named()
            .filter(|d| match &d.context {
                Context::Regex(p) => regex::is_match(p, context, false).unwrap_or(false),
                _ => false,
            })
            .collect();
        fitting.sort_by(|a, b| a.context.cmp(&b.context));
        if let Some(def) = fitting.first() {
            return Some(Found::Context(def));
        }
    }
    named().find(|d| d.context == Context::None).map(Found::Base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Nodes;

    #[test]
    fn syntax() {
        for (text, name, context) in [
            ("{$M}", "M", Context::None),
            ("{$M.X_1:ctx}", "M.X_1", Context::Exact("ctx".into())),
            ("{$M: ctx }", "M", Context::Exact("ctx ".into())),
            ("{$M:\"a}\\\"b\" }", "M", Context::Exact("a}\"b".into())),
            ("{$M:}", "M", Context::Exact(String::new())),
            ("{$M:regex:^a}", "M", Context::Regex("^a".into())),
            ("{$M:regex:\"^a{2}\"}", "M", Context::Regex("^a{2}".into())),
        ] {
            let parsed = UserMacro::parse(text).unwrap();
            assert_eq!((parsed.name.as_str(), &parsed.context), (name, &context), "{text}");
            assert_eq!(UserMacro::parse(&parsed.to_string()), Ok(parsed), "{text}");
        }
        for text in ["{$}", "{$m}", "{$M", "{$M:\"a}", "{$M:\"a\"b}", "{M}", "{$M}x", ""] {
            assert!(UserMacro::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn resolution() {
        let defs = |list: &[(&str, &str)]| {
            list.iter().map(|(m, v)| MacroDef::text(m, v).unwrap()).collect::<Vec<_>>()
        };
        let nodes = Nodes(vec![
            (0, defs(&[("{$A}", "g"), ("{$B}", "gb"), ("{$B:x}", "gbx")]), vec![]),
            (1, defs(&[("{$A}", "t1"), ("{$C:regex:\"^/var\"}", "var")]), vec![HostId(1)]),
            (2, defs(&[("{$C}", "t2"), ("{$C:\"/var/a\"}", "exact")]), vec![HostId(1)]),
            (3, defs(&[("{$B}", "hb")]), vec![HostId(2), HostId(1)]),
        ]);
        let scope = MacroScope { nodes: &nodes, hosts: &[HostId(3)] };
        for (text, value) in [
            ("{$A}", Some("t1")),
            ("{$A:any}", Some("t1")),
            ("{$B}", Some("hb")),
            ("{$B:x}", Some("gbx")),
            ("{$B:y}", Some("hb")),
            ("{$C:/var/a}", Some("exact")),
            ("{$C:/var/b}", Some("var")),
            ("{$C:/tmp}", Some("t2")),
            ("{$D}", None),
        ] {
            let wanted = UserMacro::parse(text).unwrap();
            assert_eq!(scope.resolve(&wanted).map(|d| d.value.as_str()), value, "{text}");
        }
    }
}
