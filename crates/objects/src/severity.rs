//! Severities.

use crate::numbered::numbered;

numbered! {
    /// How bad a problem is; the API's `priority` and `severity`.
    Severity: u8 {
        /// The author of the trigger chose none.
        NotClassified = 0, "NOT_CLASSIFIED", "Not classified";
        /// For information.
        Information = 1, "INFO", "Information";
        /// Warning.
        Warning = 2, "WARNING", "Warning";
        /// Average problem.
        Average = 3, "AVERAGE", "Average";
        /// Something important has failed.
        High = 4, "HIGH", "High";
        /// Disaster: losses are to be expected.
        Disaster = 5, "DISASTER", "Disaster";
    }
}

impl Severity {
    /// The severity with this number of the API.
    pub const fn from_api(number: u8) -> Option<Self> {
        Self::from_number(number as i64)
    }
}
