//! Other names of keys: `Alias`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use eval::key::ItemKey;

/// Ends a name that stands for any parameters.
const ANY: &str = "[*]";

/// Aliases of keys. Names are compared as texts, with their parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases {
    exact: BTreeMap<String, String>,
    /// `name[*]`, by name.
    any: BTreeMap<String, String>,
}

/// An alias that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AliasError {
    /// Not `name:key`.
    #[error("\"{0}\" is not an alias, such as name:key or name[*]:key[*]")]
    Form(String),
    /// The name is taken.
    #[error("alias \"{0}\" is defined twice")]
    Twice(String),
}

impl Aliases {
    /// Adds an alias in the form `name:key`. With `name[*]:key[*]`, parameters of the name are those of the key.
    pub fn add(&mut self, text: &str) -> Result<(), AliasError> {
        let form = || AliasError::Form(text.to_owned());
        let (_, length) = ItemKey::parse_prefix(text).map_err(|_| form())?;
        let (name, rest) = text.split_at(length);
        let key =
            rest.strip_prefix(':').filter(|key| ItemKey::parse(key).is_ok()).ok_or_else(form)?;
        let before = match name.strip_suffix(ANY) {
            Some(name) => self.any.insert(name.to_owned(), key.to_owned()),
            None => self.exact.insert(name.to_owned(), key.to_owned()),
        };
        if before.is_some() { Err(AliasError::Twice(name.to_owned())) } else { Ok(()) }
    }

    /// The key that a text stands for.
    pub(crate) fn resolve<'a>(&'a self, text: &'a str) -> Cow<'a, str> {
        if let Some(key) = self.exact.get(text) {
            return Cow::Borrowed(key);
        }
        let Some((name, params)) = text.split_once('[') else { return Cow::Borrowed(text) };
        match self.any.get(name) {
            None => Cow::Borrowed(text),
            Some(key) => match key.strip_suffix(ANY) {
                Some(key) => Cow::Owned(format!("{key}[{params}")),
                None => Cow::Borrowed(key),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a 7.0.22 agent resolves these names.
    #[test]
    fn names_are_resolved_as_by_agentd() {
        let mut aliases = Aliases::default();
        for alias in [
            "short:plain",
            "al[*]:flex[*]",
            "fixed:flex[a,b]",
            "ping2[*]:agent.ping",
            "size[*]:vfs.fs.size[/,*]",
            "chain:short",
            "any[*]:pre[*]",
            "any[q]:pre[special]",
        ] {
            aliases.add(alias).unwrap();
        }
        for (text, expected) in [
            ("short", "plain"),
            ("short[]", "short[]"),
            ("al[q,r]", "flex[q,r]"),
            ("al", "al"),
            ("fixed", "flex[a,b]"),
            ("ping2[x]", "agent.ping"),
            ("ping2", "ping2"),
            ("size[free]", "vfs.fs.size[/,*]"),
            ("chain", "short"),
            ("any[q]", "pre[special]"),
            ("any[\"q\"]", "pre[\"q\"]"),
            ("any[]", "pre[]"),
            ("other[x]", "other[x]"),
        ] {
            assert_eq!(aliases.resolve(text), expected, "{text}");
        }
    }

    #[test]
    fn wrong_aliases_are_refused() {
        let mut aliases = Aliases::default();
        for text in ["a", "a:", "a:b:c", "a b:c", ":b", "a[:b", ""] {
            assert_eq!(aliases.add(text), Err(AliasError::Form(text.to_owned())));
        }
        aliases.add("a:b").unwrap();
        assert_eq!(aliases.add("a:c"), Err(AliasError::Twice("a".into())));
    }
}
