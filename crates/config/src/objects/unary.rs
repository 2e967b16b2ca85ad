//! Where unary operators may stand in expressions.

use eval::expr::{Expression, Node, NodeKind};

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
