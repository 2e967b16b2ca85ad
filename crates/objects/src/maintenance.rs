//! Maintenances.

use crate::numbered::numbered;

numbered! {
    /// Whether values are collected during a maintenance; the API's `maintenance_type`.
    MaintenanceType: u8 {
        /// They are; problems are suppressed.
        WithData = 0, "", "With data collection";
        /// They are not.
        WithoutData = 1, "", "No data collection";
    }
}

numbered! {
    /// How often a period of a maintenance comes; the API's `timeperiod_type`.
    PeriodType: u8 {
        /// Once, from a date.
        Once = 0, "", "One time only";
        /// Every so many days.
        Daily = 2, "", "Daily";
        /// On days of every so many weeks.
        Weekly = 3, "", "Weekly";
        /// On a day, or on days of a week, of months.
        Monthly = 4, "", "Monthly";
    }
}

numbered! {
    /// How a maintenance compares the value of a problem's tag; the API's `operator` in its `tags`.
    MaintenanceTagOperator: u8 {
        /// The tag's value is the text.
        Equals = 0, "", "Equals";
        /// The tag's value contains the text.
        Contains = 2, "", "Contains";
    }
}
