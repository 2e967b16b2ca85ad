//! Edits of header fields.

/// Edits of the fields of one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// Fields that the message gets.
    pub(crate) set: Vec<(String, String)>,
    /// Names whose fields it loses before.
    remove: Vec<String>,
}

/// Around values they have no meaning (RFC 9110, 5.5), and HTTP/2 forbids them (RFC 9113, 8.2.1).
pub(crate) const SPACES: [char; 2] = [' ', '\t'];

impl Edits {
    /// Whether a field of the message is dropped.
    pub(crate) fn drops(&self, name: &[u8]) -> bool {
        let same = |own: &String| own.as_bytes().eq_ignore_ascii_case(name);
        self.remove.iter().any(same)
    }

    /// Those of a script: the fields that it has set or added, and the names of those that it has replaced or removed.
    pub(crate) fn of_script(set: Vec<(String, String)>, remove: Vec<String>) -> Self {
        Self { set, remove }
    }

    /// The names of dropped fields, and, after an empty part, the fields that are set.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        let set = self.set.iter().flat_map(|(name, value)| [&**name, &**value]);
        self.remove.iter().map(|name| &**name).chain([""]).chain(set)
    }

    /// Whether it changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }

    /// Those of a rule.
    pub(crate) fn compile(
        set: &std::collections::BTreeMap<String, String>,
        remove: &[String],
    ) -> Self {
        let remove = remove.iter().chain(set.keys()).cloned().collect();
        let value = |value: &String| value.trim_matches(SPACES).to_owned();
        let set = set.iter().map(|(name, text)| (name.clone(), value(text))).collect();
        Self { set, remove }
    }
}
