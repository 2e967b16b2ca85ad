//! The Huffman code of RFC 7541, appendix B. It is canonical: symbols of one length have consecutive
//! codes in their order, so that the lengths are the whole table.

/// A block that no encoder writes: COMPRESSION_ERROR, because the tables of both sides differ now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a header block is malformed")]
pub struct Malformed;

/// Length of each byte's code in bits.
#[rustfmt::skip]
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
/// Longest code: that of the end of a string, 30 ones, which must not occur.
const LONGEST: usize = 30;

/// Codes by length.
struct Table {
    /// First code of each length, and the place of its symbol.
    first: [(u32, u16); LONGEST + 1],
    /// Number of codes of each length.
    count: [u16; LONGEST + 1],
    /// Symbols by length, then value.
    symbols: [u8; 256],
}

static TABLE: Table = table();

const fn table() -> Table {
    let mut table =
        Table { first: [(0, 0); LONGEST + 1], count: [0; LONGEST + 1], symbols: [0; 256] };
    let (mut code, mut place, mut length) = (0_u32, 0_u16, 1);
    while length <= LONGEST {
        code <<= 1;
        table.first[length] = (code, place);
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                table.symbols[place as usize] = symbol as u8;
                table.count[length] += 1;
                place += 1;
                code += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    table
}

/// Decodes a string.
///
/// # Errors
/// The end symbol, or padding that is not up to seven ones.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    let (mut code, mut length) = (0_u32, 0);
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| (byte >> at) & 1)) {
        code = (code << 1) | u32::from(bit);
        length += 1;
        if length > LONGEST {
            return Err(Malformed);
        }
        let (first, place) = TABLE.first[length];
        if let Some(offset) = code.checked_sub(first)
            && offset < u32::from(TABLE.count[length])
        {
            out.push(TABLE.symbols[usize::from(place) + offset as usize]);
            (code, length) = (0, 0);
        }
    }
    let padding = (1_u32 << length.min(8)) - 1;
    if length < 8 && code == padding { Ok(()) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(hex: &str) -> Result<String, Malformed> {
        let mut out = Vec::new();
        decode(&crate::http2::hex::bytes(hex), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_examples_of_the_standard_are_decoded() {
        // RFC 7541, C.4 and C.6.
        assert_eq!(text("f1e3c2e5f23a6ba0ab90f4ff").unwrap(), "www.example.com");
        assert_eq!(text("a8eb10649cbf").unwrap(), "no-cache");
        assert_eq!(text("6402").unwrap(), "302");
        assert_eq!(
            text("d07abe941054d444a8200595040b8166e082a62d1bff").unwrap(),
            "Mon, 21 Oct 2013 20:13:21 GMT"
        );
    }

    #[test]
    fn padding_is_less_than_a_byte_of_ones() {
        assert_eq!(text(""), Ok(String::new()));
        for hex in ["ff", "a8eb10649cbfff", "a8eb10649cb0", "fffffffc"] {
            assert_eq!(text(hex), Err(Malformed), "{hex}");
        }
    }
}
