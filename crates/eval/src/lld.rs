//! Low-level discovery: rows, macro substitution in prototypes, filters, overrides.

mod filter;
mod rows;
mod subst;

pub use filter::{Condition, ConditionOp, EvalType, Formula, FormulaError, RowFilter, formula_ids};
pub use rows::{LldError, MacroPath, Row, parse_rows};
pub use subst::{substitute_expression, substitute_key, substitute_text};

/// Rows of one discovery; more are refused.
pub const ROWS_MAX: usize = 200_000;

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::macros::FunctionEnv;
    use crate::regex::GlobalRegexes;

    fn rows(text: &str, paths: &[(&str, &str)]) -> Result<Vec<Row>, LldError> {
        let paths: Vec<MacroPath> =
            paths.iter().map(|(m, p)| MacroPath::parse(m, p).unwrap()).collect();
        parse_rows(text, &paths)
    }

    #[test]
    fn row_formats() {
        let expected = |row: &Row| {
            assert_eq!(row.get("{#A}"), Some("x"));
            assert_eq!(row.get("{#N}"), Some("5"));
            assert_eq!(row.get("{#B}"), None);
        };
        for text in ["[{\"{#A}\":\"x\",\"{#N}\":5}]", "{\"data\":[{\"{#A}\":\"x\",\"{#N}\":5}]}"] {
            let rows = rows(text, &[]).unwrap();
            assert_eq!(rows.len(), 1);
            expected(&rows[0]);
        }
        let by_path = rows(
            "[{\"a\":{\"b\":\"x\"},\"n\":[5]}]",
            &[("{#A}", "$.a.b"), ("{#N}", "$.n[0]"), ("{#B}", "$.none")],
        );
        expected(&by_path.unwrap()[0]);
        assert_eq!(rows("[]", &[]).unwrap().len(), 0);
        for text in ["", "x", "{}", "5", "{\"data\":5}"] {
            assert!(rows(text, &[]).is_err(), "{text}");
        }
        assert!(MacroPath::parse("{#a}", "$.a").is_err());
        assert!(MacroPath::parse("{#A}", "a").is_err());
    }

    #[test]
    fn substitution() {
        let rows = rows(r##"[{"{#A}":"a,b","{#Q}":"say \"hi\"","{#N}":"5K","{#S}":"c:\\"}]"##, &[]);
        let row = &rows.unwrap()[0];
        let env = FunctionEnv { tz: &TimeZone::UTC };
        for (text, out) in [
            ("{#A} {#Q} {#X}", "a,b say \"hi\" {#X}"),
            ("{{#A}.regsub(\"(.),\", \\1)}", "a"),
            ("{$M:{#A}}", "{$M:a,b}"),
            ("{$M:\"{#Q}\"}", "{$M:\"say \\\"hi\\\"\"}"),
            ("{$M:regex:\"{#A}\"}", "{$M:regex:\"{#A}\"}"),
            ("{HOST.NAME} {#A}", "{HOST.NAME} a,b"),
        ] {
            assert_eq!(substitute_text(text, row, &env), out, "{text}");
        }
        for (key, out) in [
            ("k[{#A}]", Some("k[\"a,b\"]")),
            ("k[\"{#Q}\",x]", Some("k[\"say \\\"hi\\\"\",x]")),
            ("k[[{#N},{#A}]]", Some("k[[5K,\"a,b\"]]")),
            ("k[{$M:{#N}}]", Some("k[{$M:5K}]")),
            ("k[\"{#S}\"]", Some("k[c:\\]")),
            ("k[\"{#S},\"]", Some("k[\"c:\\,\"]")),
            ("k[\",{#S}\"]", None),
            ("k[{#A}", None),
        ] {
            assert_eq!(substitute_key(key, row, &env).ok().as_deref(), out, "{key}");
        }
        for (text, out) in [
            ("last(/h/k[{#A}])>{#N}", "last(/h/k[\"a,b\"])>5K"),
            ("last(/h/k)=\"{#Q}\"", "last(/h/k)=\"say \\\"hi\\\"\""),
            ("{1}={#A}", "{1}=\"a,b\""),
            ("find(/h/k,{#N},\"like\",\"{#S}\")=1", "find(/h/k,5K,\"like\",\"c:\\\\\")=1"),
            ("{$M:\"{#A}\"}>1", "{$M:\"a,b\"}>1"),
        ] {
            assert_eq!(substitute_expression(text, row, &env), out, "{text}");
        }
    }

    #[test]
    fn filters() {
        let rows = rows("[{\"{#FS}\":\"ext4\",\"{#M}\":\"/var\"}]", &[]).unwrap();
        let condition = |id: &str, lld_macro: &str, op, value: &str| Condition {
            id: id.to_owned(),
            lld_macro: lld_macro.to_owned(),
            op,
            value: value.to_owned(),
        };
        let conditions = || {
            vec![
                condition("A", "{#FS}", ConditionOp::Matches, "^ext"),
                condition("B", "{#M}", ConditionOp::NotMatches, "^/(proc|sys)"),
                condition("C", "{#X}", ConditionOp::Exists, ""),
                condition("D", "{#FS}", ConditionOp::Matches, "^xfs"),
            ]
        };
        for (evaltype, formula, passes) in [
            (EvalType::And, "", false),
            (EvalType::Or, "", true),
            // The two conditions on one macro are alternatives; `{#X}` does not exist.
            (EvalType::AndOr, "", false),
            (EvalType::Formula, "(A or D) and B and not C", true),
            (EvalType::Formula, "C or D", false),
        ] {
            let filter = RowFilter::new(evaltype, conditions(), formula).unwrap();
            assert_eq!(filter.passes(&rows[0], &GlobalRegexes::new()), Ok(passes), "{formula}");
        }
        assert_eq!(formula_ids("(A or B) and not C"), Ok(vec!["A", "B", "C"]));
        for formula in ["A or", "E", "(A", "A B", "", "A and or B"] {
            assert!(RowFilter::new(EvalType::Formula, conditions(), formula).is_err(), "{formula}");
        }
        let none = RowFilter::new(EvalType::AndOr, Vec::new(), "").unwrap();
        assert_eq!(none.passes(&rows[0], &GlobalRegexes::new()), Ok(true));
    }
}
