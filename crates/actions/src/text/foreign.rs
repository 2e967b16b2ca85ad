//! Values that would become links of their reader.

/// How macros start that are replaced when a message is handed to its media, without the brace.
const LINK: &str = "ALERT.LINK.";

/// The value with a space behind each brace that starts such a macro, or that what follows the value may make one.
///
/// The hand-over cannot tell macros of a template from those of a value. Without the space, the one who chooses a value
/// (a comment, a line of a log) gets a link that acts for the reader of the message.
pub(crate) fn without_links(value: String) -> String {
    let starts = |rest: &str| rest.starts_with(LINK) || LINK.starts_with(rest);
    // The brace may stand before the value.
    let at_start = value.starts_with(LINK).then_some(0);
    let braces = value.match_indices('{').map(|(at, _)| at + 1);
    let places: Vec<usize> =
        at_start.into_iter().chain(braces.filter(|at| starts(&value[*at..]))).collect();
    if places.is_empty() {
        return value;
    }
    let mut out = String::with_capacity(value.len() + places.len());
    let mut last = 0;
    for at in places {
        out.push_str(&value[last..at]);
        out.push(' ');
        last = at;
    }
    out.push_str(&value[last..]);
    out
}

#[cfg(test)]
mod tests {
    use super::without_links;

    #[test]
    fn links_in_values_stay_text() {
        for (value, expected) in [
            ("", ""),
            (
                "full: 5 {HOST.NAME} {$A} {ALERT.MESSAGE}",
                "full: 5 {HOST.NAME} {$A} {ALERT.MESSAGE}",
            ),
            ("ALERT.LINKS", "ALERT.LINKS"),
            ("{\"a\":{}}", "{\"a\":{}}"),
            ("{ALERT.LINK.ACK}", "{ ALERT.LINK.ACK}"),
            (
                "é{{ALERT.LINK.CLOSE}.btoa()}{ALERT.LINK.X",
                "é{{ ALERT.LINK.CLOSE}.btoa()}{ ALERT.LINK.X",
            ),
            ("ALERT.LINK.ACK}", " ALERT.LINK.ACK}"),
            ("x {ALERT.LI", "x { ALERT.LI"),
            ("x {", "x { "),
        ] {
            assert_eq!(without_links(value.to_owned()), expected, "{value}");
        }
    }
}
