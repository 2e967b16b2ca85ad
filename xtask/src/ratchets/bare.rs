//! Bare numbers for what the catalogs of the crate `objects` name: in SQL texts, in comparisons, in rows.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprMatch, ExprTuple, Lit, LitStr, Macro, Pat};

use super::source::File;

/// Columns and fields whose numbers have a catalog.
const NAMES: [&str; 9] = [
    "error_handler",
    "evaltype",
    "flags",
    "inventory_mode",
    "kind",
    "priority",
    "state",
    "status",
    "value_type",
];

/// More columns, by names that other structures have for other things.
const COLUMNS: [&str; 4] = ["eventsource", "object", "source", "type"];

/// From this number on `status` is one of HTTP.
const HTTP_STATUS: i64 = 100;

/// All bare numbers of a crate; the catalogs, the schema and its history have theirs for good.
pub(super) fn find(files: &[File]) -> Vec<String> {
    let mut bare = Bare::default();
    for file in files.iter().filter(|file| !file.name.starts_with("schema/")) {
        bare.file.clone_from(&file.name);
        file.items.iter().for_each(|item| bare.visit_item(item));
    }
    bare.places
}

#[derive(Default)]
struct Bare {
    file: String,
    places: Vec<String>,
}

impl Bare {
    fn note(&mut self, at: proc_macro2::Span, what: &str) {
        self.places.push(format!("{}:{} {what}", self.file, at.start().line));
    }

    fn text(&mut self, text: &LitStr) {
        for column in in_sql(&text.value()) {
            self.note(text.span(), column);
        }
    }

    /// Texts in the arguments of macros such as `format!`.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Lit::Str(text) = Lit::new(literal) {
                        self.text(&text);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Bare {
    // Documentation and attributes have no numbers that are compared.
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_lit_str(&mut self, text: &'a LitStr) {
        self.text(text);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.tokens(call.tokens.clone());
    }

    fn visit_expr_binary(&mut self, binary: &'a ExprBinary) {
        let compares = matches!(
            binary.op,
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
        );
        if compares
            && is_number(&binary.right)
            && let Some(name) = named(&binary.left)
        {
            self.note(binary.span(), &name);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_match(&mut self, choice: &'a ExprMatch) {
        if let Some(name) = named(&choice.expr)
            && choice.arms.iter().any(|arm| has_number(&arm.pat))
        {
            self.note(choice.expr.span(), &name);
        }
        visit::visit_expr_match(self, choice);
    }

    /// `("flags", Value::from(4))`
    fn visit_expr_tuple(&mut self, pair: &'a ExprTuple) {
        if let (Some(Expr::Lit(name)), Some(value)) = (pair.elems.first(), pair.elems.get(1))
            && let Lit::Str(name) = &name.lit
            && NAMES.contains(&name.value().as_str())
            && let Expr::Call(call) = value
            && call.args.iter().all(is_number)
        {
            self.note(pair.span(), &name.value());
        }
        visit::visit_expr_tuple(self, pair);
    }
}

fn is_number(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(literal) => {
            matches!(&literal.lit, Lit::Int(n) if n.base10_parse::<i64>().is_ok_and(|n| n < HTTP_STATUS))
        }
        Expr::Unary(unary) => is_number(&unary.expr),
        _ => false,
    }
}

fn has_number(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => is_number(&Expr::Lit(literal.clone())),
        Pat::Or(or) => or.cases.iter().any(has_number),
        Pat::Range(range) => range.start.as_deref().is_some_and(is_number),
        Pat::Paren(inner) => has_number(&inner.pat),
        _ => false,
    }
}

/// The name that an expression ends with, if it is of a catalog: `flags` of `item.flags`, of
/// `row.int("flags")` and of `*flags`.
fn named(expression: &Expr) -> Option<String> {
    let name = match expression {
        Expr::Path(path) => path.path.segments.last()?.ident.to_string(),
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(_) => return None,
        },
        Expr::Unary(unary) => return named(&unary.expr),
        Expr::Paren(inner) => return named(&inner.expr),
        Expr::Reference(inner) => return named(&inner.expr),
        Expr::MethodCall(call) => match call.args.first() {
            Some(Expr::Lit(literal)) => match &literal.lit {
                Lit::Str(name) if COLUMNS.contains(&name.value().as_str()) => {
                    return Some(name.value());
                }
                Lit::Str(name) => name.value(),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    NAMES.contains(&name.as_str()).then_some(name)
}

/// Columns that a text of SQL compares with a number.
fn in_sql(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for name in NAMES.into_iter().chain(COLUMNS) {
        for (at, _) in text.match_indices(name) {
            let before = text[..at].chars().next_back();
            let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if is_whole && compares_with_number(&text[at + name.len()..]) {
                found.push(name);
            }
        }
    }
    found
}

fn compares_with_number(after: &str) -> bool {
    let operators = ["<>", "<=", ">=", "!=", "=", "<", ">", "IN ("];
    let after = after.trim_start_matches(' ');
    let rest = operators.into_iter().find_map(|operator| after.strip_prefix(operator));
    rest.is_some_and(|rest| {
        rest.trim_start_matches(' ')
            .trim_start_matches('-')
            .starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        let items = syn::parse_file(source).unwrap().items;
        find(&[File { name: "a.rs".into(), module: Vec::new(), items }])
    }

    #[test]
    fn bare_numbers_are_found() {
        for (source, what) in [
            (r#"const A: &str = "SELECT 1 FROM items WHERE i.flags IN (0, 4)";"#, "flags"),
            (r#"fn a() { b(format!("type <> 9 AND {c}")); }"#, "type"),
            (r#"fn a() { b("inventory_mode >= -1"); }"#, "inventory_mode"),
            (r#"const A: &str = "SELECT 1 FROM events e WHERE e.source = 0";"#, "source"),
            ("fn a() { if one.flags == 2 {} }", "flags"),
            (r#"fn a() { if row.int("type") != 3 {} }"#, "type"),
            ("fn a() { match value_type { 0 | 3 => b(), _ => c() } }", "value_type"),
            (r#"fn a() { b(("flags", Value::from(4))) }"#, "flags"),
        ] {
            assert_eq!(found(source), [format!("a.rs:1 {what}")], "{source}");
        }
    }

    #[test]
    fn other_numbers_are_not_found() {
        for source in [
            r#"const A: &str = "flags = ? AND flags_2 = 3 AND x_type = 9 AND flags = {FLAGS_RULE}";"#,
            "fn a() { if answer.status == 401 {} }",
            "fn a() { if one.flags == other.flags || count == 2 {} }",
            "/// type = 9\nfn a() {}",
        ] {
            assert_eq!(found(source), Vec::<String>::new(), "{source}");
        }
    }
}
