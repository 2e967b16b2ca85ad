//! How filters and conditions are combined and compared.

use crate::numbered::numbered;

numbered! {
    /// How the conditions of a filter are combined; the API's `evaltype`.
    EvalType: u8 {
        /// Conditions on one subject are alternatives, different subjects must all be met.
        AndOr = 0, "AND_OR", "And/Or";
        /// All conditions must be met.
        And = 1, "AND", "And";
        /// One condition must be met.
        Or = 2, "OR", "Or";
        /// The filter's formula says.
        Formula = 3, "FORMULA", "Custom expression";
    }
}

impl EvalType {
    /// Those that filters of tags have.
    pub const OF_TAGS: [Self; 2] = [Self::AndOr, Self::Or];
}

numbered! {
    /// How a filter compares a tag; the API's `operator` in `tags`.
    TagOperator: u8 {
        /// The tag's value contains the text.
        Contains = 0, "", "Contains";
        /// The tag's value is the text.
        Equals = 1, "", "Equals";
        /// No such tag's value contains the text.
        NotContains = 2, "", "Does not contain";
        /// No such tag's value is the text.
        NotEquals = 3, "", "Does not equal";
        /// There is such a tag.
        Exists = 4, "", "Exists";
        /// There is no such tag.
        NotExists = 5, "", "Does not exist";
    }
}

impl TagOperator {
    /// It is met by objects without the tag.
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::NotContains | Self::NotEquals | Self::NotExists)
    }
}

numbered! {
    /// How the filter of a discovery rule checks a macro; the API's `operator` of its conditions.
    MacroOperator: u8 {
        /// The value matches the regular expression.
        Matches = 8, "MATCHES_REGEX", "matches";
        /// The value does not match the regular expression.
        NotMatches = 9, "NOT_MATCHES_REGEX", "does not match";
        /// The row has the macro.
        Exists = 12, "EXISTS", "exists";
        /// The row does not have the macro.
        NotExists = 13, "NOT_EXISTS", "does not exist";
    }
}

impl MacroOperator {
    /// It compares with a value.
    pub const fn has_value(self) -> bool {
        matches!(self, Self::Matches | Self::NotMatches)
    }
}
