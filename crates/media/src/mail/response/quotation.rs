//! What the author of a response wrote, without what the mail program added: the mail that it responds to, signatures.

/// Lines of the head of a quoted mail, such as `From: …`, that are looked for.
const HEAD_LINES: usize = 3;

/// The author's own text.
pub(super) fn own(body: &str) -> String {
    let lines: Vec<&str> = body.lines().map(str::trim_end).collect();
    let end = (0..lines.len()).find_map(|at| end(&lines, at)).unwrap_or(lines.len());
    let mut out = String::new();
    let mut blank = false;
    for line in lines[..end].iter().filter(|line| !line.starts_with('>')) {
        let line: String = line.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
        if line.trim().is_empty() {
            blank = !out.is_empty();
            continue;
        }
        if blank {
            out.push('\n');
        }
        blank = false;
        out.push_str(&line);
        out.push('\n');
    }
    out.trim().to_owned()
}

/// The line at which the author's text ends, if this one shows it.
fn end(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines[at].trim();
    if line == "--" || is_divider(line) || is_head(&lines[at..]) {
        return Some(at);
    }
    if !line.ends_with(':') {
        return None;
    }
    let is_quoted = lines[at + 1..].iter().find(|next| !next.is_empty());
    let is_quoted = is_quoted.is_some_and(|next| next.starts_with('>'));
    let wraps = !line.contains('@') && !line.contains(|c: char| c.is_ascii_digit());
    let first = match at.checked_sub(1) {
        Some(before) if wraps && !lines[before].is_empty() => before,
        _ => at,
    };
    let is_english = lines[first].trim().starts_with("On ") && line.ends_with("wrote:");
    (is_quoted || is_english).then_some(first)
}

/// `-----Original Message-----`, or a line.
fn is_divider(line: &str) -> bool {
    let dashes = line.starts_with("-----") && line.ends_with("-----");
    let is_line = line.len() >= 10 && line.bytes().all(|byte| byte == b'_');
    dashes || is_line
}

/// The head of a mail, in any language: lines with a word, a colon and a value, the first with an address.
fn is_head(lines: &[&str]) -> bool {
    let is_field = |line: &str| {
        let name = line.trim().trim_start_matches('*').split_once(':').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().count() <= 16 && name.chars().all(char::is_alphabetic)
        })
    };
    lines.len() >= HEAD_LINES
        && lines[0].contains('@')
        && lines[..HEAD_LINES].iter().all(|line| is_field(line))
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn quotations_and_signatures_are_left_out() {
        for (body, expected) in [
            ("I look at it.", "I look at it."),
            (
                "\r\n\r\nI look at it.\r\n\r\n\r\n\r\nIn an hour.\r\n",
                "I look at it.\n\nIn an hour.",
            ),
            ("Disk is full.\n\n-- \nBob\nOperations", "Disk is full."),
            (
                "Mine.\n\nOn Sun, 29 Nov 2026 at 20:20, Vedette <v+abc@x.test> wrote:\n> a\n> b",
                "Mine.",
            ),
            (
                "Mine.\n\nOn Sun, Nov 29, 2026 at 8:20 PM Vedette <v+abc@x.test>\nwrote:\n\n> a",
                "Mine.",
            ),
            ("Mine.\n\nOn Sun, Nov 29, 2026 Vedette <v@x.test> wrote:\nno marks in HTML", "Mine."),
            ("Meins.\n\nAm 29.11.2026 um 20:20 schrieb Vedette:\n> a", "Meins."),
            ("> is it you?\nYes.\n> and now?\nWait.", "Yes.\nWait."),
            ("Mine.\n\n-----Original Message-----\nFrom: x", "Mine."),
            ("Mine.\n\n________________________________\nFrom: x", "Mine."),
            (
                "Mine.\n\nFrom: Vedette <v@x.test>\nSent: Sunday\nTo: Bob\nSubject: s\n\ntext",
                "Mine.",
            ),
            ("Mine.\n\n*Von:* Vedette <v@x.test>\n*Gesendet:* Sonntag\n*An:* Bob\n\ntext", "Mine."),
            ("Steps:\nfirst: stop\nsecond: start", "Steps:\nfirst: stop\nsecond: start"),
            ("The error was:\n  disk full", "The error was:\n  disk full"),
            ("a\u{0}b\u{7}\tc", "ab\tc"),
            ("> only\n> a quotation", ""),
            ("", ""),
        ] {
            assert_eq!(own(body), expected, "{body}");
        }
    }
}
