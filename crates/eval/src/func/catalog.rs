//! Every function with its parameters: what checks of expressions go by, and what
//! `docs/functions.md` is made of.

use std::fmt::Write;

use Group::{
    Aggregate, Bitwise, Dates, Foreach, History, Math, Operators, Prediction, Texts, Trends,
};
use Takes::{Any, Logs, Numbers};

/// The chapter in which the field's manual has a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Over one item's values, or over lists.
    Aggregate,
    /// One value for each item of a query.
    Foreach,
    /// Bits of whole numbers.
    Bitwise,
    /// The moment of evaluation.
    Dates,
    /// One item's values.
    History,
    /// One item's hourly trends.
    Trends,
    /// Numbers.
    Math,
    /// Comparisons in form of functions.
    Operators,
    /// What values will be.
    Prediction,
    Texts,
}

/// Items that a function over history can be used with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// All types of values.
    Any,
    /// Numeric ones.
    Numbers,
    /// Log entries.
    Logs,
}

/// A function as it can be written. Parameters are separated by commas, optional ones stand in
/// brackets, `…` stands for more of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    pub name: &'static str,
    /// Its chapter.
    pub group: Group,
    /// Parameters behind the item; `None` = there is no form over history.
    pub history: Option<&'static str>,
    /// Operands; `None` = there is no form over operands.
    pub operands: Option<&'static str>,
    /// Items it can be used with.
    pub takes: Takes,
    /// What it gives.
    pub about: &'static str,
}

const fn item(
    group: Group,
    name: &'static str,
    params: &'static str,
    takes: Takes,
    about: &'static str,
) -> Signature {
    Signature { name, group, history: Some(params), operands: None, takes, about }
}

const fn both(
    name: &'static str,
    params: &'static str,
    operands: &'static str,
    takes: Takes,
    about: &'static str,
) -> Signature {
    let (history, operands) = (Some(params), Some(operands));
    Signature { name, group: Aggregate, history, operands, takes, about }
}

const fn plain(
    group: Group,
    name: &'static str,
    operands: &'static str,
    about: &'static str,
) -> Signature {
    Signature { name, group, history: None, operands: Some(operands), takes: Any, about }
}

/// All functions, by chapter and name.
#[rustfmt::skip]
pub const ALL: &[Signature] = &[
    both("avg", "period", "x[,…]", Numbers, "mean"),
    item(Aggregate, "bucket_percentile", "period,percentage", Numbers, "bucket bound below which this percentage of a histogram's growth lies"),
    both("count", "period[,operator[,pattern]]", "list[,operator[,pattern]]", Any, "number of values, or of matching values"),
    plain(Aggregate, "histogram_quantile", "quantile,list|quantile,bound1,rate1[,…]", "bucket bound below which this share (0 to 1) of a histogram lies"),
    item(Aggregate, "item_count", "", Any, "number of enabled items that match the query"),
    both("kurtosis", "period", "list", Numbers, "tailedness of the distribution"),
    both("mad", "period", "list", Numbers, "median absolute deviation"),
    both("max", "period", "x[,…]", Numbers, "largest value"),
    both("min", "period", "x[,…]", Numbers, "smallest value"),
    both("skewness", "period", "list", Numbers, "asymmetry of the distribution"),
    both("stddevpop", "period", "list", Numbers, "population standard deviation"),
    both("stddevsamp", "period", "list", Numbers, "sample standard deviation"),
    both("sum", "period", "x[,…]", Numbers, "sum; 0 if the period has no values"),
    both("sumofsquares", "period", "list", Numbers, "sum of the squares"),
    both("varpop", "period", "list", Numbers, "population variance"),
    both("varsamp", "period", "list", Numbers, "sample variance"),
    item(Foreach, "avg_foreach", "period", Numbers, "mean of each item"),
    item(Foreach, "bucket_rate_foreach", "period[,parameter]", Numbers, "pairs of bucket bound and growth per second; the bound is this parameter of the key (default: the first)"),
    item(Foreach, "count_foreach", "period[,operator[,pattern]]", Any, "number of values of each item"),
    item(Foreach, "exists_foreach", "", Any, "1 for each enabled item"),
    item(Foreach, "last_foreach", "[period]", Any, "newest value of each item"),
    item(Foreach, "max_foreach", "period", Numbers, "largest value of each item"),
    item(Foreach, "min_foreach", "period", Numbers, "smallest value of each item"),
    item(Foreach, "sum_foreach", "period", Numbers, "sum of each item"),
    plain(Bitwise, "bitand", "x,mask", "bitwise AND"),
    plain(Bitwise, "bitlshift", "x,places", "bitwise shift to the left"),
    plain(Bitwise, "bitnot", "x", "bitwise NOT of 64 bits"),
    plain(Bitwise, "bitor", "x,mask", "bitwise OR"),
    plain(Bitwise, "bitrshift", "x,places", "bitwise shift to the right"),
    plain(Bitwise, "bitxor", "x,mask", "bitwise exclusive OR"),
    plain(Dates, "date", "", "date as YYYYMMDD"),
    plain(Dates, "dayofmonth", "", "day of the month, 1 to 31"),
    plain(Dates, "dayofweek", "", "day of the week, 1 (Monday) to 7 (Sunday)"),
    plain(Dates, "now", "", "seconds since 1970"),
    plain(Dates, "time", "", "time of day as HHMMSS"),
    item(History, "change", "", Any, "difference between the two newest values; for texts 0 (equal) or 1"),
    item(History, "changecount", "period[,mode]", Any, "number of changes between consecutive values; mode `all`, `inc`, `dec`"),
    item(History, "countunique", "period[,operator[,pattern]]", Any, "number of distinct values, or of distinct matching values"),
    item(History, "find", "[period[,operator[,pattern]]]", Any, "1 if a value matches, otherwise 0"),
    item(History, "first", "period", Any, "oldest value of the period"),
    item(History, "fuzzytime", "seconds", Numbers, "1 if the newest value, a timestamp, differs from the server time by at most this many seconds"),
    item(History, "last", "[#n]", Any, "newest value, or the n-th newest"),
    item(History, "logeventid", "[#n[,pattern]]", Logs, "1 if the event id of the log entry matches the regular expression"),
    item(History, "logseverity", "[#n]", Logs, "severity of the log entry"),
    item(History, "logsource", "[#n[,pattern]]", Logs, "1 if the source of the log entry matches the regular expression"),
    item(History, "monodec", "period[,mode]", Numbers, "1 if the values only decrease; mode `weak`, `strict`"),
    item(History, "monoinc", "period[,mode]", Numbers, "1 if the values only increase; mode `weak`, `strict`"),
    item(History, "nodata", "seconds[,mode]", Any, "1 if no value was received for this time; mode `strict` ignores the availability of proxies"),
    item(History, "percentile", "period,percentage", Numbers, "value that this percentage of the values do not exceed"),
    item(History, "rate", "period", Numbers, "growth of a counter per second; resets are handled"),
    item(Trends, "baselinedev", "period,season,seasons", Numbers, "number of standard deviations between this period and the same period of earlier seasons"),
    item(Trends, "baselinewma", "period,season,seasons", Numbers, "weighted mean of the same period in earlier seasons; newer seasons weigh more"),
    item(Trends, "trendavg", "period", Numbers, "mean"),
    item(Trends, "trendcount", "period", Numbers, "number of values"),
    item(Trends, "trendmax", "period", Numbers, "largest value"),
    item(Trends, "trendmin", "period", Numbers, "smallest value"),
    item(Trends, "trendstl", "period,detection,season[,deviations[,measure[,window]]]", Numbers, "share of anomalies (0 to 1) in the detection period"),
    item(Trends, "trendsum", "period", Numbers, "sum"),
    plain(Math, "abs", "x", "absolute value"),
    plain(Math, "acos", "x", "arc cosine"),
    plain(Math, "asin", "x", "arc sine"),
    plain(Math, "atan", "x", "arc tangent"),
    plain(Math, "atan2", "y,x", "arc tangent of y/x, in the correct quadrant"),
    plain(Math, "cbrt", "x", "cube root"),
    plain(Math, "ceil", "x", "rounded up to an integer"),
    plain(Math, "cos", "x", "cosine"),
    plain(Math, "cosh", "x", "hyperbolic cosine"),
    plain(Math, "cot", "x", "cotangent"),
    plain(Math, "degrees", "x", "radians converted to degrees"),
    plain(Math, "e", "", "Euler's number"),
    plain(Math, "exp", "x", "power of Euler's number"),
    plain(Math, "expm1", "x", "power of Euler's number minus 1"),
    plain(Math, "floor", "x", "rounded down to an integer"),
    plain(Math, "log", "x", "natural logarithm"),
    plain(Math, "log10", "x", "decimal logarithm"),
    plain(Math, "mod", "x,divisor", "remainder of a division"),
    plain(Math, "pi", "", "ratio of a circle's circumference to its diameter"),
    plain(Math, "power", "x,exponent", "power"),
    plain(Math, "radians", "x", "degrees converted to radians"),
    plain(Math, "rand", "", "random integer"),
    plain(Math, "round", "x,digits", "rounded to this number of decimal places"),
    plain(Math, "signum", "x", "-1, 0 or 1"),
    plain(Math, "sin", "x", "sine"),
    plain(Math, "sinh", "x", "hyperbolic sine"),
    plain(Math, "sqrt", "x", "square root"),
    plain(Math, "tan", "x", "tangent"),
    plain(Math, "truncate", "x,digits", "truncated to this number of decimal places"),
    plain(Operators, "between", "x,least,most", "1 if x is in this range, including both bounds"),
    plain(Operators, "in", "x,y[,…]", "1 if x equals one of the values"),
    item(Prediction, "forecast", "period,ahead[,fit[,mode]]", Numbers, "predicted value after this time; mode `value`, `max`, `min`, `delta`, `avg`"),
    item(Prediction, "timeleft", "period,threshold[,fit]", Numbers, "predicted seconds until the threshold is reached"),
    plain(Texts, "ascii", "text", "code of the first character"),
    plain(Texts, "bitlength", "x", "length in bits"),
    plain(Texts, "bytelength", "x", "length in bytes"),
    plain(Texts, "char", "code", "character with this code"),
    plain(Texts, "concat", "x,y[,…]", "concatenated text"),
    plain(Texts, "insert", "text,start,length,new", "text with a part replaced"),
    plain(Texts, "jsonpath", "text,path[,default]", "result of a JSONPath"),
    plain(Texts, "left", "text,length", "leftmost characters"),
    plain(Texts, "length", "text", "length in characters"),
    plain(Texts, "ltrim", "text[,characters]", "text without these characters at the start"),
    plain(Texts, "mid", "text,start,length", "part of the text; the first character is 1"),
    plain(Texts, "repeat", "text,times", "repeated text"),
    plain(Texts, "replace", "text,search,new", "text with all occurrences replaced"),
    plain(Texts, "right", "text,length", "rightmost characters"),
    plain(Texts, "rtrim", "text[,characters]", "text without these characters at the end"),
    plain(Texts, "trim", "text[,characters]", "text without these characters at both ends"),
    plain(Texts, "xmlxpath", "text,path[,default]", "result of an XPath"),
];

/// Least and most number of parameters of a written form.
fn counts(form: &str) -> (usize, usize) {
    let of_one = |form: &str| {
        let names = |text: &str| {
            let parts = text.split([',', '[', ']']).filter(|part| !part.is_empty());
            parts.fold((0, false), |(n, more), part| match part {
                "…" => (n, true),
                _ => (n + 1, more),
            })
        };
        let (least, _) = names(form.split('[').next().unwrap_or_default());
        let (most, more) = names(form);
        (least, if more { usize::MAX } else { most })
    };
    form.split('|')
        .map(of_one)
        .fold((usize::MAX, 0), |(least, most), (a, b)| (least.min(a), most.max(b)))
}

impl Signature {
    /// The function of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|known| known.name == name)
    }

    /// Least and most number of parameters behind the item.
    pub fn history_counts(&self) -> Option<(usize, usize)> {
        self.history.map(counts)
    }

    /// Least and most number of operands.
    pub fn operand_counts(&self) -> Option<(usize, usize)> {
        self.operands.map(counts)
    }

    /// It gives a list, which only functions over lists can take.
    pub fn gives_list(&self) -> bool {
        self.group == Foreach
    }

    /// It takes the list that a foreach function gives, but for histograms.
    pub fn takes_list(&self) -> bool {
        self.group == Aggregate && self.operands.is_some() && self.name != "histogram_quantile"
    }

    /// It has several items at once.
    pub fn over_query(&self) -> bool {
        self.group == Foreach || matches!(self.name, "item_count" | "bucket_percentile")
    }
}

const HEAD: &str = "# Functions

Functions in trigger expressions and formulas of calculated items. This page is generated from the
program's [catalog](../crates/eval/src/func/catalog.rs).

- **Over an item**: the parameters follow `/host/key`, as in `avg(/host/key,5m)`. Foreach functions,
  `item_count` and `bucket_percentile` take a query: `/host/key[*]`, `/*/key`,
  `/*/key?[group=\"x\" and tag=\"name:value\"]`.
- **Over operands**: the parameters are expressions, as in `abs(last(/host/key))`. A *list* is the
  result of a foreach function.
- `period`: `#5` (values) or `5m` (time), shifted by `:now-1h`, or absolute as in `1h:now/h`. Trend
  functions require units of an hour or more and a time shift with rounding: `1d:now/d`. Suffixes:
  `s m h d w`, for trends `h d w M y`.
- `operator`: `eq`, `ne`, `gt`, `ge`, `lt`, `le`, `like`, `bitand`, `regexp`, `iregexp`.
- `fit`: `linear`, `polynomial1` to `polynomial6`, `exponential`, `logarithmic`, `power`.
- Parameters in brackets are optional. Quote parameters that are words.
";

/// The document `docs/functions.md`.
pub fn document() -> String {
    let mut out = HEAD.to_owned();
    let mut chapter = None;
    for known in ALL {
        if chapter != Some(known.group) {
            chapter = Some(known.group);
            let title = match known.group {
                Aggregate => "Aggregate",
                Foreach => "Foreach",
                Bitwise => "Bits",
                Dates => "Date and time",
                History => "History",
                Trends => "Trends",
                Math => "Mathematics",
                Operators => "Operators",
                Prediction => "Prediction",
                Texts => "Texts",
            };
            let table = "| Function | Over an item | Over operands | Items | Result |";
            let _ = write!(out, "\n## {title}\n{table}\n| --- | --- | --- | --- | --- |\n");
        }
        let form = |params: Option<&str>, first: &str| match params {
            None => String::from("–"),
            Some(form) => {
                let forms = form.split('|').map(|form| match (first, form) {
                    ("", form) => format!("`{}({form})`", known.name),
                    (first, "") => format!("`{}({first})`", known.name),
                    (first, form) if form.starts_with('[') => {
                        format!("`{}({first}[,{})`", known.name, &form[1..])
                    }
                    (first, form) => format!("`{}({first},{form})`", known.name),
                });
                forms.collect::<Vec<_>>().join(", ")
            }
        };
        let items = match (known.history, known.takes) {
            (None, _) => "–",
            (_, Any) => "all",
            (_, Numbers) => "numeric",
            (_, Logs) => "log",
        };
        let first = if known.over_query() { "query" } else { "/host/key" };
        let (name, about) = (known.name, known.about);
        let (history, operands) = (form(known.history, first), form(known.operands, ""));
        let _ = writeln!(out, "| {name} | {history} | {operands} | {items} | {about} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse_history_params;
    use crate::func::{FuncError, Function, foreach_base};

    #[test]
    fn the_document_is_what_the_code_knows() {
        let written = include_str!("../../../../docs/functions.md");
        assert!(written == document(), "docs/functions.md should be:\n{}", document());
    }

    #[test]
    fn counts_of_forms() {
        for (form, wanted) in [
            ("", (0, 0)),
            ("a", (1, 1)),
            ("[a]", (0, 1)),
            ("a,b[,c[,d]]", (2, 4)),
            ("x[,…]", (1, usize::MAX)),
            ("a,b|a,b,c[,…]", (2, usize::MAX)),
        ] {
            assert_eq!(counts(form), wanted, "{form}");
        }
    }

    /// A right parameter for each name in the forms.
    fn sample(name: &str, trend: bool) -> &'static str {
        match name {
            "period" if trend => "100h:now/h",
            "period" | "seconds" => "5m",
            "#n" => "#2",
            "operator" => "\"eq\"",
            "mode" | "fit" | "measure" => "",
            "percentage" | "pattern" => "50",
            "season" if trend => "10h",
            "detection" => "20h",
            "window" => "7",
            "ahead" => "1h",
            _ => "2",
        }
    }

    #[test]
    fn each_function_over_items_takes_its_parameters() {
        for known in ALL.iter().filter(|known| known.history.is_some()) {
            let Some(form) = known.history else { continue };
            if known.name == "exists_foreach" {
                continue;
            }
            let baseline = known.name.starts_with("baseline");
            let trend = known.group == Trends;
            let names: Vec<&str> =
                form.split([',', '[', ']']).filter(|part| !part.is_empty()).collect();
            let value = |name: &&str| match *name {
                "season" if baseline => "\"d\"",
                "period" if baseline => "1h:now/h",
                name => sample(name, trend),
            };
            let mut values: Vec<&str> = names.iter().map(value).collect();
            let (least, most) = known.history_counts().unwrap();
            assert_eq!(most, values.len(), "{}", known.name);
            let base = foreach_base(known.name).unwrap_or(known.name);
            let parse = |values: &[&str]| {
                let params = parse_history_params(&values.join(",")).unwrap();
                // What stands behind the period of bucket functions is not for single items.
                let own = if base == "rate" { params.len().min(1) } else { params.len() };
                Function::parse(base, &params[..own]).map(drop)
            };
            for count in least..=most {
                assert_eq!(parse(&values[..count]), Ok(()), "{} with {count}", known.name);
            }
            // What counts does so without a period too, though it is not accepted like that.
            if least > 0 && !matches!(base, "rate" | "count" | "countunique") {
                assert!(parse(&values[..least - 1]).is_err(), "{} needs {least}", known.name);
            }
            values.push("1");
            if base != "rate" {
                assert_eq!(parse(&values), Err(FuncError::ParamCount), "{}", known.name);
            }
        }
    }
}
