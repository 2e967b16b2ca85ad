//! Variables of a scenario: `{name}`, set before the first step or found in an answer.

use std::collections::BTreeMap;

use eval::regex;

/// Bytes of one value.
const VALUE_BYTES_MAX: usize = 1 << 20;
/// A value of this kind is looked for in an answer.
const REGEX: &str = "regex:";

/// Names with braces, and their values.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Sets what is plain; what is to be found only if there is an answer to look at.
    pub(super) fn set(
        &mut self,
        list: &[(String, String)],
        answer: Option<&str>,
    ) -> Result<(), String> {
        for (name, value) in list {
            if !(name.len() > 2 && name.starts_with('{') && name.ends_with('}')) {
                return Err(format!("\"{name}={value}\": \"{name}\" not enclosed in {{}}"));
            }
            let value = match (value.strip_prefix(REGEX), answer) {
                (None, Some(_)) if self.0.contains_key(name) => continue,
                (None, _) => self.filled(value),
                (Some(_), None) => continue,
                (Some(pattern), Some(answer)) => {
                    // A group says which part is the value.
                    let has_group = pattern.contains('(');
                    let filled = format!("(?m){}", self.filled(pattern));
                    let found = regex::extract(&filled, "\\1", answer).ok().flatten();
                    let found = found.filter(|it| has_group && it.len() <= VALUE_BYTES_MAX);
                    found.ok_or_else(|| {
                        format!(
                            "\"{name}={value}\": cannot extract the value of \"{name}\" from \
                             response"
                        )
                    })?
                }
            };
            self.0.insert(name.clone(), value);
        }
        Ok(())
    }

    /// A text with the values of variables in it. `{{name}.urlencode()}` and `{{name}.urldecode()}`
    /// change the value on its way.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut out = text.to_owned();
        if !text.contains('{') {
            return out;
        }
        for (name, value) in &self.0 {
            let of = |function: &str| format!("{{{name}.{function}()}}");
            let (encode, decode) = (of("urlencode"), of("urldecode"));
            if out.contains(&encode) {
                out = out.replace(&encode, &eval::macros::url_encode(value));
            }
            if out.contains(&decode) {
                out = out.replace(&decode, &wire::http::decoded(value));
            }
            out = out.replace(name, value);
        }
        out
    }
}

/// A required expression is somewhere in the text.
pub(super) fn is_found(pattern: &str, text: &str) -> bool {
    regex::is_match(&format!("(?m){pattern}"), text, false).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn values() {
        let mut variables = Variables::default();
        let list = pairs(&[("{a}", "x y"), ("{b}", "<{a}>"), ("{c}", "regex:^id=(\\d+)$")]);
        variables.set(&list, None).unwrap();
        assert_eq!(variables.filled("{a} {b} {c} {d}"), "x y <x y> {c} {d}");
        variables.set(&list, Some("id=\nid=42\nid=43")).unwrap();
        assert_eq!(variables.filled("/{c}?{{a}.urlencode()}"), "/42?x%20y");
        variables.set(&pairs(&[("{d}", "a%20b")]), Some("")).unwrap();
        assert_eq!(variables.filled("{{d}.urldecode()}"), "a b");
        let missing = variables.set(&list, Some("none")).unwrap_err();
        assert_eq!(
            missing,
            "\"{c}=regex:^id=(\\d+)$\": cannot extract the value of \"{c}\" from response"
        );
        let bad = variables.set(&pairs(&[("a", "b")]), None).unwrap_err();
        assert_eq!(bad, "\"a=b\": \"a\" not enclosed in {}");
        // A group is what is wanted; an expression that is none finds nothing.
        assert!(variables.set(&pairs(&[("{e}", "regex:x+")]), Some("x")).is_err());
        assert!(variables.set(&pairs(&[("{e}", "regex:(")]), Some("x")).is_err());
    }

    #[test]
    fn required_texts() {
        assert!(is_found("^wel+come$", "x\nwelcome\ny"));
        assert!(!is_found("Welcome", "welcome") && !is_found("(", "("));
    }
}
