//! Every operator and function over expressions.

use jiff::tz::TimeZone;
use model::Timestamp;

use super::{ExprValue, Expression, ItemCall, Mode, Operands, eval};

struct World(TimeZone);

impl Operands for World {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        if id < 100 { Ok(ExprValue::Unsigned(id)) } else { Err("no data".to_owned()) }
    }
    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        let number = |v: u64| ExprValue::Unsigned(v);
        Ok(match call.function.as_str() {
            "last_foreach" => ExprValue::Vector(vec![number(1), number(2), number(6)]),
            "bucket_rate_foreach" => ExprValue::Vector(vec![
                number(1),
                number(10),
                ExprValue::Text("Inf".to_owned()),
                number(20),
            ]),
            "item_count" => number(4),
            "none_foreach" => ExprValue::Vector(Vec::new()),
            _ => return Err("no data".to_owned()),
        })
    }
    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        match token {
            "{$TWO}" => Ok(ExprValue::Text("2".to_owned())),
            "{$MINUTE}" => Ok(ExprValue::Text("1m".to_owned())),
            "{$NAME}" => Ok(ExprValue::Text("abc".to_owned())),
            _ => Err(format!("{token} is unknown")),
        }
    }
    fn now(&self) -> Timestamp {
        // 2024-12-18 (Wednesday) 03:04:05 UTC.
        Timestamp::from_s(1_734_491_045)
    }
    fn tz(&self) -> &TimeZone {
        &self.0
    }
}

fn evaluate(text: &str, mode: Mode) -> Option<String> {
    let expression = Expression::parse(text).ok()?;
    eval(&expression, &mut World(TimeZone::UTC), mode).ok()?.as_text()
}

#[test]
fn operators() {
    for (text, value) in [
        ("1+2*3-4/2", Some("5")),
        ("(1+2)*3", Some("9")),
        ("2-1-1", Some("0")),
        ("8/2/2", Some("2")),
        ("-2*-3", Some("6")),
        ("--1", Some("1")),
        ("not 0 and not not 1", Some("1")),
        ("1 or 0 and 0", Some("1")),
        ("1=1 and 2<>3", Some("1")),
        ("1<2=1", Some("1")),
        ("3>=3 and 3<=3 and not (3>3) and not (3<3)", Some("1")),
        ("\"a\"=\"a\" and \"a\"<>\"b\"", Some("1")),
        ("1=\"a\"", Some("0")),
        ("\"1\"=\"1.0\"", Some("1")),
        // Equal as whole numbers, in an order as floats.
        ("18446744073709551615=18446744073709551614", Some("0")),
        ("18446744073709551615>18446744073709551614", Some("0")),
        // Texts equal numbers that they spell; calculations take blanks, no suffixes.
        ("\"1m\"=60s and \"1K\"=\"1024\"", Some("1")),
        ("\" 1\"=1", Some("0")),
        ("\" 1 \"+1", Some("2")),
        ("not \"1K\"", None),
        ("1e-308/1e10", None),
        ("exp(-740)", None),
        ("1K=1024 and 1m=60 and 1w=7*1d", Some("1")),
        ("{$TWO}+{$MINUTE}", Some("62")),
        ("{$NAME}=\"abc\"", Some("1")),
        ("{5}*2", Some("10")),
        ("1/0", None),
        ("\"a\"+1", None),
        ("\"1K\"+1", None),
        ("1e308*10", None),
        ("{$OTHER}", None),
        ("last_foreach(/*/k)+1", None),
    ] {
        assert_eq!(evaluate(text, Mode::Strict).as_deref(), value, "{text}");
    }
}

#[test]
fn unknown_operands() {
    for (text, value) in [
        ("{100} or 1", Some("1")),
        ("1 or {100}", Some("1")),
        ("{100} and 0", Some("0")),
        ("{100} and 1", None),
        ("{100} or 0", None),
        ("{100}+1>0 or 1", Some("1")),
        ("max({100},1) and 0", Some("0")),
        ("not {100} or 1", Some("1")),
        ("last(/h/k)=1 and 0", Some("0")),
        ("{100} or \"a\"", None),
    ] {
        assert_eq!(evaluate(text, Mode::UnknownOperands).as_deref(), value, "{text}");
        assert_eq!(evaluate(text, Mode::Strict), None, "{text}");
    }
}

#[test]
fn functions() {
    for (text, value) in [
        ("min(3,1,2)", Some("1")),
        ("in(60,\"1m\") and in(\" 1\",1)", Some("1")),
        ("in(18446744073709551615,18446744073709551614)", Some("1")),
        ("abs(\" 5\")", Some("5")),
        ("abs(\" 1K\")", None),
        ("bitand(\" 5.7 \",7)", Some("5")),
        ("bitand(\"1K\",1024)", None),
        ("left(\"abc\",18446744073709551616)", None),
        ("left(\"abc\",\"1K\")", None),
        ("xmlxpath(\"<a>1</a>\",\"string(//x)\",5)", Some("")),
        ("xmlxpath(\"<a>1</a>\",\"//x\",5)", Some("5")),
        // Rates of one bound add up; none counts less than one below.
        ("histogram_quantile(0.5,1,5,1,7,1,6,\"+Inf\",9)", Some("0.5")),
        ("histogram_quantile(0.9,1,20,2,10,3,30,\"+Inf\",25)", Some("2.7")),
        ("histogram_quantile(0.5,1,10,\"+Inf\",20,\"+Inf\",30)", None),
        ("histogram_quantile(0.5,\"1\",10,\"+Inf\",20)", None),
        ("histogram_quantile(0.5,1,10,\"Infinity\",20)", None),
        ("max(3,\"1m\")", Some("60")),
        ("avg(1,2)", Some("1.5")),
        ("sum(1,2,3)", Some("6")),
        ("sum(last_foreach(/*/k))", Some("9")),
        ("sum(none_foreach(/*/k))", None),
        ("max(none_foreach(/*/k))", None),
        ("count(last_foreach(/*/k))", Some("3")),
        ("count(last_foreach(/*/k),\"ge\",2)", Some("2")),
        ("item_count(/*/k)", Some("4")),
        ("count(none_foreach(/*/k))", Some("0")),
        ("round(stddevpop(last_foreach(/*/k)),6)", Some("2.160247")),
        ("round(stddevsamp(last_foreach(/*/k)),6)", Some("2.645751")),
        ("round(varpop(last_foreach(/*/k)),6)", Some("4.666667")),
        ("varsamp(last_foreach(/*/k))", Some("7")),
        ("sumofsquares(last_foreach(/*/k))", Some("41")),
        ("mad(last_foreach(/*/k))", Some("1")),
        ("kurtosis(last_foreach(/*/k))", Some("1.5")),
        ("round(skewness(last_foreach(/*/k)),4)", Some("0.5952")),
        ("skewness(1,2)", None),
        ("histogram_quantile(0.5,1,10,\"+Inf\",20)", Some("1")),
        ("histogram_quantile(0.25,bucket_rate_foreach(/*/k))", Some("0.5")),
        ("bitlshift(1,64)", Some("1")),
        ("bitrshift(255,68)", Some("15")),
        ("bitlength(\"1e3\")", Some("10")),
        ("bytelength(\"0\")", Some("0")),
        ("ascii(\"\")", Some("0")),
        ("mid(\"abc\",2,18446744073709551615)", Some("bc")),
        ("round(1e308,2)", None),
        ("concat(1e15,\"\")", Some("1000000000000000")),
        ("xmlxpath(\"<a>1</a>\",\"/b\")", None),
        ("date()", Some("20241218")),
        ("time()", Some("030405")),
        ("now()", Some("1734491045")),
        ("dayofweek()", Some("3")),
        ("dayofmonth()", Some("18")),
        ("bitand(12,10)", Some("8")),
        ("bitor(12,10)", Some("14")),
        ("bitxor(12,10)", Some("6")),
        ("bitnot(0)", Some("18446744073709551615")),
        ("bitlshift(1,4)", Some("16")),
        ("bitrshift(16,4)", Some("1")),
        ("abs(-2.5)", Some("2.5")),
        ("ceil(1.2)", Some("2")),
        ("floor(-1.2)", Some("-2")),
        ("round(1.25,1)", Some("1.3")),
        ("truncate(1.29,1)", Some("1.2")),
        ("signum(-3)", Some("-1")),
        ("sqrt(9)", Some("3")),
        ("cbrt(27)", Some("3")),
        ("power(2,10)", Some("1024")),
        ("mod(7,4)", Some("3")),
        ("mod(7,0)", None),
        ("exp(0)", Some("1")),
        ("expm1(0)", Some("0")),
        ("log(e())", Some("1")),
        ("log10(1000)", Some("3")),
        ("log(0)", None),
        ("round(pi(),4)", Some("3.1416")),
        ("degrees(pi())", Some("180")),
        ("radians(180)=pi()", Some("1")),
        ("sin(0)+cos(0)+tan(0)", Some("1")),
        ("asin(2)", None),
        ("acos(1)+atan(0)+atan2(0,1)", Some("0")),
        ("cosh(0)+sinh(0)", Some("1")),
        ("cot(0)", None),
        ("rand()>=0", Some("1")),
        ("between(5,\"1\",10)", Some("1")),
        ("in(5,1,\"5\")", Some("1")),
        ("in(\"a\",\"b\")", Some("0")),
        ("in(1)", None),
        ("nothing(1)", None),
    ] {
        assert_eq!(evaluate(text, Mode::Strict).as_deref(), value, "{text}");
    }
}

#[test]
fn text_functions() {
    for (text, value) in [
        ("ascii(\"A\")", Some("65")),
        ("char(65)", Some("A")),
        ("char(128)", None),
        ("bitlength(\"ab\")", Some("16")),
        ("bitlength(5)", Some("3")),
        ("bytelength(\"ö\")", Some("2")),
        ("bytelength(256)", Some("2")),
        ("length(\"öä\")", Some("2")),
        ("concat(\"a\",1,\"b\")", Some("a1b")),
        ("insert(\"abcd\",2,1,\"xy\")", Some("axycd")),
        ("insert(\"abcd\",5,0,\"x\")", None),
        ("left(\"abc\",2)", Some("ab")),
        ("right(\"abc\",2)", Some("bc")),
        ("left(\"abc\",-1)", None),
        ("mid(\"abcd\",2,2)", Some("bc")),
        ("mid(\"abc\",0,1)", None),
        ("repeat(\"ab\",3)", Some("ababab")),
        ("repeat(\"a\",2049)", None),
        ("replace(\"aXbX\",\"X\",\"-\")", Some("a-b-")),
        ("trim(\"  a \")", Some("a")),
        ("ltrim(\"xxa\",\"x\")", Some("a")),
        ("rtrim(\"axx\",\"x\")", Some("a")),
        ("jsonpath(\"{\\\"a\\\":5}\",\"$.a\")", Some("5")),
        ("jsonpath(\"{}\",\"$.a\",\"none\")", Some("none")),
        ("jsonpath(\"{}\",\"$.a\")", None),
        ("xmlxpath(\"<a>5</a>\",\"/a/text()\")", Some("5")),
        ("xmlxpath(\"<a/>\",\"/b\",\"none\")", Some("none")),
    ] {
        assert_eq!(evaluate(text, Mode::Strict).as_deref(), value, "{text}");
    }
}
