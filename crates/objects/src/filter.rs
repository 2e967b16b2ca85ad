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
