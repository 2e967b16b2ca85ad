//! Services and their agreements (SLA).

use crate::numbered::numbered;

numbered! {
    /// How the status of a service follows from those of its children; the API's `algorithm`.
    ServiceAlgorithm: u8 {
        /// It does not: only status rules decide.
        Ok = 0, "", "Set status to OK";
        /// The highest of them once no child is in order.
        AllChildren = 1, "", "Most critical if all children have problems";
        /// The highest of them.
        MostCritical = 2, "", "Most critical of child services";
    }
}

numbered! {
    /// What a service shows its parents of its status; the API's `propagation_rule`.
    PropagationRule: u8 {
        /// The status itself.
        AsIs = 0, "", "As is";
        /// A status that is some severities higher.
        Increase = 1, "", "Increase by";
        /// A status that is some severities lower.
        Decrease = 2, "", "Decrease by";
        /// Nothing: it does not count as a child.
        Ignore = 3, "", "Ignore this service";
        /// Always the same status while it is not in order.
        Fixed = 4, "", "Fixed status";
    }
}

numbered! {
    /// What a status rule counts, and when it applies; the API's `type` of status rules.
    StatusRuleKind: u8 {
        /// So many children have the status or a higher one.
        Children = 0, "", "If at least N child services have status or above";
        /// So many per cent of them.
        ChildrenPercent = 1, "", "If at least N% of child services have status or above";
        /// Fewer children have the status or a lower one.
        FewerChildren = 2, "", "If less than N child services have status or below";
        /// Fewer per cent of them.
        FewerChildrenPercent = 3, "", "If less than N% of child services have status or below";
        /// The weights of children with the status or a higher one are together so large.
        Weight = 4, "", "If weight of child services with status or above is at least W";
        /// So many per cent of all weights.
        WeightPercent = 5, "", "If weight of child services with status or above is at least N%";
        /// The weights of children with the status or a lower one are together smaller.
        LessWeight = 6, "", "If weight of child services with status or below is less than W";
        /// Fewer per cent of all weights.
        LessWeightPercent = 7, "", "If weight of child services with status or below is less than N%";
    }
}

impl StatusRuleKind {
    /// The limit is a percentage.
    pub const fn is_percent(self) -> bool {
        matches!(
            self,
            Self::ChildrenPercent
                | Self::FewerChildrenPercent
                | Self::WeightPercent
                | Self::LessWeightPercent
        )
    }

    /// It counts weights, not children.
    pub const fn is_of_weights(self) -> bool {
        matches!(
            self,
            Self::Weight | Self::WeightPercent | Self::LessWeight | Self::LessWeightPercent
        )
    }

    /// It applies when few children are as low as its status; the others, when many are as high.
    pub const fn wants_few(self) -> bool {
        matches!(
            self,
            Self::FewerChildren
                | Self::FewerChildrenPercent
                | Self::LessWeight
                | Self::LessWeightPercent
        )
    }
}

numbered! {
    /// How a tag of a problem or a service is compared; the API's `operator` of `problem_tags` and `service_tags`.
    ServiceTagOperator: u8 {
        /// The values are equal.
        Equals = 0, "", "Equals";
        /// The value is contained.
        Contains = 2, "", "Contains";
    }
}

numbered! {
    /// The periods of an SLA; the API's `period`.
    SlaPeriod: u8 {
        /// Days.
        Daily = 0, "", "Daily";
        /// Weeks, from Sunday on.
        Weekly = 1, "", "Weekly";
        /// Months.
        Monthly = 2, "", "Monthly";
        /// Quarters of the year.
        Quarterly = 3, "", "Quarterly";
        /// Years.
        Annually = 4, "", "Annually";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_rules_are_of_eight_kinds() {
        let kinds = StatusRuleKind::ALL.iter();
        let kinds: Vec<(bool, bool, bool)> =
            kinds.map(|kind| (kind.wants_few(), kind.is_of_weights(), kind.is_percent())).collect();
        let mut distinct = kinds.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 8, "{kinds:?}");
        assert_eq!(StatusRuleKind::NUMBERS, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
