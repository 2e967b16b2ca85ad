//! What an evaluation means for a trigger: the state machine of OK and PROBLEM.

use config::snapshot::{Trigger, TriggerRecovery};
use eval::expr::{ExprError, ExprValue, Expression};
use model::TriggerState;

/// Why a trigger is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A value of an item that the problem expression names, or time passed.
    Problem,
    /// A value of an item that only the recovery expression names: may recover, never opens.
    Recovery,
}

/// What is to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Opens a problem.
    Problem,
    /// Recovers.
    Ok,
    /// Nothing changes.
    Keep,
    /// The expression has no value: the state stays, the trigger shows why.
    Unknown(String),
}

/// Decides. `evaluate` gives an expression its value now.
pub(crate) fn verdict(
    trigger: &Trigger,
    state: TriggerState,
    cause: Cause,
    evaluate: &mut dyn FnMut(&Expression) -> Result<ExprValue, ExprError>,
) -> Verdict {
    let mut truth = |expression: &Expression| match evaluate(expression) {
        Ok(value) => value
            .is_true()
            .ok_or_else(|| String::from("Cannot evaluate expression: its result is not a number.")),
        Err(ExprError::Unknown(reason)) => Err(reason),
        Err(error) => Err(format!("Cannot evaluate expression: {error}")),
    };
    match truth(&trigger.expression) {
        Err(reason) => return Verdict::Unknown(reason),
        Ok(true) => {
            let opens = state == TriggerState::Ok || trigger.multiple;
            return if opens && cause == Cause::Problem { Verdict::Problem } else { Verdict::Keep };
        }
        Ok(false) if state == TriggerState::Ok => return Verdict::Keep,
        Ok(false) => {}
    }
    match &trigger.recovery {
        TriggerRecovery::Expression => Verdict::Ok,
        TriggerRecovery::RecoveryExpression(recovery) => match truth(recovery) {
            Ok(true) => Verdict::Ok,
            Ok(false) => Verdict::Keep,
            Err(reason) => Verdict::Unknown(reason),
        },
        TriggerRecovery::None => Verdict::Keep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use TriggerState::{Ok as Fine, Problem as Bad};

    /// `problem` and `recovery`: value of the expression, `None` = unknown.
    fn check(
        trigger: &Trigger,
        state: TriggerState,
        cause: Cause,
        problem: Option<f64>,
        recovery: Option<f64>,
    ) -> Verdict {
        verdict(trigger, state, cause, &mut |expression| {
            let value = if *expression == *trigger.expression { problem } else { recovery };
            value.map(ExprValue::Float).ok_or_else(|| ExprError::Unknown("why".into()))
        })
    }

    #[test]
    fn modes_and_states() {
        let unknown = || Verdict::Unknown("why".into());
        use Cause::{Problem as P, Recovery as R};
        let by = || TriggerRecovery::RecoveryExpression(testing::expression("{2}=1"));
        let (itself, none) = (|| TriggerRecovery::Expression, || TriggerRecovery::None);
        // recovery, multiple, state, cause, problem expression, recovery expression, verdict
        for (n, (mode, multiple, state, cause, problem, recovery, expected)) in [
            (itself(), false, Fine, P, Some(1.0), None, Verdict::Problem),
            (itself(), false, Fine, P, Some(0.5), None, Verdict::Problem),
            (itself(), false, Fine, P, Some(0.0), None, Verdict::Keep),
            (itself(), false, Fine, P, None, None, unknown()),
            (itself(), false, Bad, P, Some(1.0), None, Verdict::Keep),
            (itself(), false, Bad, P, Some(0.0), None, Verdict::Ok),
            (itself(), false, Bad, P, None, None, unknown()),
            (itself(), true, Bad, P, Some(1.0), None, Verdict::Problem),
            (itself(), true, Bad, P, Some(0.0), None, Verdict::Ok),
            (itself(), true, Bad, R, Some(1.0), None, Verdict::Keep),
            (by(), false, Fine, P, Some(1.0), Some(1.0), Verdict::Problem),
            (by(), false, Fine, P, Some(0.0), Some(1.0), Verdict::Keep),
            (by(), false, Bad, P, Some(1.0), Some(1.0), Verdict::Keep),
            (by(), false, Bad, P, Some(0.0), Some(1.0), Verdict::Ok),
            (by(), false, Bad, R, Some(0.0), Some(1.0), Verdict::Ok),
            (by(), false, Bad, P, Some(0.0), Some(0.0), Verdict::Keep),
            (by(), false, Bad, P, Some(0.0), None, unknown()),
            (by(), false, Fine, R, Some(1.0), Some(0.0), Verdict::Keep),
            (none(), false, Fine, P, Some(1.0), None, Verdict::Problem),
            (none(), false, Bad, P, Some(0.0), None, Verdict::Keep),
            (none(), true, Bad, P, Some(1.0), None, Verdict::Problem),
        ]
        .into_iter()
        .enumerate()
        {
            let mut trigger = testing::trigger(1, "{1}>5", &[]);
            trigger.multiple = multiple;
            trigger.recovery = mode;
            let got = check(&trigger, state, cause, problem, recovery);
            assert_eq!(got, expected, "row {n}");
        }
    }
}
