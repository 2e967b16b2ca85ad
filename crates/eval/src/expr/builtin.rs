//! Functions over expressions: aggregates, mathematics, bits, dates. Those over texts are in
//! [`super::strings`].

use jiff::tz::TimeZone;
use model::Timestamp;

use super::eval::ExprValue;
use crate::calendar::{local, weekday};
use crate::num::same_f64;
use crate::stats;

/// What functions know of the world.
pub(super) struct Moment<'a> {
    pub(super) now: Timestamp,
    pub(super) tz: &'a TimeZone,
    pub(super) random: u32,
}

/// Result of a function, or what is wrong with its arguments.
pub(super) type Called = Result<ExprValue, String>;

/// Message for a wrong number of arguments.
pub(super) fn wrong_count<T>() -> Result<T, String> {
    Err("invalid number of arguments for function".to_owned())
}

/// Message for an argument out of the function's domain.
pub(super) fn wrong_argument<T>() -> Result<T, String> {
    Err("invalid argument for function".to_owned())
}

/// Calls a function.
pub(super) fn call(function: &str, args: &[ExprValue], moment: &Moment<'_>) -> Called {
    super::strings::call(function, args)
        .or_else(|| aggregate(function, args))
        .or_else(|| date(function, args, moment))
        .or_else(|| bits(function, args))
        .or_else(|| constants(function, args, moment))
        .or_else(|| math(function, args))
        .or_else(|| math2(function, args))
        .unwrap_or_else(|| Err(format!("unknown function \"{function}\"")))
}

/// An argument as a number.
pub(super) fn number(value: &ExprValue) -> Result<f64, String> {
    let suffixed = |value: &ExprValue| match value {
        ExprValue::Text(text) => crate::num::parse_suffixed(text),
        _ => None,
    };
    value
        .as_f64()
        .or_else(|| suffixed(value))
        .ok_or_else(|| "function argument is not a numeric value".to_owned())
}

/// All arguments as numbers; vectors are taken apart.
fn numbers(args: &[ExprValue]) -> Result<Vec<f64>, String> {
    let mut out = Vec::new();
    for arg in args {
        match arg {
            ExprValue::Vector(inner) => {
                for value in inner {
                    out.push(number(value)?);
                }
            }
            value => out.push(number(value)?),
        }
    }
    Ok(out)
}

fn or_infinite(value: Option<f64>) -> Called {
    Ok(ExprValue::Float(value.unwrap_or(f64::NAN)))
}

fn aggregate(function: &str, args: &[ExprValue]) -> Option<Called> {
    let over_all = |f: fn(&[f64]) -> Option<f64>| {
        if args.is_empty() {
            return wrong_count();
        }
        let values = numbers(args)?;
        if values.is_empty() {
            return Err("no input data for function".to_owned());
        }
        or_infinite(f(&values))
    };
    if let Some(f) = stats::by_name(function) {
        return Some(match args {
            [ExprValue::Vector(_)] => over_all(f),
            [_] => wrong_argument(),
            _ => wrong_count(),
        });
    }
    Some(match function {
        "min" => over_all(stats::min),
        "max" => over_all(stats::max),
        "avg" => over_all(stats::avg),
        "sum" => over_all(stats::sum),
        "count" => count(args),
        "histogram_quantile" => histogram_quantile(args),
        _ => return None,
    })
}

/// `count(vector[,operator,pattern])`
fn count(args: &[ExprValue]) -> Called {
    let Some((ExprValue::Vector(values), rest)) = args.split_first() else {
        return if args.is_empty() { wrong_count() } else { wrong_argument() };
    };
    if rest.len() > 2 {
        return wrong_count();
    }
    let text = |i: usize| rest.get(i).and_then(ExprValue::as_text).unwrap_or_default();
    let matcher = crate::func::Matcher::new(&text(0), &text(1), rest.len() == 2)
        .map_err(|e| e.to_string())?;
    let globals = crate::regex::GlobalRegexes::default();
    matcher.check_globals(&globals).map_err(|e| e.to_string())?;
    let mut found = 0;
    // Beside a text, numbers are texts too.
    let texts = values.iter().any(|value| matches!(value, ExprValue::Text(_)));
    for value in values {
        let as_text = texts.then(|| ExprValue::Text(crate::func::searched(value)));
        let value = as_text.as_ref().unwrap_or(value);
        found += u64::from(matcher.matches(value, &globals).map_err(|e| e.to_string())?);
    }
    Ok(ExprValue::Unsigned(found))
}

/// An infinite bound, in the field's spelling.
fn infinity(value: &ExprValue) -> Option<f64> {
    let ExprValue::Text(text) = value else { return None };
    matches!(text.to_ascii_lowercase().as_str(), "inf" | "+inf").then_some(f64::INFINITY)
}

/// Pairs of bound and rate. Written out they are numbers, and infinity a text; what
/// `bucket_rate_foreach` gives are bounds from keys, which are texts.
fn buckets(values: &[ExprValue]) -> Result<Vec<(f64, f64)>, String> {
    let mut flat = Vec::new();
    for value in values {
        match value {
            ExprValue::Vector(inner) => {
                for value in inner {
                    flat.push(infinity(value).map_or_else(|| number(value), Ok)?);
                }
            }
            ExprValue::Text(_) => {
                flat.push(infinity(value).ok_or("invalid string values of bucket for function")?)
            }
            value => flat.push(number(value)?),
        }
    }
    if flat.len() < 4 || flat.len() % 2 == 1 {
        return Err("invalid number of rate buckets for function".to_owned());
    }
    Ok(flat.chunks(2).map(|pair| (pair[0], pair[1])).collect())
}

fn histogram_quantile(args: &[ExprValue]) -> Called {
    let Some((quantile, rest)) = args.split_first() else { return wrong_count() };
    let quantile = number(quantile)?;
    if !(0.0..=1.0).contains(&quantile) {
        return Err("invalid value of quantile for function".to_owned());
    }
    quantile_of(quantile, &mut buckets(rest)?)
}

/// `bucket_percentile`: the bound below which so many per cent of what `bucket_rate_foreach`
/// gave lie. The error says what is wrong with the percentage or the buckets.
pub fn bucket_percentile(rates: &ExprValue, percent: &str) -> Result<ExprValue, String> {
    let percent = number(&ExprValue::Text(percent.to_owned()))?;
    if !(0.0..=100.0).contains(&percent) {
        return Err("invalid value of percentage for function".to_owned());
    }
    quantile_of(percent / 100.0, &mut buckets(std::slice::from_ref(rates))?)
}

fn quantile_of(quantile: f64, buckets: &mut [(f64, f64)]) -> Called {
    match stats::histogram_quantile(quantile, buckets) {
        Some(value) if value.is_finite() => Ok(ExprValue::Float(value)),
        Some(_) => Err("cannot calculate value for function".to_owned()),
        None => Err("invalid values of rate buckets for function".to_owned()),
    }
}

fn date(function: &str, args: &[ExprValue], moment: &Moment<'_>) -> Option<Called> {
    let wall = || local(i64::from(moment.now.clock), moment.tz);
    let value = match function {
        "now" => ExprValue::Unsigned(u64::from(moment.now.clock)),
        "date" => ExprValue::Text(wall().strftime("%Y%m%d").to_string()),
        "time" => ExprValue::Text(wall().strftime("%H%M%S").to_string()),
        "dayofmonth" => ExprValue::Unsigned(wall().day().unsigned_abs().into()),
        "dayofweek" => ExprValue::Unsigned(weekday(&wall()).into()),
        _ => return None,
    };
    Some(if args.is_empty() { Ok(value) } else { wrong_count() })
}

fn bits(function: &str, args: &[ExprValue]) -> Option<Called> {
    if !function.starts_with("bit") {
        return None;
    }
    let whole = |v: &ExprValue| {
        v.as_u64().ok_or_else(|| "function argument is not an unsigned integer".to_owned())
    };
    let two = |f: fn(u64, u64) -> u64| match args {
        [a, b] => Ok(ExprValue::Unsigned(f(whole(a)?, whole(b)?))),
        _ => wrong_count(),
    };
    // Shifts turn at 64, as the processor does them.
    let shift = |f: fn(u64, u64) -> u64| match args {
        [a, b] => Ok(ExprValue::Unsigned(f(whole(a)?, whole(b)? % 64))),
        _ => wrong_count(),
    };
    Some(match function {
        "bitand" => two(|a, b| a & b),
        "bitor" => two(|a, b| a | b),
        "bitxor" => two(|a, b| a ^ b),
        "bitlshift" => shift(|a, places| a << places),
        "bitrshift" => shift(|a, places| a >> places),
        "bitnot" => match args {
            [a] => whole(a).map(|a| ExprValue::Unsigned(!a)),
            _ => wrong_count(),
        },
        _ => return None,
    })
}

fn constants(function: &str, args: &[ExprValue], moment: &Moment<'_>) -> Option<Called> {
    let value = match function {
        "e" => ExprValue::Float(std::f64::consts::E),
        "pi" => ExprValue::Float(std::f64::consts::PI),
        "rand" => ExprValue::Unsigned(u64::from(moment.random >> 1)),
        _ => return None,
    };
    Some(if args.is_empty() { Ok(value) } else { wrong_count() })
}

/// Functions of one number.
fn math(function: &str, args: &[ExprValue]) -> Option<Called> {
    type Domain = fn(f64) -> bool;
    let any: Domain = |_| true;
    let unit: Domain = |v| (-1.0..=1.0).contains(&v);
    let (f, domain): (fn(f64) -> f64, Domain) = match function {
        "abs" => (f64::abs, any),
        "acos" => (f64::acos, unit),
        "asin" => (f64::asin, unit),
        "atan" => (f64::atan, any),
        "cbrt" => (f64::cbrt, any),
        "ceil" => (f64::ceil, any),
        "cos" => (f64::cos, any),
        "cosh" => (f64::cosh, any),
        "cot" => (|v| v.cos() / v.sin(), |v| v != 0.0),
        "degrees" => (f64::to_degrees, any),
        "exp" => (f64::exp, any),
        "expm1" => (f64::exp_m1, any),
        "floor" => (f64::floor, any),
        "log" => (f64::ln, |v| v > 0.0),
        "log10" => (f64::log10, |v| v > 0.0),
        "radians" => (f64::to_radians, any),
        "signum" => (|v| if v == 0.0 { 0.0 } else { v.signum() }, any),
        "sin" => (f64::sin, any),
        "sinh" => (f64::sinh, any),
        "sqrt" => (f64::sqrt, |v| v >= 0.0),
        "tan" => (f64::tan, any),
        _ => return None,
    };
    let [arg] = args else { return Some(wrong_count()) };
    Some(match number(arg) {
        Ok(v) if domain(v) => Ok(ExprValue::Float(f(v))),
        Ok(_) => wrong_argument(),
        Err(e) => Err(e),
    })
}

/// Functions of two numbers and more.
fn math2(function: &str, args: &[ExprValue]) -> Option<Called> {
    let two = |f: &dyn Fn(f64, f64) -> Called| match args {
        [a, b] => f(number(a)?, number(b)?),
        _ => wrong_count(),
    };
    Some(match function {
        "atan2" => two(&|a, b| {
            if a == 0.0 && b == 0.0 {
                return Err("undefined result for arguments (0,0) for function 'atan2'".to_owned());
            }
            Ok(ExprValue::Float(a.atan2(b)))
        }),
        "mod" => two(&|a, b| {
            if same_f64(b, 0.0) {
                return Err("invalid second argument for function".to_owned());
            }
            Ok(ExprValue::Float(a % b))
        }),
        "power" => two(&|a, b| Ok(ExprValue::Float(a.powf(b)))),
        "round" => two(&|a, digits| to_digits(a, digits, f64::round)),
        "truncate" => two(&|a, digits| to_digits(a, digits, f64::trunc)),
        "between" => match args {
            [value, low, high] => between(value, low, high),
            _ => wrong_count(),
        },
        "in" => match args.split_first() {
            Some((value, list)) if !list.is_empty() => {
                let found = list.iter().any(|v| match (number(value), number(v)) {
                    (Ok(a), Ok(b)) => same_f64(a, b),
                    _ => value.as_text().is_some() && value.as_text() == v.as_text(),
                });
                Ok(ExprValue::truth(found))
            }
            _ => wrong_count(),
        },
        _ => return None,
    })
}

fn between(value: &ExprValue, low: &ExprValue, high: &ExprValue) -> Called {
    let (value, low, high) = (number(value)?, number(low)?, number(high)?);
    Ok(ExprValue::truth(low <= value && value <= high))
}

/// Rounds at a decimal digit.
fn to_digits(value: f64, digits: f64, round: fn(f64) -> f64) -> Called {
    if digits < 0.0 || digits.fract() != 0.0 {
        return Err("invalid second argument for function".to_owned());
    }
    let scale = 10f64.powf(digits);
    // Overflows are found by the check of results.
    Ok(ExprValue::Float(round(value * scale) / scale))
}
