//! Large documents that many paths look into: dependent items run one after the other over the
//! same value of their master. Each thread keeps the last few parsed.

use std::cell::RefCell;

use crate::json::{self, Extent, Json};

/// Shorter texts are parsed faster than they are looked up. Bytes.
const TEXT_BYTES_MIN: usize = 4096;

/// Longer texts are not kept: parsed they take up to sixteen times as much memory.
const TEXT_BYTES_MAX: usize = 2 << 20;

/// Documents of one thread: a master's, and one that a dependent item made of it for its own.
const DOCUMENTS_MAX: usize = 2;

struct Document {
    text: Box<str>,
    extent: Extent,
    /// Parsed when it is asked for a second time.
    parsed: Option<Json<'static>>,
}

thread_local! {
    /// The last used first.
    static DOCUMENTS: RefCell<Vec<Document>> = const { RefCell::new(Vec::new()) };
}

/// Asks a document that was there before; `None` = it was not, or it is no document.
pub(super) fn query<R>(text: &str, extent: Extent, ask: impl FnOnce(&Json<'_>) -> R) -> Option<R> {
    if !(TEXT_BYTES_MIN..=TEXT_BYTES_MAX).contains(&text.len()) {
        return None;
    }
    DOCUMENTS.with_borrow_mut(|documents| {
        let known = documents.iter().position(|d| d.extent == extent && *d.text == *text);
        let Some(at) = known else {
            documents.truncate(DOCUMENTS_MAX - 1);
            documents.insert(0, Document { text: text.into(), extent, parsed: None });
            return None;
        };
        documents[..=at].rotate_right(1);
        let document = documents.first_mut()?;
        if document.parsed.is_none() {
            let parsed = match extent {
                Extent::Whole => json::parse_container(text),
                Extent::Start => json::parse_first_container(text),
            };
            document.parsed = Some(parsed.ok()?.into_owned());
        }
        document.parsed.as_ref().map(ask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonpath::Path;

    fn document(name: &str) -> String {
        let rows: Vec<String> =
            (0..400).map(|n| format!("{{\"id\":{n},\"name\":\"{name} {n}\"}}")).collect();
        format!("{{\"rows\":[{}],\"n\":1.50}}", rows.join(","))
    }

    #[test]
    fn answers_do_not_depend_on_what_was_asked_before() {
        let (a, b, c) = (document("a"), document("b"), document("c"));
        let broken = format!("{}]", &document("d")[..4500]);
        let trailing = format!("{a} x");
        for path in
            ["$.n", "$.rows[7].name", "$.rows[?(@.id==7)].name.first()", "$.none", "$..id.max()"]
        {
            let path = Path::parse(path).unwrap();
            for text in [&a, &a, &a, &b, &a, &c, &b, &a, &broken, &broken, &trailing, &trailing, &b]
            {
                for extent in [Extent::Whole, Extent::Start] {
                    let parsed = match extent {
                        Extent::Whole => json::parse_container(text),
                        Extent::Start => json::parse_first_container(text),
                    };
                    let fresh = parsed.map_err(Into::into).and_then(|d| path.query(&d));
                    assert_eq!(path.query_text(text, extent), fresh);
                }
            }
        }
    }

    #[test]
    fn a_document_is_parsed_when_it_comes_again() {
        let text = document("again");
        let ask = |text: &str| query(text, Extent::Start, |d| d.get("n").map(Json::to_plain));
        assert_eq!(ask(&text), None);
        assert_eq!(ask(&text), Some(Some("1.5".to_owned())));
        for n in 0..DOCUMENTS_MAX {
            assert_eq!(ask(&document(&n.to_string())), None);
        }
        assert_eq!(ask(&text), None, "others have taken its place");
        assert_eq!((ask("{}"), ask("{}")), (None, None));
        let long = format!("[{}1]", "1,".repeat(TEXT_BYTES_MAX / 2));
        assert_eq!((ask(&long), ask(&long)), (None, None));
    }
}
