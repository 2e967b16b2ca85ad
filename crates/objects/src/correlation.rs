//! Global correlation: conditions and operations of its rules.

use crate::action::ConditionOperator as Op;
use crate::numbered::numbered;

numbered! {
    /// What a condition of a correlation rule is about; the API's `type`.
    CorrelationConditionKind: u8 {
        /// The open problem has the tag.
        OldTag = 0, "", "Old event tag name";
        /// The new problem has the tag.
        NewTag = 1, "", "New event tag name";
        /// A host of the new problem is in the group, or in one nested under it.
        NewGroup = 2, "", "New event host group";
        /// A tag of the open problem and a tag of the new one have the same value.
        TagPair = 3, "", "Event tag pair";
        /// The open problem has the tag, and its value is as the condition says.
        OldValue = 4, "", "Old event tag value";
        /// The new problem has the tag, and its value is as the condition says.
        NewValue = 5, "", "New event tag value";
    }
}

impl CorrelationConditionKind {
    /// Operators that a condition of this kind can have.
    pub const fn operators(self) -> &'static [Op] {
        match self {
            Self::OldTag | Self::NewTag | Self::TagPair => &[Op::Equals],
            Self::NewGroup => &[Op::Equals, Op::NotEquals],
            Self::OldValue | Self::NewValue => {
                &[Op::Equals, Op::NotEquals, Op::Contains, Op::NotContains]
            }
        }
    }
}

numbered! {
    /// What a correlation rule does; the API's `type` of operations.
    CorrelationOperation: u8 {
        /// Closes the open problems that match.
        CloseOld = 0, "", "Close old events";
        /// Closes the new problem at once.
        CloseNew = 1, "", "Close new event";
    }
}
