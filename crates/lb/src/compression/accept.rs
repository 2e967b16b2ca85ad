//! Choice of a content coding by Accept-Encoding (RFC 9110, 12.5.3).

use proxying::http1::Request;

use crate::config::Coding;

/// What a client says of a coding, in thousandths; 0: not acceptable.
type Quality = u16;

/// What the client accepts of the codings that a service has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The response as it is.
    Identity,
    /// This coding; the response as it is if it is not suitable.
    Coding(Coding),
    /// This coding, because the response as it is is not acceptable.
    Only(Coding),
}

impl Wanted {
    /// Chooses among codings, of which the first ones are preferred.
    pub(crate) fn of(request: &Request<'_>, codings: &[Coding]) -> Self {
        let fields = request.fields.iter();
        let fields = fields.filter(|field| field.name.eq_ignore_ascii_case(b"accept-encoding"));
        choose(fields.map(|field| field.value), codings)
    }
}

fn choose<'v>(values: impl Iterator<Item = &'v [u8]>, codings: &[Coding]) -> Wanted {
    let mut named: [Option<Quality>; 3] = [None; 3];
    let (mut identity, mut others) = (None, None);
    for member in values.flat_map(|value| value.split(|byte| *byte == b',')) {
        // A member that is malformed accepts nothing.
        let Some((name, quality)) = parse(member) else { continue };
        if name == b"*" {
            others.get_or_insert(quality);
        } else if name.eq_ignore_ascii_case(b"identity") {
            identity.get_or_insert(quality);
        } else if let Some(coding) = coding(name) {
            named[coding as usize].get_or_insert(quality);
        }
    }
    let mut best: Option<(Coding, Quality)> = None;
    for coding in codings {
        let quality = named[*coding as usize].or(others).unwrap_or(0);
        if quality > best.map_or(0, |(_, best)| best) {
            best = Some((*coding, quality));
        }
    }
    let Some((coding, quality)) = best else { return Wanted::Identity };
    match identity {
        Some(0) => Wanted::Only(coding),
        // It has no quality of its own unless it is named: any coding that is accepted is preferred.
        None if others == Some(0) => Wanted::Only(coding),
        Some(identity) if identity > quality => Wanted::Identity,
        _ => Wanted::Coding(coding),
    }
}

fn coding(name: &[u8]) -> Option<Coding> {
    // RFC 9110, 8.4.1.3: x-gzip is gzip.
    let names: [(&[u8], Coding); 4] = [
        (b"gzip", Coding::Gzip),
        (b"x-gzip", Coding::Gzip),
        (b"br", Coding::Br),
        (b"zstd", Coding::Zstd),
    ];
    names.into_iter().find(|(own, _)| name.eq_ignore_ascii_case(own)).map(|(_, coding)| coding)
}

/// A coding with its quality.
fn parse(member: &[u8]) -> Option<(&[u8], Quality)> {
    let mut parts = member.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let Some(weight) = parts.next() else { return Some((name, 1000)) };
    let digits = weight.strip_prefix(b"q=").or_else(|| weight.strip_prefix(b"Q="))?;
    parts.next().is_none().then_some((name, quality(digits)?))
}

/// RFC 9110, 12.4.2: 0 to 1 with at most three decimals.
fn quality(digits: &[u8]) -> Option<Quality> {
    let (whole, decimals) = match digits {
        [whole] => (whole, &[][..]),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let mut quality = match whole {
        b'0' => 0,
        b'1' => 1000,
        _ => return None,
    };
    let mut unit = 100;
    for digit in decimals {
        if !digit.is_ascii_digit() {
            return None;
        }
        quality += u16::from(digit - b'0') * unit;
        unit /= 10;
    }
    (quality <= 1000).then_some(quality)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Coding; 3] = [Coding::Zstd, Coding::Br, Coding::Gzip];

    fn chosen(value: &str) -> Wanted {
        choose([value.as_bytes()].into_iter(), &ALL)
    }

    #[test]
    fn the_coding_with_the_highest_quality_is_chosen() {
        use Coding::{Br, Gzip, Zstd};
        for (value, expected) in [
            ("", Wanted::Identity),
            ("gzip", Wanted::Coding(Gzip)),
            ("x-gzip", Wanted::Coding(Gzip)),
            ("GZIP;Q=0.5", Wanted::Coding(Gzip)),
            ("gzip, br, zstd", Wanted::Coding(Zstd)),
            ("gzip;q=1.0, br;q=0.8", Wanted::Coding(Gzip)),
            ("gzip ; q=0.001", Wanted::Coding(Gzip)),
            ("*", Wanted::Coding(Zstd)),
            ("*;q=0.1, zstd;q=0, br;q=0.2", Wanted::Coding(Br)),
            ("gzip;q=0", Wanted::Identity),
            ("deflate, compress", Wanted::Identity),
            ("identity", Wanted::Identity),
            ("identity;q=1, gzip;q=0.5", Wanted::Identity),
            ("identity;q=0.5, gzip;q=0.5", Wanted::Coding(Gzip)),
            ("identity;q=0, gzip;q=0.1", Wanted::Only(Gzip)),
            ("gzip, *;q=0", Wanted::Only(Gzip)),
            ("identity;q=0", Wanted::Identity),
            ("*;q=0", Wanted::Identity),
            ("gzip;q=2, br;q=0.1234, zstd;q=x", Wanted::Identity),
            ("gzip;q=1.001", Wanted::Identity),
            ("gzip;level=9", Wanted::Identity),
            (",, ,gzip", Wanted::Coding(Gzip)),
        ] {
            assert_eq!(chosen(value), expected, "{value}");
        }
    }

    #[test]
    fn several_fields_are_one_list_of_known_codings() {
        let values = [&b"br;q=0.5"[..], b"gzip;q=0.9"];
        assert_eq!(choose(values.into_iter(), &ALL), Wanted::Coding(Coding::Gzip));
        assert_eq!(choose(values.into_iter(), &[Coding::Br]), Wanted::Coding(Coding::Br));
        assert_eq!(choose([].into_iter(), &ALL), Wanted::Identity);
    }
}
