//! Types of values.

use crate::numbered::numbered;

numbered! {
    /// How an item's values are stored; the API's `value_type`.
    ValueType: u8 {
        /// 64-bit float.
        Float = 0, "FLOAT", "Number (float)";
        /// Text of at most 255 characters.
        Char = 1, "CHAR", "Characters";
        /// Log line with its own time, source, severity.
        Log = 2, "LOG", "Log";
        /// Unsigned 64-bit whole number.
        Unsigned = 3, "UNSIGNED", "Number (unsigned)";
        /// Text of at most 65,535 bytes.
        Text = 4, "TEXT", "Text";
        /// Binary, base64 on the wire.
        Binary = 5, "BINARY", "Binary";
    }
}

impl ValueType {
    /// The order in which forms offer them.
    pub const OFFERED: [Self; 6] =
        [Self::Unsigned, Self::Float, Self::Char, Self::Text, Self::Log, Self::Binary];

    /// The type with this number of the API.
    pub const fn from_api(number: u8) -> Option<Self> {
        Self::from_number(number as i64)
    }

    /// Has trends and arithmetic.
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Float | Self::Unsigned)
    }
}
