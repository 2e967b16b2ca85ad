//! Triggers.

use crate::numbered::numbered;

numbered! {
    /// How many problems a trigger may have at once; the API's `type` of triggers.
    ProblemMode: u8 {
        /// One, until it recovers.
        Single = 0, "SINGLE", "Single";
        /// Another one with each evaluation that finds a problem.
        Multiple = 1, "MULTIPLE", "Multiple";
    }
}

numbered! {
    /// Which problems a recovery closes; the API's `correlation_mode`.
    CorrelationMode: u8 {
        /// All of the trigger.
        All = 0, "DISABLED", "All problems";
        /// Those whose tag has the value that the recovery's has.
        ByTag = 1, "TAG_VALUE", "All problems if tag values match";
    }
}

numbered! {
    /// What ends a trigger's problems; the API's `recovery_mode`.
    RecoveryMode: u8 {
        /// The problem expression is false.
        Expression = 0, "EXPRESSION", "Expression";
        /// The recovery expression is true while the problem expression is false.
        RecoveryExpression = 1, "RECOVERY_EXPRESSION", "Recovery expression";
        /// Nothing but people.
        None = 2, "NONE", "None";
    }
}
