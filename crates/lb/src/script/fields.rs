//! Header fields of a message as scripts see and change them.

use crate::config::{self, has_control, is_token};
use crate::edits::Edits;

/// Names that a script may edit at most, and fields that it may set.
const EDITS_MAX: usize = 64;
/// Bytes of the fields that a script sets, together.
const BYTES_MAX: usize = 8_192;

/// Fields that the engine writes, or that say how a message ends.
const OWN: [&str; 13] = [
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "expect",
    "http2-settings",
    "via",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-client-cn",
    "x-vedette-mirror",
];

/// Fields in order, and which names a script has edited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    list: Vec<(String, String)>,
    edited: Vec<String>,
}

impl Fields {
    pub(super) fn of<'f>(fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self {
            list: fields.map(|(name, value)| (text(name), text(value))).collect(),
            edited: Vec::new(),
        }
    }

    /// The values of all fields with a name.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let same = move |(own, value): &'_ (String, String)| -> bool {
            let _unused = value;
            own.eq_ignore_ascii_case(name)
        };
        self.list.iter().filter(move |field| same(field)).map(|(_, value)| &**value)
    }

    /// Names in lower case, each once.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.list.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// The value of a cookie.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.values("cookie").flat_map(|value| value.split(';'));
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| value.trim_matches('"'))
    }

    /// Replaces all fields with a name by one.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        check_value(name, value)?;
        self.remove(name)?;
        self.push(name, value)
    }

    /// Adds a field.
    pub(super) fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        check_value(name, value)?;
        self.edit(name)?;
        self.push(name, value)
    }

    /// Removes all fields with a name.
    pub(super) fn remove(&mut self, name: &str) -> Result<(), String> {
        self.edit(name)?;
        self.list.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        Ok(())
    }

    fn push(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.list.push((name.to_owned(), value.to_owned()));
        let (count, bytes) = self.set_fields().fold((0, 0), |(count, bytes), (name, value)| {
            (count + 1, bytes + name.len() + value.len())
        });
        if count > EDITS_MAX || bytes > BYTES_MAX {
            self.list.pop();
            return Err(format!(
                "a script sets at most {EDITS_MAX} headers with {BYTES_MAX} bytes together"
            ));
        }
        Ok(())
    }

    fn edit(&mut self, name: &str) -> Result<(), String> {
        check_name(name)?;
        if !self.is_edited(name) {
            if self.edited.len() == EDITS_MAX {
                return Err(format!("a script edits at most {EDITS_MAX} headers"));
            }
            self.edited.push(name.to_owned());
        }
        Ok(())
    }

    fn is_edited(&self, name: &str) -> bool {
        self.edited.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    fn set_fields(&self) -> impl Iterator<Item = &(String, String)> {
        self.list.iter().filter(|(name, _)| self.is_edited(name))
    }

    /// What the script has changed.
    pub(super) fn edits(&self) -> Edits {
        Edits::of_script(self.set_fields().cloned().collect(), self.edited.clone())
    }
}

/// Checks that scripts may edit a header.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if !is_token(name) {
        return Err(format!("{name:?} is not a header name"));
    }
    if config::FIXED.iter().chain(&OWN).any(|own| own.eq_ignore_ascii_case(name)) {
        return Err(format!("the header '{name}' cannot be edited"));
    }
    Ok(())
}

/// Checks a header that a script sets.
pub(super) fn check_value(name: &str, value: &str) -> Result<(), String> {
    check_name(name)?;
    if value.len() > BYTES_MAX {
        return Err(format!("the value of '{name}' is limited to {BYTES_MAX} bytes"));
    }
    if has_control(value) {
        return Err(format!("the value of '{name}' contains a control character"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields {
        let list: [(&[u8], &[u8]); 3] = [(b"Accept", b"a"), (b"X-A", b"1"), (b"x-a", b"2")];
        Fields::of(list.into_iter())
    }

    #[test]
    fn edits_replace_all_fields_with_the_name() {
        let mut fields = fields();
        fields.set("X-a", "3").expect("a header");
        fields.add("x-A", "4").expect("a header");
        fields.remove("Accept").expect("a header");
        fields.add("Y", "5").expect("a header");
        assert_eq!(fields.values("x-a").collect::<Vec<_>>(), ["3", "4"]);
        assert_eq!(fields.names(), ["x-a", "y"]);
        let edits = fields.edits();
        let text = |text: &str| text.to_owned();
        let set = [("X-a", "3"), ("x-A", "4"), ("Y", "5")];
        assert_eq!(edits.set, set.map(|(name, value)| (text(name), text(value))));
        assert!([&b"accept"[..], b"X-A", b"y"].iter().all(|name| edits.drops(name)));
    }

    #[test]
    fn headers_that_frame_or_split_a_message_are_refused() {
        for (name, value) in [
            ("Content-Length", "1"),
            ("transfer-encoding", "chunked"),
            ("Connection", "close"),
            ("Keep-Alive", "1"),
            ("X-Forwarded-For", "1.2.3.4"),
            ("Host", "a"),
            ("X A", "1"),
            ("X-A:", "1"),
            ("", "1"),
            ("X-A\r\nX-B", "1"),
            ("X-A", "1\r\nX-B: 2"),
            ("X-A", "1\n"),
            ("X-A", "1\0"),
        ] {
            let (mut set, mut added) = (fields(), fields());
            assert!(set.set(name, value).is_err() && added.add(name, value).is_err(), "{name:?}");
            assert_eq!((set, added), (fields(), fields()));
        }
    }

    #[test]
    fn what_a_script_sets_is_bounded() {
        let mut fields = fields();
        assert!(fields.set("X-Big", &"a".repeat(BYTES_MAX)).is_err());
        let all = (0..1_000).filter(|at| fields.add("X-Many", &at.to_string()).is_ok());
        assert_eq!(all.count(), EDITS_MAX);
        assert!(
            (0..1_000).filter(|at| fields.remove(&format!("X-{at}")).is_ok()).count() < EDITS_MAX
        );
    }

    #[test]
    fn cookies_are_found_by_their_names() {
        let list: [(&[u8], &[u8]); 2] = [(b"Cookie", b"a=1; b=\"2\""), (b"cookie", b"c=3")];
        let fields = Fields::of(list.into_iter());
        let found = ["a", "b", "c", "d"].map(|name| fields.cookie(name));
        assert_eq!(found, [Some("1"), Some("2"), Some("3"), None]);
    }
}
