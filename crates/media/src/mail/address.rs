//! Addresses of mail: what a user writes, what the envelope and the headers get.

use super::encode::{encoded_words, is_plain};

/// Longest address in bytes (RFC 5321, 4.5.3.1.3).
const BYTES_MAX: usize = 254;

/// One address, checked: it has nothing that could end a command or a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    display: String,
    /// Without angle brackets.
    mailbox: String,
}

impl Address {
    /// Reads `name@domain` and `Display name <name@domain>`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("invalid e-mail address \"{}\": {why}", text.trim());
        if text.trim().chars().any(char::is_control) {
            return Err(wrong("it has a control character"));
        }
        let (display, mailbox) = match text.trim().strip_suffix('>') {
            Some(rest) => rest.rsplit_once('<').ok_or_else(|| wrong("a \"<\" is missing"))?,
            None => ("", text.trim()),
        };
        let (local, domain) = mailbox.rsplit_once('@').ok_or_else(|| wrong("it has no \"@\""))?;
        if local.is_empty() || domain.is_empty() {
            return Err(wrong("a part is empty"));
        }
        if mailbox.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | ',' | ';')) {
            return Err(wrong("it has a character that addresses do not have"));
        }
        // Domains in letters of all languages have a form in ASCII; parts before the @ do not.
        let domain = match domain.is_ascii() {
            true => domain.to_owned(),
            false => idna::domain_to_ascii(domain).map_err(|_| wrong("its domain is invalid"))?,
        };
        let mailbox = format!("{local}@{domain}");
        if mailbox.len() > BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        Ok(Self { display: display.trim().trim_matches('"').to_owned(), mailbox })
    }

    /// `name@domain`
    pub(crate) fn mailbox(&self) -> &str {
        &self.mailbox
    }

    pub(crate) fn domain(&self) -> &str {
        self.mailbox.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// As headers have it.
    pub(crate) fn header(&self) -> String {
        let Self { display, mailbox } = self;
        if display.is_empty() {
            return format!("<{mailbox}>");
        }
        let atoms = |c: char| c.is_ascii_alphanumeric() || " !#$%&'*+-/=?^_`{|}~".contains(c);
        if display.chars().all(atoms) {
            return format!("{display} <{mailbox}>");
        }
        if is_plain(display) {
            let quoted = display.replace('\\', "\\\\").replace('"', "\\\"");
            return format!("\"{quoted}\" <{mailbox}>");
        }
        // The blank between name and address is lost when encoded words are decoded.
        format!("{} <{mailbox}>", encoded_words(&format!("{display} ")))
    }
}

/// The addresses of a media: one a line.
pub(crate) fn recipients(sendto: &str) -> Result<Vec<Address>, String> {
    let lines = sendto.split(['\n', '\r']).filter(|line| !line.trim().is_empty());
    let all: Vec<Address> = lines.map(Address::parse).collect::<Result<_, _>>()?;
    if all.is_empty() { Err(String::from("the recipient has no address")) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_names_and_domains_of_all_languages() {
        for (text, mailbox, header) in [
            ("alice@vedette.test", "alice@vedette.test", "<alice@vedette.test>"),
            ("<alice@vedette.test>", "alice@vedette.test", "<alice@vedette.test>"),
            ("Alice Two <a@b.test>", "a@b.test", "Alice Two <a@b.test>"),
            ("\"Two, Alice\" <a@b.test>", "a@b.test", "\"Two, Alice\" <a@b.test>"),
            ("Wächter <a@b.test>", "a@b.test", "=?UTF-8?B?V8OkY2h0ZXIg?= <a@b.test>"),
            ("a@bücher.test", "a@xn--bcher-kva.test", "<a@xn--bcher-kva.test>"),
            ("jürgen@b.test", "jürgen@b.test", "<jürgen@b.test>"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.mailbox(), &*address.header()), (mailbox, header), "{text}");
        }
    }

    #[test]
    fn addresses_cannot_end_a_command_or_a_header() {
        for text in [
            "",
            "alice",
            "@b.test",
            "a@",
            "a b@c.test",
            "a@b.test>",
            "a@b.test\r\nRCPT TO:<x@y.test>",
            "A\nBcc: x@y.test <a@b.test>",
            "a@b.test,c@d.test",
            "A <a@b.test> SIZE=1 <c@d.test> ",
            "<a@b.test",
            "a\0b@c.test",
        ] {
            let parsed = Address::parse(text);
            let safe = |a: &Address| a.mailbox() == "c@d.test" && !a.header().contains("\r");
            assert!(parsed.as_ref().map_or(true, safe), "{text:?}: {parsed:?}");
        }
        assert!(Address::parse(&format!("{}@b.test", "a".repeat(300))).is_err());
    }

    #[test]
    fn a_media_has_one_address_a_line() {
        let all = recipients("a@b.test\nC D <c@d.test>\n").unwrap();
        let boxes: Vec<_> = all.iter().map(Address::mailbox).collect();
        assert_eq!(boxes, ["a@b.test", "c@d.test"]);
        assert!(recipients(" \n").is_err() && recipients("a@b.test\nx").is_err());
    }
}
