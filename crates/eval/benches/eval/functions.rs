//! Each function over expressions, called with plain operands.

use eval::expr::{ExprValue, Expression, ItemCall, Mode, Operands, eval};
use jiff::tz::TimeZone;
use model::Timestamp;

use crate::table::Bench;

/// `{1}` is 7.25, `{2}` is 42, `{3}` a text, `last_foreach` 100 numbers, `bucket_rate_foreach`
/// 20 buckets.
pub(crate) struct World(pub(crate) TimeZone);

impl Operands for World {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        Ok(match id {
            1 => ExprValue::Float(7.25),
            2 => ExprValue::Unsigned(42),
            3 => ExprValue::Text("disk sda is 97 % full".to_owned()),
            4 => ExprValue::Text("{\"a\":{\"b\":[1,2,3]}}".to_owned()),
            5 => ExprValue::Text("<a><b>1</b></a>".to_owned()),
            6 => ExprValue::Float(0.5),
            _ => return Err("there is no such function".to_owned()),
        })
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        Ok(match call.function.as_str() {
            "bucket_rate_foreach" => {
                let bucket = |n: u64| [ExprValue::Unsigned(n), ExprValue::Unsigned(n * n)];
                let top = [ExprValue::Text("Inf".to_owned()), ExprValue::Unsigned(500)];
                ExprValue::Vector((1..20).flat_map(bucket).chain(top).collect())
            }
            _ => ExprValue::Vector((0..100).map(ExprValue::Unsigned).collect()),
        })
    }

    fn macro_value(&mut self, _: &str) -> Result<ExprValue, String> {
        Ok(ExprValue::Text("5m".to_owned()))
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_s(1_734_491_045)
    }

    fn tz(&self) -> &TimeZone {
        &self.0
    }
}

const ALL: &str = "last_foreach(/*/key)";

/// Groups of the manual with a call of each function; `@` stands for 100 numbers.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Aggregate functions over 100 numbers",
        &[
            "avg(@)",
            "count(@)",
            "count(@,\"gt\",50)",
            "kurtosis(@)",
            "mad(@)",
            "max(@)",
            "min(@)",
            "skewness(@)",
            "stddevpop(@)",
            "stddevsamp(@)",
            "sum(@)",
            "sumofsquares(@)",
            "varpop(@)",
            "varsamp(@)",
            "histogram_quantile(0.9,bucket_rate_foreach(/*/key))",
        ],
    ),
    ("Date and time", &["date()", "dayofmonth()", "dayofweek()", "now()", "time()"]),
    (
        "Bitwise functions",
        &[
            "bitand({2},7)",
            "bitor({2},7)",
            "bitxor({2},7)",
            "bitnot({2})",
            "bitlshift({2},3)",
            "bitrshift({2},3)",
        ],
    ),
    (
        "Mathematical functions",
        &[
            "abs({1})",
            "acos({6})",
            "asin({6})",
            "atan({1})",
            "atan2({1},2)",
            "avg({1},{2})",
            "cbrt({1})",
            "ceil({1})",
            "cos({1})",
            "cosh({1})",
            "cot({1})",
            "degrees({1})",
            "e()",
            "exp({1})",
            "expm1({1})",
            "floor({1})",
            "log({1})",
            "log10({1})",
            "max({1},{2})",
            "min({1},{2})",
            "mod({1},2)",
            "pi()",
            "power({1},2)",
            "radians({1})",
            "rand()",
            "round({1},1)",
            "signum({1})",
            "sin({1})",
            "sinh({1})",
            "sqrt({1})",
            "sum({1},{2})",
            "tan({1})",
            "truncate({1},1)",
        ],
    ),
    (
        "String functions",
        &[
            "ascii({3})",
            "bitlength({3})",
            "bytelength({3})",
            "char({2})",
            "concat({3},\"!\")",
            "insert({3},2,0,\"x\")",
            "jsonpath({4},\"$.a.b[1]\")",
            "left({3},4)",
            "length({3})",
            "ltrim({3},\"d\")",
            "mid({3},6,3)",
            "repeat({3},3)",
            "replace({3},\"sda\",\"sdb\")",
            "right({3},4)",
            "rtrim({3},\"l\")",
            "trim({3},\"dl\")",
            "xmlxpath({5},\"/a/b/text()\")",
        ],
    ),
    ("Operator functions", &["between({1},1,10)", "in({1},1,5,7.25)"]),
];

/// Measures all of them.
pub(crate) fn run(bench: &mut Bench) {
    let mut world = World(TimeZone::UTC);
    for (title, calls) in GROUPS {
        let mut table = bench.table(title, "ns/call");
        for call in *calls {
            let expression = Expression::parse(&call.replace('@', ALL)).unwrap();
            let mut run = || eval(&expression, &mut world, Mode::Strict);
            assert!(run().is_ok(), "{call}: {:?}", run());
            table.row(call, 1, run);
        }
        table.show();
    }
    let buckets = Expression::parse("bucket_rate_foreach(/*/key)").unwrap();
    let rates = world.item_call(buckets.item_calls()[0]).unwrap();
    let mut table = bench.table("Aggregate functions over 20 buckets", "ns/call");
    table.row("bucket_percentile(…,95)", 1, || eval::expr::bucket_percentile(&rates, "95"));
    table.show();
}
