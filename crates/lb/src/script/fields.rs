//! Header fields of a message as scripts see and change them.

use crate::config::{self, has_control, is_token};
use crate::edits::{Edits, SPACES};

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

/// The fields of a message, and what a script makes of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Those of the message that the script has left.
    given: Vec<(String, String)>,
    /// Those of the script, which come after them.
    set: Vec<(String, String)>,
    /// Names whose fields it has replaced or removed.
    dropped: Vec<String>,
}

impl Fields {
    pub(super) fn of<'f>(fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let given = fields.map(|(name, value)| (text(name), text(value))).collect();
        Self { given, ..Self::default() }
    }

    fn all(&self) -> impl Iterator<Item = &(String, String)> {
        self.given.iter().chain(&self.set)
    }

    /// The values of all fields with a name.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.all().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    /// Names in lower case, each once.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.all().map(|(name, _)| name.to_ascii_lowercase()).collect();
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

    /// Adds a field. Those of the message stay as they are.
    pub(super) fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        check_value(name, value)?;
        self.push(name, value)
    }

    /// Removes all fields with a name.
    pub(super) fn remove(&mut self, name: &str) -> Result<(), String> {
        check_name(name)?;
        let same = |own: &str| own.eq_ignore_ascii_case(name);
        if !self.dropped.iter().any(|own| same(own)) {
            if self.dropped.len() == EDITS_MAX {
                return Err(format!("a script edits at most {EDITS_MAX} headers"));
            }
            self.dropped.push(name.to_owned());
        }
        self.given.retain(|(own, _)| !same(own));
        self.set.retain(|(own, _)| !same(own));
        Ok(())
    }

    fn push(&mut self, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim_matches(SPACES);
        let bytes = |name: &str, value: &str| name.len() + value.len();
        let before: usize = self.set.iter().map(|(name, value)| bytes(name, value)).sum();
        if self.set.len() == EDITS_MAX || before + bytes(name, value) > BYTES_MAX {
            return Err(format!(
                "a script sets at most {EDITS_MAX} headers with {BYTES_MAX} bytes together"
            ));
        }
        self.set.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// What the script has changed.
    pub(super) fn edits(&self) -> Edits {
        Edits::of_script(self.set.clone(), self.dropped.clone())
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
        assert!(
            [&b"accept"[..], b"X-A"].iter().all(|name| edits.drops(name)) && !edits.drops(b"y")
        );
    }

    #[test]
    fn what_clients_send_does_not_use_up_the_limits() {
        let value = [b'a'; BYTES_MAX];
        let list = (0..EDITS_MAX).map(|_| (&b"X-A"[..], &value[..]));
        let mut fields = Fields::of(list);
        fields.add("X-A", " b ").expect("a header");
        assert_eq!(fields.values("x-a").count(), EDITS_MAX + 1);
        let edits = fields.edits();
        assert_eq!(edits.set, [("X-A".to_owned(), "b".to_owned())], "without spaces around it");
        assert!(!edits.drops(b"x-a"), "those of the client are sent as they came");
    }

    #[test]
    fn added_and_removed_fields_are_told_apart() {
        let (mut added, mut removed) = (fields(), fields());
        added.add("a", "b").expect("a header");
        removed.remove("a").expect("a header");
        removed.remove("b").expect("a header");
        let parts = |fields: &Fields| fields.edits().parts().map(str::to_owned).collect::<Vec<_>>();
        assert_ne!(parts(&added), parts(&removed));
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
