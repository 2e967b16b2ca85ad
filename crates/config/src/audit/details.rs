//! Details of an entry as JSON, such as `{"host.name":["update","new","old"]}`, written as the changes come.

use serde_json::{Map, Value as Json};

/// Details of one entry, in bytes at most.
const DETAILS_MAX: usize = 256 * 1024;

/// Stands for the object's name in the API, which may be unknown until the end of the transaction. JSON has
/// this character only as an escape sequence.
const WORD: char = '\0';

/// What has happened to the fields of an object.
#[derive(Debug, Default)]
pub(super) struct Details {
    /// Members of the JSON object, with a comma after each.
    text: String,
    fields: Vec<Field>,
    /// A field may be in the text more than once.
    pub(super) repeats: bool,
}

#[derive(Debug)]
struct Field {
    /// Bytes of its name and of what happened, as [`DETAILS_MAX`] counts them.
    bytes: usize,
    /// Where its member of the text ends.
    end: usize,
}

impl Details {
    /// Adds a field of the object itself (`path` empty) or of a member of it. `what`: the strings of the array.
    pub(super) fn push(&mut self, path: &str, name: &str, what: &[&str]) {
        let text = &mut self.text;
        text.push('"');
        text.push(WORD);
        text.push('.');
        escape(text, path);
        if !path.is_empty() && !name.is_empty() {
            text.push('.');
        }
        escape(text, name);
        text.push_str("\":");
        let begin = text.len();
        text.push('[');
        for (at, one) in what.iter().enumerate() {
            text.push_str(if at == 0 { "\"" } else { ",\"" });
            escape(text, one);
            text.push('"');
        }
        text.push(']');
        let dot = usize::from(!path.is_empty() && !name.is_empty());
        let bytes = path.len() + dot + name.len() + text.len() - begin;
        text.push(',');
        self.fields.push(Field { bytes, end: text.len() });
    }

    /// Moves all fields below `path`.
    pub(super) fn below(&mut self, path: &str) {
        let mut prefix = String::from(WORD);
        prefix.push('.');
        let begin = prefix.len();
        escape(&mut prefix, path);
        prefix.push('.');
        self.text = self.text.replace(&prefix[..begin], &prefix);
        let longer = prefix.len() - begin;
        for (at, field) in self.fields.iter_mut().enumerate() {
            field.bytes += longer;
            field.end += longer * (at + 1);
        }
    }

    /// Adds fields of a later part of the transaction.
    pub(super) fn extend(&mut self, more: Self) {
        if self.fields.is_empty() {
            *self = more;
            return;
        }
        self.repeats = true;
        let begin = self.text.len();
        self.text.push_str(&more.text);
        let moved = more.fields.into_iter().map(|field| Field { end: begin + field.end, ..field });
        self.fields.extend(moved);
    }

    /// The JSON, with the object's name in the API. Details that are too long, or that are `cut`, say so. Of a
    /// field that is repeated, the last value counts.
    pub(super) fn finish(mut self, word: &str, cut: bool) -> String {
        let (mut bytes, mut end, mut is_long) = (0, 0, false);
        for field in &self.fields {
            bytes += field.bytes;
            is_long = bytes > DETAILS_MAX;
            if is_long {
                break;
            }
            end = field.end;
        }
        self.text.truncate(end);
        let mut json = String::with_capacity(end + self.fields.len() * word.len() + 2);
        json.push('{');
        for (at, part) in self.text.split(WORD).enumerate() {
            json.push_str(if at == 0 { "" } else { word });
            json.push_str(part);
        }
        if cut || is_long {
            json.push_str(r#""truncated":["update","1","0"],"#);
        }
        if json.ends_with(',') {
            json.pop();
        }
        json.push('}');
        if self.repeats {
            let all: Map<String, Json> = serde_json::from_str(&json).expect("BUG: no JSON");
            json = Json::Object(all).to_string();
        }
        json
    }
}

/// Appends a text as it is within quotes of JSON.
fn escape(json: &mut String, text: &str) {
    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    if text.as_bytes().iter().all(is_plain) {
        json.push_str(text);
    } else {
        let quoted = Json::from(text).to_string();
        json.push_str(&quoted[1..quoted.len() - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_cut_after_a_whole_field() {
        let mut details = Details::default();
        let long = "x".repeat(DETAILS_MAX / 2);
        for name in ["a", "b", "c"] {
            details.push("", name, &["add", &long]);
        }
        let json = details.finish("host", false);
        let end = r#"","host.truncated":["#;
        assert!(json.starts_with(r#"{"host.a":["add","x"#) && !json.contains(end));
        assert!(json.ends_with(r#"x"],"truncated":["update","1","0"]}"#), "{}", json.len());
        assert_eq!(json.matches("add").count(), 1);
        let cut = Details::default().finish("host", true);
        assert_eq!(cut, r#"{"truncated":["update","1","0"]}"#);
        assert_eq!(Details::default().finish("host", false), "{}");
    }

    #[test]
    fn fields_move_below_a_member() {
        let mut details = Details::default();
        details.push("urls[5]", "", &["add"]);
        details.push("urls[5]", "url", &["add", "\0.x"]);
        details.below("selements[7]");
        let json = r#"{"map.selements[7].urls[5]":["add"],"map.selements[7].urls[5].url":["add","\u0000.x"]}"#;
        assert_eq!(details.finish("map", false), json);
    }

    #[test]
    fn fields_of_later_parts_follow() {
        let mut details = Details::default();
        details.push("", "name", &["update", "b", "a"]);
        let mut more = Details::default();
        more.push("tags[7]", "", &["add"]);
        more.push("", "name", &["update", "c", "b"]);
        details.extend(more);
        let json = r#"{"item.name":["update","c","b"],"item.tags[7]":["add"]}"#;
        assert_eq!(details.finish("item", false), json);
    }
}
