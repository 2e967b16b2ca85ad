//! Header fields that outlive their message.

use proxying::http1::Field;

/// Names and values in one piece of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    bytes: Box<[u8]>,
    /// Ends of each name and value within the bytes.
    ends: Box<[(u32, u32)]>,
}

impl Fields {
    pub(super) fn of<'f>(fields: impl IntoIterator<Item = Field<'f>>) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        // A head is far smaller than 4 GiB.
        let end = |bytes: &Vec<u8>| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        for field in fields {
            bytes.extend_from_slice(field.name);
            let name = end(&bytes);
            bytes.extend_from_slice(field.value);
            ends.push((name, end(&bytes)));
        }
        Self { bytes: bytes.into(), ends: ends.into() }
    }

    /// All of them, in order.
    pub(super) fn list(&self) -> Vec<Field<'_>> {
        let mut start = 0;
        let mut list = Vec::with_capacity(self.ends.len());
        for (name, value) in &self.ends {
            let text =
                |from: u32, to: u32| self.bytes.get(from as usize..to as usize).unwrap_or_default();
            list.push(Field::new(text(start, *name), text(*name, *value)));
            start = *value;
        }
        list
    }

    /// Bytes of memory.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ends)
    }
}
