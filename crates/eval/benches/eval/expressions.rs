//! Expressions, keys, intervals: parsing and evaluation.

use eval::expr::{Expression, Mode, eval};
use eval::func::{Function, Matcher};
use eval::interval::UpdateInterval;
use eval::key::ItemKey;
use jiff::tz::TimeZone;

use crate::functions::World;
use crate::table::Bench;

/// As triggers are stored: calls are operands by number.
const EXPRESSIONS: &[&str] = &[
    "{1}>5",
    "{1}>{$LIMIT}",
    "{1}>5 and {2}<100",
    "{1}*8/{2}>0.9 or {2}=0",
    "{3}=\"disk sda is 97 % full\"",
    "not ({1}>5 or {2}>5) and ({1}+{2}*2-1)/3<=1K",
    "{404}>1 or {1}>5",
    "(({1}>1)+({1}>2)+({1}>3)+({1}>4)+({1}>5)+({2}>1)+({2}>2)+({2}>3)+({2}>4))>=7",
];
const WRITTEN: &[&str] = &[
    "last(/host/key)>5",
    "min(/Linux server/vfs.fs.size[/var,pused],5m)>{$LIMIT:\"/var\"}",
    "avg(/a/b,1h)>10 and (max(/a/c[x,\"y\"],#3)<5 or nodata(/a/d,10m)=1)",
    "sum(last_foreach(/*/net.if.in[*]?[group=\"Servers\" and tag=\"scope:net\"]))/1G",
];
const KEYS: &[&str] = &["system.cpu.load", "vfs.fs.size[/var,pused]", "k[a,\"b,c\",[d,e],]"];
const INTERVALS: &[&str] = &["1m", "30s;10s/1-5,09:00-18:00", "0;md1-5wd1-5h9-18/2m0"];

/// Measures all of them.
pub(crate) fn run(bench: &mut Bench) {
    let mut world = World(TimeZone::UTC);
    let mut table = bench.table("Evaluation of expressions", "ns/call");
    for text in EXPRESSIONS {
        let expression = Expression::parse(text).unwrap();
        let mut run = || eval(&expression, &mut world, Mode::UnknownOperands);
        assert!(run().is_ok(), "{text}: {:?}", run());
        table.row(text, 1, run);
    }
    table.show();
    let mut table = bench.table("Parsing", "ns/call");
    for text in EXPRESSIONS.iter().chain(WRITTEN) {
        assert!(Expression::parse(text).is_ok(), "{text}");
        table.row(text, 1, || Expression::parse(text));
    }
    for text in KEYS {
        assert!(ItemKey::parse(text).is_ok(), "{text}");
        table.row(text, 1, || ItemKey::parse(text));
    }
    for text in INTERVALS {
        assert!(UpdateInterval::parse(text).is_ok(), "{text}");
        table.row(text, 1, || UpdateInterval::parse(text));
    }
    let params = eval::expr::parse_history_params("1h,\"gt\",\"5\"").unwrap();
    table.row("count(1h,\"gt\",\"5\") compiled", 1, || Function::parse("count", &params));
    table.row("operator and pattern compiled", 1, || Matcher::new("regexp", "^[0-9]", true));
    table.show();
    next_checks(bench);
}

fn next_checks(bench: &Bench) {
    let berlin = TimeZone::get("Europe/Berlin").unwrap_or(TimeZone::UTC);
    let mut table = bench.table("Next check of an item", "ns/call");
    for text in INTERVALS {
        let interval = UpdateInterval::parse(text).unwrap();
        let mut now = 1_734_480_000;
        table.row(text, 1, || {
            now += 61;
            interval.next_check(7, false, now, &berlin)
        });
    }
    table.show();
}
