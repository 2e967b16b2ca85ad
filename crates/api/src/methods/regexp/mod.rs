//! Global regular expressions: named lists of expressions that filters and steps use as `@name`.

use crate::call::Method;
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::plain::{self, Child, Key, Plain, Seen, Select, Spec, Unique, number, text};
use config::table;

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("regexp.get", plain::get::<Regexp>),
    Method::super_admin("regexp.create", plain::create::<Regexp>),
    Method::super_admin("regexp.update", plain::update::<Regexp>),
    Method::super_admin("regexp.delete", plain::delete::<Regexp>),
];

const FIELDS: &[Field] = &[
    field("regexpid", Id, ReadOnly, "Id of the global regular expression."),
    field("name", Name(128), Required, "Name; used as `@name`."),
    field("test_string", Text(65_535), Optional, "Text to try it with."),
    field(
        "expressions",
        Nested,
        Required,
        "`[{expression, expression_type, exp_delimiter, case_sensitive}]`, all must hold.",
    ),
];

pub(crate) static REGEXP: Object = Object {
    name: "regexp",
    table: "regexps",
    key: "regexpid",
    keys: "regexpids",
    fields: FIELDS,
    strict: true,
    sort: &["regexpid", "name"],
};

const EXPRESSION: &[Field] = &[
    field("expression", Name(255), Required, "Text or pattern."),
    field(
        "expression_type",
        OneOf(&[0, 1, 2, 3, 4]),
        Required,
        "0 text included, 1 any of a list …",
    ),
    field("exp_delimiter", Text(1), Optional, "Between the texts of a list: `,`, `.` or `/`.")
        .when("expression_type", &[ANY_INCLUDED], "value must be empty"),
    field("case_sensitive", OneOf(&[0, 1]), Optional, "1 = capitals count."),
];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Regular expression \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some(Select::Rows("selectExpressions")),
        required: true,
        unique: &["expression_type", "expression"],
        check: check_expression,
        ..Child::new(
            "expressions",
            &table::REGEXP_EXPRESSIONS,
            "regexpid",
            Key::Position("position"),
            EXPRESSION,
        )
    }],
    ..Spec::new(&REGEXP, &table::REGEXPS, &[("regexpids", "t.regexpid IN ({ids})")])
};

#[derive(Default)]
struct Regexp;

impl Plain for Regexp {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }
}

/// Types of expressions: any of a list of texts, and the patterns.
const ANY_INCLUDED: i64 = 1;
const PATTERNS: [i64; 2] = [3, 4];

fn check_expression(_: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()> {
    let kind = number(row, "expression_type");
    let pattern = text(row, "expression").unwrap_or_default();
    if PATTERNS.contains(&kind) && eval::regex::check(pattern).is_err() {
        return Err(ApiError::at(&format!("{path}/expression"), "invalid regular expression"));
    }
    let at = format!("{path}/exp_delimiter");
    match text(row, "exp_delimiter") {
        None | Some("") => {
            row.retain(|(name, _)| *name != "exp_delimiter");
            row.push(("exp_delimiter", ",".into()));
        }
        Some("," | "." | "/") => {}
        Some(_) => {
            return Err(ApiError::at(&at, "value must be one of \",\", \".\", \"/\""));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
