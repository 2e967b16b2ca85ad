//! Value maps.

use crate::numbered::numbered;

numbered! {
    /// When a mapping of a value map fits; the API's `type` of mappings.
    MappingType: u8 {
        /// The value is equal.
        Equal = 0, "EQUAL", "equals";
        /// The value is at least this number.
        AtLeast = 1, "GREATER_OR_EQUAL", "is greater than or equals";
        /// The value is at most this number.
        AtMost = 2, "LESS_OR_EQUAL", "is less than or equals";
        /// The value is in one of these ranges or is one of these numbers, separated by commas.
        InRange = 3, "IN_RANGE", "in range";
        /// The text matches the regular expression.
        Regexp = 4, "REGEXP", "regexp";
        /// No other mapping fits.
        Default = 5, "DEFAULT", "default";
    }
}
