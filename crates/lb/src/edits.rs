//! Edits of header fields.

/// Set and removed fields of one direction; set ones replace those of the message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    pub(crate) set: Vec<(String, String)>,
    remove: Vec<String>,
}

impl Edits {
    /// Whether a field of the message is dropped.
    pub(crate) fn drops(&self, name: &[u8]) -> bool {
        let same = |own: &String| own.as_bytes().eq_ignore_ascii_case(name);
        self.remove.iter().any(same) || self.set.iter().any(|(own, _)| same(own))
    }

    /// Those of a script: the names that it has edited, and the fields that these names have then.
    pub(crate) fn of_script(set: Vec<(String, String)>, remove: Vec<String>) -> Self {
        Self { set, remove }
    }

    /// The names of dropped fields, and those that are set.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        let set = self.set.iter().flat_map(|(name, value)| [&**name, &**value]);
        self.remove.iter().map(|name| &**name).chain(set)
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
        let set = set.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { set, remove: remove.to_vec() }
    }
}
