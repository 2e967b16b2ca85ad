//! Text messages as modems take them: SMS-SUBMIT in hexadecimal digits (3GPP TS 23.040), with the alphabets of
//! 3GPP TS 23.038.

use std::fmt::Write as _;

/// Parts of one text; what does not fit is cut off.
pub const PARTS_MAX: usize = 8;

/// Digits of a number (ITU-T E.164 allows 15; some networks have longer ones of their own).
const DIGITS: std::ops::RangeInclusive<usize> = 2..=20;

/// Characters of a part.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Of the only one.
    alone: usize,
    /// Of several, which have a header.
    each: usize,
}

const SEPTETS: Size = Size { alone: 160, each: 153 };
/// Units of 16 bits.
const UNITS: Size = Size { alone: 70, each: 67 };

/// Which part of which text.
#[derive(Debug, Clone, Copy)]
struct Place {
    reference: u8,
    total: usize,
    /// From 1.
    number: usize,
}

/// The default alphabet in the order of its codes; the code 27 leads to the extension.
const ALPHABET: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u{1b}ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡\
                        ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const ESCAPE: u8 = 27;
const EXTENSION: [(char, u8); 9] = [
    ('^', 0x14),
    ('{', 0x28),
    ('}', 0x29),
    ('\\', 0x2f),
    ('[', 0x3c),
    ('~', 0x3d),
    (']', 0x3e),
    ('|', 0x40),
    ('€', 0x65),
];

/// One part, ready for a modem in PDU mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Octets behind the service centre's address: what `AT+CMGS=` gets.
    pub length: usize,
    /// The whole part in hexadecimal digits.
    pub digits: String,
}

/// Is no telephone number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a telephone number")]
pub struct NoNumber(pub String);

/// The parts of a text. `reference` connects them: the messages of one sender differ in it.
///
/// # Errors
/// [`NoNumber`].
pub fn parts(number: &str, text: &str, reference: u8) -> Result<Vec<Part>, NoNumber> {
    let to = address(number).ok_or_else(|| NoNumber(number.to_owned()))?;
    let text = text.replace("\r\n", "\n");
    let alphabet = septets(&text);
    let units: Vec<u16>;
    let made: Vec<Body<'_>> = match &alphabet {
        Some(septets) => split(septets, SEPTETS, |at| septets[at - 1] == ESCAPE)
            .into_iter()
            .map(|part| Body { coding: 0, count: part.len(), bytes: Bytes::Septets(part) })
            .collect(),
        None => {
            units = text.encode_utf16().collect();
            split(&units, UNITS, |at| (0xdc00..0xe000).contains(&units[at]))
                .into_iter()
                .map(|part| Body { coding: 8, count: part.len() * 2, bytes: Bytes::Units(part) })
                .collect()
        }
    };
    let total = made.len();
    let place = |at: usize| Place { reference, total, number: at + 1 };
    Ok(made.into_iter().enumerate().map(|(at, body)| body.part(&to, place(at))).collect())
}

struct Body<'a> {
    /// TP-DCS.
    coding: u8,
    /// Septets or octets.
    count: usize,
    bytes: Bytes<'a>,
}

enum Bytes<'a> {
    Septets(&'a [u8]),
    Units(&'a [u16]),
}

impl Body<'_> {
    fn part(&self, to: &[u8], place: Place) -> Part {
        let number = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
        let several = place.total > 1;
        let header: &[u8] = &[5, 0, 3, place.reference, number(place.total), number(place.number)];
        let header = if several { header } else { &[] };
        let first = if several { 0x41 } else { 0x01 };
        let mut octets = vec![first, 0];
        octets.extend(to);
        octets.extend([0, self.coding]);
        let (length, user) = match self.bytes {
            Bytes::Septets(septets) => {
                // The text begins at a septet.
                let before = (header.len() * 8).div_ceil(7);
                (before + self.count, packed(septets, before * 7 - header.len() * 8))
            }
            Bytes::Units(units) => {
                let bytes = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
                (header.len() + self.count, bytes)
            }
        };
        octets.push(number(length));
        octets.extend(header);
        octets.extend(user);
        // The service centre's address is the one of the modem.
        let mut digits = String::from("00");
        for octet in &octets {
            let _ = write!(digits, "{octet:02X}");
        }
        Part { length: octets.len(), digits }
    }
}

/// Splits what is too long for one part. No part begins at a place that `inside` names.
fn split<T>(all: &[T], size: Size, inside: impl Fn(usize) -> bool) -> Vec<&[T]> {
    if all.len() <= size.alone {
        return vec![all];
    }
    let (mut parts, mut start) = (Vec::new(), 0);
    while start < all.len() && parts.len() < PARTS_MAX {
        let mut end = all.len().min(start + size.each);
        if end < all.len() && inside(end) {
            end -= 1;
        }
        parts.push(&all[start..end]);
        start = end;
    }
    parts
}

/// TP-DA: number of digits, type, digits in pairs.
fn address(number: &str) -> Option<Vec<u8>> {
    let number = number.trim();
    let (kind, rest) = match number.strip_prefix('+') {
        Some(rest) => (0x91, rest),
        None => (0x81, number),
    };
    let digits: Vec<u8> = rest
        .chars()
        .filter(|c| !matches!(c, ' ' | '-' | '(' | ')' | '/' | '.'))
        .map(|c| c.to_digit(10).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    if !DIGITS.contains(&digits.len()) {
        return None;
    }
    let pair = |pair: &[u8]| pair.get(1).copied().unwrap_or(15) << 4 | pair[0];
    let mut out = vec![u8::try_from(digits.len()).ok()?, kind];
    out.extend(digits.chunks(2).map(pair));
    Some(out)
}

/// Codes of the default alphabet; `None`: it lacks a character.
fn septets(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        if let Some((_, code)) = EXTENSION.iter().find(|(known, _)| *known == c) {
            out.extend([ESCAPE, *code]);
            continue;
        }
        let code = ALPHABET.chars().position(|known| known == c && c != '\u{1b}')?;
        out.push(u8::try_from(code).ok()?);
    }
    Some(out)
}

/// Septets in octets, lowest bits first, behind `fill` bits.
fn packed(septets: &[u8], fill: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(septets.len() * 7 / 8 + 1);
    let (mut bits, mut count) = (0_u32, fill);
    for septet in septets {
        bits |= u32::from(*septet) << count;
        count += 7;
        while count >= 8 {
            out.push(bits.to_le_bytes()[0]);
            bits >>= 8;
            count -= 8;
        }
    }
    if count > 0 && (!septets.is_empty() || fill > 0) {
        out.push(bits.to_le_bytes()[0]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(number: &str, text: &str) -> Part {
        let mut parts = parts(number, text, 7).unwrap();
        assert_eq!(parts.len(), 1, "{text}");
        parts.remove(0)
    }

    #[test]
    fn a_short_text_is_one_part_of_septets() {
        // The example of many manuals: "hellohello" to +46708251358.
        let part = one("+46708251358", "hellohello");
        assert_eq!(part.digits, "0001000B916407281553F800000AE8329BFD4697D9EC37");
        assert_eq!(part.length, 23 - 1);
        // A national number with an even count of digits, and characters of the extension.
        let part = one("0170 / 12-34", "€[");
        assert_eq!(part.digits, "00010008811007214300".to_owned() + "00" + "04" + "9BF28607");
    }

    #[test]
    fn other_characters_need_units_of_16_bits() {
        let part = one("112", "ž😀");
        assert_eq!(part.digits, "000100038111F200".to_owned() + "08" + "06" + "017ED83DDE00");
        assert_eq!(
            one("112", "\u{1b}").digits,
            "000100038111F200".to_owned() + "08" + "02" + "001B"
        );
        assert_eq!(one("112", "").digits, "000100038111F2000000");
    }

    #[test]
    fn a_long_text_has_parts_with_a_header() {
        let long = parts("112", &"a".repeat(161), 9).unwrap();
        assert_eq!(long.len(), 2);
        assert!(long[0].digits.starts_with("004100038111F20000A0050003090201"), "{:?}", long[0]);
        assert!(long[1].digits.starts_with("004100038111F200000F050003090202"), "{:?}", long[1]);
        assert_eq!(long[0].digits.len() / 2 - 1, long[0].length);
        assert!(long.iter().all(|part| part.length <= 164));
        // A pair is not torn apart.
        let text = format!("{}€{}", "a".repeat(152), "b".repeat(20));
        let long = parts("112", &text, 9).unwrap();
        assert!(long[0].digits.starts_with("004100038111F200009F"), "{:?}", long[0]);
        let text = format!("{}😀{}", "ž".repeat(66), "b".repeat(20));
        let long = parts("112", &text, 9).unwrap();
        assert!(long[0].digits.ends_with("017E") && long[1].digits.contains("D83DDE00"));
        assert_eq!(parts("112", &"ž".repeat(10_000), 9).unwrap().len(), PARTS_MAX);
    }

    #[test]
    fn numbers_have_digits_only() {
        for number in ["", "+", "1", "abc", "12a", "112\r\nAT+X", "123456789012345678901", "١١٢"]
        {
            assert_eq!(parts(number, "x", 0), Err(NoNumber(number.to_owned())), "{number}");
        }
    }
}
