//! Header compression (RFC 7541): a strict decoder, and an encoder without a table.
//!
//! The encoder names fields of the static table and writes all others as literals: a connection costs
//! no memory for it, and no secret of one message can be found by the length of another.

use std::collections::VecDeque;

use super::huffman;
pub use super::huffman::Malformed;

/// RFC 7541, appendix A.
#[rustfmt::skip]
const STATIC: [(&[u8], &[u8]); 61] = [
    (b":authority", b""),
    (b":method", b"GET"),
    (b":method", b"POST"),
    (b":path", b"/"),
    (b":path", b"/index.html"),
    (b":scheme", b"http"),
    (b":scheme", b"https"),
    (b":status", b"200"),
    (b":status", b"204"),
    (b":status", b"206"),
    (b":status", b"304"),
    (b":status", b"400"),
    (b":status", b"404"),
    (b":status", b"500"),
    (b"accept-charset", b""),
    (b"accept-encoding", b"gzip, deflate"),
    (b"accept-language", b""),
    (b"accept-ranges", b""),
    (b"accept", b""),
    (b"access-control-allow-origin", b""),
    (b"age", b""),
    (b"allow", b""),
    (b"authorization", b""),
    (b"cache-control", b""),
    (b"content-disposition", b""),
    (b"content-encoding", b""),
    (b"content-language", b""),
    (b"content-length", b""),
    (b"content-location", b""),
    (b"content-range", b""),
    (b"content-type", b""),
    (b"cookie", b""),
    (b"date", b""),
    (b"etag", b""),
    (b"expect", b""),
    (b"expires", b""),
    (b"from", b""),
    (b"host", b""),
    (b"if-match", b""),
    (b"if-modified-since", b""),
    (b"if-none-match", b""),
    (b"if-range", b""),
    (b"if-unmodified-since", b""),
    (b"last-modified", b""),
    (b"link", b""),
    (b"location", b""),
    (b"max-forwards", b""),
    (b"proxy-authenticate", b""),
    (b"proxy-authorization", b""),
    (b"range", b""),
    (b"referer", b""),
    (b"refresh", b""),
    (b"retry-after", b""),
    (b"server", b""),
    (b"set-cookie", b""),
    (b"strict-transport-security", b""),
    (b"transfer-encoding", b""),
    (b"user-agent", b""),
    (b"vary", b""),
    (b"via", b""),
    (b"www-authenticate", b""),
];
/// Size of the dynamic table in bytes, as announced: the initial value of RFC 9113, 6.5.2.
pub const TABLE_SIZE: usize = 4096;
/// Bytes that an entry counts beside its name and value (RFC 7541, 4.1).
const ENTRY_OVERHEAD: usize = 32;

/// One field of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Any bytes: the decoder checks nothing.
    pub name: Vec<u8>,
    /// Any bytes.
    pub value: Vec<u8>,
}

impl Field {
    fn size(&self) -> usize {
        self.name.len() + self.value.len() + ENTRY_OVERHEAD
    }
}

/// A decoded list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// Fields in order; none if the list is too large.
    pub fields: Vec<Field>,
    /// Size by RFC 9113, 6.5.2, in bytes.
    size: usize,
    /// The list is beyond the limit.
    pub too_large: bool,
}

impl List {
    pub(crate) fn add(&mut self, field: Field, limit: usize) {
        self.size = self.size.saturating_add(field.size());
        if self.size > limit {
            self.too_large = true;
            self.fields = Vec::new();
        } else {
            self.fields.push(field);
        }
    }
}

/// The decoder of one direction. Its table has at most [`TABLE_SIZE`] bytes.
#[derive(Debug)]
pub struct Decoder {
    /// Newest first.
    table: VecDeque<Field>,
    size: usize,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { table: VecDeque::new(), size: 0, limit: TABLE_SIZE }
    }
}

impl Decoder {
    /// Decodes a whole block. A list above `limit` bytes is counted, not stored, so that a small
    /// block cannot become a large list; the table is right afterwards.
    ///
    /// # Errors
    /// The connection cannot be continued.
    pub fn decode(&mut self, mut block: &[u8], limit: usize) -> Result<List, Malformed> {
        let mut list = List::default();
        let mut begun = false;
        while let Some(first) = block.first().copied() {
            if first & 0x80 != 0 {
                let index = integer(&mut block, 7)?;
                list.add(self.entry(index)?, limit);
            } else if first & 0xe0 == 0x20 {
                // RFC 7541, 4.2: a change of the size is at the start of a block.
                let size = integer(&mut block, 5)?;
                if begun || size > TABLE_SIZE {
                    return Err(Malformed);
                }
                self.limit = size;
                self.evict(0);
                continue;
            } else {
                let indexed = first & 0x40 != 0;
                let index = integer(&mut block, if indexed { 6 } else { 4 })?;
                let name =
                    if index == 0 { string(&mut block, 7)? } else { self.entry(index)?.name };
                let field = Field { name, value: string(&mut block, 7)? };
                if indexed {
                    self.insert(field.clone());
                }
                list.add(field, limit);
            }
            begun = true;
        }
        Ok(list)
    }

    fn entry(&self, index: usize) -> Result<Field, Malformed> {
        let at = index.checked_sub(1).ok_or(Malformed)?;
        match STATIC.get(at) {
            Some((name, value)) => Ok(Field { name: name.to_vec(), value: value.to_vec() }),
            None => self.table.get(at - STATIC.len()).cloned().ok_or(Malformed),
        }
    }

    fn insert(&mut self, field: Field) {
        self.evict(field.size());
        if field.size() <= self.limit {
            self.size += field.size();
            self.table.push_front(field);
        }
    }

    /// Makes room for an entry (RFC 7541, 4.4).
    fn evict(&mut self, room: usize) {
        while self.size + room > self.limit
            && let Some(oldest) = self.table.pop_back()
        {
            self.size -= oldest.size();
        }
    }
}

/// RFC 7541, 5.1. Values above 2^28 are refused: nothing here is that large.
pub(crate) fn integer(block: &mut &[u8], prefix: u32) -> Result<usize, Malformed> {
    let mask = (1_usize << prefix) - 1;
    let (first, mut rest) = block.split_first().ok_or(Malformed)?;
    let mut value = usize::from(*first) & mask;
    if value == mask {
        for shift in [0, 7, 14, 21] {
            let (byte, after) = rest.split_first().ok_or(Malformed)?;
            rest = after;
            value += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                *block = rest;
                return Ok(value);
            }
        }
        return Err(Malformed);
    }
    *block = rest;
    Ok(value)
}

/// RFC 7541, 5.2; RFC 9204, 4.1.2: its length has a prefix, behind the bit that tells of the Huffman code.
pub(crate) fn string(block: &mut &[u8], prefix: u32) -> Result<Vec<u8>, Malformed> {
    let coded = block.first().ok_or(Malformed)? & (1 << prefix) != 0;
    let length = integer(block, prefix)?;
    let (bytes, rest) = block.split_at_checked(length).ok_or(Malformed)?;
    *block = rest;
    if !coded {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::with_capacity(length + length / 2);
    huffman::decode(bytes, &mut out)?;
    Ok(out)
}

/// Appends a field to a block. The name is written in lower case (RFC 9113, 8.2.1).
pub fn encode(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let same = |own: &[u8]| own.eq_ignore_ascii_case(name);
    if let Some(at) = STATIC.iter().position(|(own, text)| same(own) && *text == value) {
        put_integer(out, at + 1, 7, 0x80);
        return;
    }
    match STATIC.iter().position(|(own, _)| same(own)) {
        Some(at) => put_integer(out, at + 1, 4, 0),
        None => {
            put_integer(out, 0, 4, 0);
            put_integer(out, name.len(), 7, 0);
            out.extend(name.iter().map(u8::to_ascii_lowercase));
        }
    }
    put_integer(out, value.len(), 7, 0);
    out.extend_from_slice(value);
}

/// Appends `:status`.
pub fn encode_status(out: &mut Vec<u8>, status: u16) {
    encode(out, b":status", &digits(status));
}

/// A status in three digits.
pub(crate) fn digits(status: u16) -> [u8; 3] {
    [100, 10, 1].map(|unit| b'0' + (status / unit % 10).to_le_bytes()[0])
}

pub(crate) fn put_integer(out: &mut Vec<u8>, value: usize, prefix: u32, pattern: u8) {
    let mask = (1_usize << prefix) - 1;
    if value < mask {
        out.push(pattern | value.to_le_bytes()[0]);
        return;
    }
    out.push(pattern | mask.to_le_bytes()[0]);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(0x80 | (rest & 0x7f).to_le_bytes()[0]);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::hex::bytes;

    fn decode(decoder: &mut Decoder, hex: &str) -> Result<String, Malformed> {
        let list = decoder.decode(&bytes(hex), 1000)?;
        let text = |field: &Field| {
            let text = [&field.name[..], b"=", &field.value[..]].concat();
            String::from_utf8(text).unwrap()
        };
        Ok(list.fields.iter().map(text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_requests_of_the_standard_are_decoded() {
        // RFC 7541, C.4: three requests of one connection.
        let mut decoder = Decoder::default();
        let head = ":method=GET :scheme=http :path=/ :authority=www.example.com";
        let first = decode(&mut decoder, "828684418cf1e3c2e5f23a6ba0ab90f4ff").unwrap();
        assert_eq!(first, head);
        let second = decode(&mut decoder, "828684be5886a8eb10649cbf").unwrap();
        assert_eq!(second, format!("{head} cache-control=no-cache"));
        let third = decode(&mut decoder, "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf");
        let text = ":method=GET :scheme=https :path=/index.html :authority=www.example.com";
        assert_eq!(third.unwrap(), format!("{text} custom-key=custom-value"));
        assert_eq!(decoder.size, 164);
    }

    #[test]
    fn malformed_blocks_are_errors() {
        for (hex, why) in [
            ("80", "index 0"),
            ("be", "an index beyond the tables"),
            ("3fe21f", "a table above the announced size"),
            ("8220", "a change of the size behind a field"),
            ("82ff", "an integer without its end"),
            ("ffffffffffff0f", "an integer that is too large"),
            ("0005616263", "a string without its end"),
            ("0081ff0161", "a malformed Huffman string"),
            ("40", "a field without name and value"),
        ] {
            assert_eq!(decode(&mut Decoder::default(), hex), Err(Malformed), "{why}");
        }
    }

    #[test]
    fn entries_leave_the_table_when_it_is_full_or_made_smaller() {
        let mut decoder = Decoder::default();
        let long = "61".repeat(100);
        for _ in 0..100 {
            decode(&mut decoder, &format!("40016264{long}")).unwrap();
        }
        assert!(decoder.size <= TABLE_SIZE && decoder.table.len() == TABLE_SIZE / 133);
        decode(&mut decoder, "20").unwrap();
        assert_eq!((decoder.size, decoder.table.len()), (0, 0));
        assert_eq!(decode(&mut decoder, "be"), Err(Malformed));
    }

    #[test]
    fn a_list_above_the_limit_is_counted_and_not_stored() {
        let mut decoder = Decoder::default();
        let mut block = bytes("400162");
        put_integer(&mut block, 3000, 7, 0);
        block.extend(vec![b'a'; 3000]);
        block.extend(vec![0xbe; 10_000]);
        let list = decoder.decode(&block, 16_384).unwrap();
        assert!(list.too_large && list.fields.capacity() == 0);
        assert!(list.size > 30_000_000, "{}", list.size);
        assert!(!decoder.decode(&[0xbe], 16_384).unwrap().too_large, "the table is still right");
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let long = vec![b'v'; 5000];
        let mut block = Vec::new();
        let fields: [(&[u8], &[u8]); 5] = [
            (b":status", b"200"),
            (b":status", b"299"),
            (b"X-Mixed", b"A"),
            (b"a", &long),
            (b"b", b""),
        ];
        for (name, value) in fields {
            encode(&mut block, name, value);
        }
        let list = Decoder::default().decode(&block, 10_000).unwrap();
        assert_eq!(list.fields.len(), fields.len());
        for (field, (name, value)) in list.fields.iter().zip(fields) {
            assert_eq!((field.name.to_vec(), &field.value[..]), (name.to_ascii_lowercase(), value));
        }
    }
}
