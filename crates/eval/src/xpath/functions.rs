//! `id()`, `lang()` and `namespace-uri()`: what names and languages mean in a document.

use std::collections::HashSet;

use super::XpathError;
use super::dom::{Document, NodeId, NodeKind};

/// What the prefix `xml` stands for.
const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// Refuses other numbers of arguments, as libxml2 does.
pub(super) fn check_arguments(n: usize, min: usize, max: usize) -> Result<(), XpathError> {
    if (min..=max).contains(&n) {
        return Ok(());
    }
    Err(XpathError::Path("Invalid number of arguments".to_owned()))
}

fn own_and_above(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    std::iter::successors(Some(node), |node| document.parent(*node))
}

fn attribute<'d>(document: &'d Document, node: NodeId, name: &str) -> Option<&'d str> {
    let found = document.attributes(node).iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// The namespace of the name of an element, or of an attribute of it; empty = none.
pub(super) fn namespace<'d>(
    document: &'d Document,
    node: NodeId,
    name: &str,
    is_attribute: bool,
) -> &'d str {
    let declaration = match name.split_once(':') {
        Some(("xml", _)) => return XML_NAMESPACE,
        Some((prefix, _)) => format!("xmlns:{prefix}"),
        None if is_attribute || document.kind(node) != NodeKind::Element => return "",
        None => "xmlns".to_owned(),
    };
    let found = own_and_above(document, node).find_map(|n| attribute(document, n, &declaration));
    found.unwrap_or_default()
}

/// Whether the nearest `xml:lang` is this language, or a variant of it.
pub(super) fn speaks(document: &Document, node: NodeId, wanted: &str) -> bool {
    let language = own_and_above(document, node).find_map(|n| attribute(document, n, "xml:lang"));
    let Some(language) = language else { return false };
    let same = |(a, b): (u8, u8)| a.eq_ignore_ascii_case(&b);
    let behind = language.as_bytes().get(wanted.len()..);
    language.bytes().zip(wanted.bytes()).all(same)
        && behind.is_some_and(|rest| matches!(rest.first(), None | Some(b'-')))
}

/// Elements whose `xml:id` is in one of the lists, in document order. Blanks at the start of a list
/// belong to its first id, as in libxml2.
pub(super) fn with_ids(document: &Document, lists: &[String]) -> Vec<NodeId> {
    const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
    let mut wanted: HashSet<&str> = HashSet::new();
    for list in lists {
        let skipped = usize::from(list.starts_with(BLANK));
        wanted.extend(list.split(BLANK).filter(|id| !id.is_empty()).skip(skipped));
    }
    // Of several elements with one id the first has it.
    let has_id = |node: &NodeId| {
        let id = attribute(document, *node, "xml:id").map(str::trim);
        id.is_some_and(|id| wanted.remove(id))
    };
    (0..document.len()).filter(has_id).collect()
}

#[cfg(test)]
mod tests {
    use crate::xpath::query;

    /// What a Zabbix 7.0.22 answers.
    #[test]
    fn ids_languages_and_namespaces() {
        let plain = "<r xml:lang=\"en\"><a id=\"one\">x</a><b xml:lang=\"de-AT\">\
                     <c xml:id=\"two\">y</c></b></r>";
        let spaces = "<r xmlns=\"urn:d\" xmlns:p=\"urn:p\" xml:lang=\"en\"><e p:q=\"1\">x</e>\
                      <p:f><g xml:id=\"two\">y</g></p:f><h xmlns=\"\">z</h></r>";
        let (c, b) =
            ("<c xml:id=\"two\">y</c>", "<b xml:lang=\"de-AT\"><c xml:id=\"two\">y</c></b>");
        for (document, path, result) in [
            (plain, "id('one')", Ok("")),
            (plain, "id('two')", Ok(c)),
            (plain, "id('two one')", Ok(c)),
            (plain, "count(id('  two   one '))", Ok("0")),
            (plain, "count(id('two two'))", Ok("1")),
            (plain, "id('two')/..", Ok(b)),
            (plain, "string(id('two'))", Ok("y")),
            (plain, "id('one') | //c", Ok(c)),
            (plain, "boolean(id('zz'))", Ok("0")),
            (plain, "count(id(//c))", Ok("0")),
            (plain, "id(5)", Ok("")),
            (plain, "id()", Err(())),
            (plain, "id('a','b')", Err(())),
            (plain, "lang('en')", Ok("0")),
            (plain, "//c[lang('de')]", Ok(c)),
            (plain, "//c[lang('DE')]", Ok(c)),
            (plain, "//c[lang('de-at')]", Ok(c)),
            (plain, "//c[lang('de-A')]", Ok("")),
            (plain, "//c[lang('de-AT-1')]", Ok("")),
            (plain, "count(//*[lang('en')])", Ok("2")),
            (plain, "count(//*[lang('')])", Ok("0")),
            (plain, "/r/a/@id[lang('en')]", Ok(" id=\"one\"")),
            (plain, "/r/a/text()[lang('en')]", Ok("x")),
            (plain, "lang()", Err(())),
            (spaces, "namespace-uri(/*)", Ok("urn:d")),
            (spaces, "namespace-uri(//*[local-name()='f'])", Ok("urn:p")),
            (spaces, "namespace-uri(//@*[local-name()='q'])", Ok("urn:p")),
            (spaces, "namespace-uri(//*[local-name()='h'])", Ok("")),
            (spaces, "namespace-uri(//@*[name()='xml:lang'])", Ok(super::XML_NAMESPACE)),
            (spaces, "namespace-uri(//text())", Ok("")),
            (spaces, "namespace-uri(//none)", Ok("")),
            (spaces, "namespace-uri()", Ok("")),
            (spaces, "count(//*[namespace-uri()='urn:d'])", Ok("3")),
            (spaces, "count(//*[namespace-uri()='urn:p'])", Ok("1")),
            (spaces, "count(//*[namespace-uri()=''])", Ok("1")),
            (spaces, "count(id('two'))", Ok("1")),
            (spaces, "namespace-uri('x')", Err(())),
            (spaces, "namespace-uri(1)", Err(())),
            (spaces, "namespace-uri(/*,/*)", Err(())),
        ] {
            let got = query(document, path);
            assert_eq!(got.as_deref().map_err(|_| ()), result, "{path}: {got:?}");
        }
    }
}
