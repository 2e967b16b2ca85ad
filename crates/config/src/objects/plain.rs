//! What expressions of triggers may use beside history: functions over operands with their
//! numbers of arguments, and where unary operators may stand.

use eval::expr::{Expression, Node, NodeKind};

/// More arguments than anybody writes: no bound.
const MANY: usize = usize::MAX;

/// Names of functions over operands with the least and the most number of arguments.
const PLAIN: &[(&str, usize, usize)] = &[
    ("abs", 1, 1),
    ("acos", 1, 1),
    ("ascii", 1, 1),
    ("asin", 1, 1),
    ("atan", 1, 1),
    ("atan2", 2, 2),
    ("avg", 1, MANY),
    ("between", 3, 3),
    ("bitand", 2, 2),
    ("bitlength", 1, 1),
    ("bitlshift", 2, 2),
    ("bitnot", 1, 1),
    ("bitor", 2, 2),
    ("bitrshift", 2, 2),
    ("bitxor", 2, 2),
    ("bytelength", 1, 1),
    ("cbrt", 1, 1),
    ("ceil", 1, 1),
    ("char", 1, 1),
    ("concat", 2, MANY),
    ("cos", 1, 1),
    ("cosh", 1, 1),
    ("cot", 1, 1),
    ("date", 0, 0),
    ("dayofmonth", 0, 0),
    ("dayofweek", 0, 0),
    ("degrees", 1, 1),
    ("e", 0, 0),
    ("exp", 1, 1),
    ("expm1", 1, 1),
    ("floor", 1, 1),
    ("in", 2, MANY),
    ("insert", 4, 4),
    ("jsonpath", 2, 3),
    ("kurtosis", 1, 2),
    ("left", 2, 2),
    ("length", 1, 1),
    ("log", 1, 1),
    ("log10", 1, 1),
    ("ltrim", 1, 2),
    ("mad", 1, 2),
    ("max", 1, MANY),
    ("mid", 3, 3),
    ("min", 1, MANY),
    ("mod", 2, 2),
    ("now", 0, 0),
    ("pi", 0, 0),
    ("power", 2, 2),
    ("radians", 1, 1),
    ("rand", 0, 0),
    ("repeat", 2, 2),
    ("replace", 3, 3),
    ("right", 2, 2),
    ("round", 2, 2),
    ("rtrim", 1, 2),
    ("signum", 1, 1),
    ("sin", 1, 1),
    ("sinh", 1, 1),
    ("skewness", 1, 2),
    ("sqrt", 1, 1),
    ("stddevpop", 1, 2),
    ("stddevsamp", 1, 2),
    ("sum", 1, MANY),
    ("sumofsquares", 1, 2),
    ("tan", 1, 1),
    ("time", 0, 0),
    ("trim", 1, 2),
    ("truncate", 2, 2),
    ("varpop", 1, 2),
    ("varsamp", 1, 2),
    ("xmlxpath", 2, 3),
];

/// There is a function of this name over operands.
pub(super) fn is_plain(name: &str) -> bool {
    name == "count" || PLAIN.iter().any(|(plain, ..)| *plain == name)
}

/// What is wrong with the functions over operands, in words for behind a path.
pub(super) fn check_functions(expression: &Expression) -> Result<(), String> {
    let mut wrong = None;
    expression.root.walk(&mut |node| {
        if let NodeKind::Call { function, args } = &node.kind
            && wrong.is_none()
        {
            wrong = check(function, args.len()).err();
        }
    });
    wrong.map_or(Ok(()), Err)
}

fn check(name: &str, args: usize) -> Result<(), String> {
    // It counts over lists of values, which triggers do not have.
    if name == "count" {
        return Err(format!("incorrect usage of function \"{name}\""));
    }
    match PLAIN.iter().find(|(plain, ..)| *plain == name) {
        Some((_, least, most)) if (*least..=*most).contains(&args) => Ok(()),
        Some(_) => Err(format!("invalid number of parameters in function \"{name}\"")),
        None => Err(format!("unknown function \"{name}\"")),
    }
}

/// The first unary operator that stands where none may: behind another one (but for `not -`), or
/// `not` right behind an operator, without a space.
pub(super) fn misplaced_operator(expression: &Expression) -> Option<usize> {
    let text = expression.text.as_str();
    let mut found: Option<usize> = None;
    expression.root.walk(&mut |node| {
        let place = match &node.kind {
            NodeKind::Negate(inner) => unary_at(inner, text, true),
            NodeKind::Not(inner) => {
                let at = not_at(node, text);
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                if before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',')) {
                    unary_at(inner, text, false)
                } else {
                    Some(at)
                }
            }
            _ => None,
        };
        found = match (found, place) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    });
    found
}

/// Where the word itself stands: the node may begin with parentheses around it.
fn not_at(node: &Node, text: &str) -> usize {
    let part = text.get(node.span.clone()).unwrap_or_default();
    node.span.start + part.find("not").unwrap_or(0)
}

fn unary_at(node: &Node, text: &str, minus_too: bool) -> Option<usize> {
    let unary = match node.kind {
        NodeKind::Not(_) => true,
        NodeKind::Negate(_) => minus_too,
        _ => false,
    };
    let bare = text.get(node.span.clone()).is_some_and(|part| !part.starts_with('('));
    (unary && bare).then_some(node.span.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions() {
        for (text, error) in [
            ("abs(1)+max(1,2,3)", ""),
            ("kurtosis(1)", ""),
            ("char(1,2)", "invalid number of parameters in function \"char\""),
            ("date(1)", "invalid number of parameters in function \"date\""),
            ("1+count(1)", "incorrect usage of function \"count\""),
            ("histogram_quantile(1,2,3)", "unknown function \"histogram_quantile\""),
        ] {
            let checked = check_functions(&Expression::parse(text).unwrap());
            assert_eq!(checked.err().unwrap_or_default(), error, "{text}");
        }
    }

    #[test]
    fn unary_operators() {
        for (text, place) in [
            ("not 1 and not 2", None),
            ("-1 - -2", None),
            ("not (not 1)", None),
            ("1 - (not 2)", None),
            ("not -1", None),
            ("1 > not 0", None),
            ("max(not 1,not 2)", None),
            ("- not 1", Some(2)),
            ("--1", Some(1)),
            ("not not 1", Some(4)),
            ("1=not 2", Some(2)),
            ("1+not 2*3", Some(2)),
            ("(1=2)*not (3)", Some(6)),
        ] {
            assert_eq!(misplaced_operator(&Expression::parse(text).unwrap()), place, "{text}");
        }
    }
}
