//! `vedette transactions`: searches the records of a load balancer's engine.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value as Json};
use stdx::clock::RealClock;
use transactions::columns::{COLUMNS, TIMINGS, Unit};
use transactions::{Answer, Cell, Column, Filter, Folder, Query, Row, Summary};

pub(crate) const NAME: &str = "transactions";
/// Pause between two looks while following.
const FOLLOW_EVERY: Duration = Duration::from_millis(500);
/// New records that one look prints at most, the newest.
const FOLLOWED: usize = 10_000;
/// Groups that are printed.
const GROUPS: usize = 50;
/// Bars of the histogram, and characters of the longest.
const BARS: usize = 20;
const BAR_WIDTH: usize = 40;

/// The command and its parameters.
pub(crate) fn command() -> Command {
    let columns: String = COLUMNS
        .iter()
        .map(|column| format!("  {:<15}{}{}\n", column.name, column.about, unit(column.unit)))
        .collect();
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new(NAME)
        .about("Search the requests and connections that a load balancer's engine has carried")
        .long_about(
            "Search the requests and connections that a load balancer's engine has carried: how many \
             there were over time, percentiles of each timing, groups, and the newest records.\n\
             It works while the engine runs.",
        )
        .after_help(format!(
            "Columns:\n{columns}\nA filter has conditions with spaces between; all must hold. Operators: = and \
             != (several values with commas between), ^= begins, $= ends, *= contains, !^= !$= !*= \
             their opposites; for numbers < <= > >=.\n\nExample:\n  vedette transactions --folder \
             transactions 'fault=server path^=/api client=10.0.0.0/8 total>100ms' --since 1h --group server"
        ))
        .arg(
            Arg::new("folder")
                .long("folder")
                .value_name("DIR")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Folder of the records: 'transactions.folder' of the engine's configuration"),
        )
        .arg(Arg::new("filter").num_args(0..).value_name("FILTER").help("Conditions; none: all records"))
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("TIME")
                .value_parser(seconds)
                .help("Only what began within this time, such as 90s, 15m, 1h or 7d; default: all"),
        )
        .arg(
            Arg::new("group")
                .long("group")
                .value_name("COLUMN")
                .value_parser(column)
                .help("Count by the values of a column"),
        )
        .arg(
            Arg::new("rows")
                .long("rows")
                .value_name("N")
                .default_value("20")
                .value_parser(value_parser!(u32).range(..=100_000))
                .help("Newest records to print"),
        )
        .arg(flag("json", "Print records as JSON, one per line, oldest first, and nothing else"))
        .arg(flag("follow", "Print new records until interrupted"))
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::None => "",
        Unit::Time => "; Unix time in microseconds",
        Unit::Microseconds => "; us, ms, s",
        Unit::Bytes => "; bytes, K, M, G",
        Unit::Status => "; 5xx is a class",
    }
}

fn column(name: &str) -> Result<&'static Column, String> {
    Column::named(name).ok_or_else(|| {
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        format!("no such column; columns are {}", names.join(", "))
    })
}

fn seconds(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err("write a number with s, m, h or d, such as 15m".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "write a number with s, m, h or d".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "that is too long".to_owned())
}

/// Runs the search.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match search(matches, &mut std::io::BufWriter::new(std::io::stdout().lock())) {
        // The reader, such as `head`, has seen enough.
        Err(error) if error.downcast_ref().is_some_and(is_broken_pipe) => Ok(()),
        other => other,
    }
}

fn is_broken_pipe(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}

fn search(matches: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<()> {
    let path =
        matches.get_one::<PathBuf>("folder").ok_or_else(|| anyhow!("--folder is missing"))?;
    let words = matches.get_many::<String>("filter").unwrap_or_default();
    let text = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    let filter: Filter = text.parse()?;
    let mut folder = Folder::open(path)
        .with_context(|| format!("cannot read the transactions in {}", path.display()))?;
    let now_us = now_us();
    let since = matches.get_one::<u64>("since");
    let json = matches.get_flag("json");
    let rows = matches.get_one::<u32>("rows").copied().unwrap_or(0);
    let query = Query {
        filter,
        from_us: since.map_or(0, |since| now_us.saturating_sub(since.saturating_mul(1_000_000))),
        to_us: u64::MAX,
        rows: usize::try_from(rows)?,
        bars: if json || matches.get_flag("follow") { 0 } else { BARS },
        group: matches.get_one::<&'static Column>("group").copied(),
        threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    };
    let answer = folder.search(&query, &|| false);
    if let Some(summary) = answer.summary.as_ref() {
        overview(out, &answer, summary, &query)?;
    }
    print(out, &answer.rows, json)?;
    if answer.damaged + folder.damaged() > 0 {
        let damaged = answer.damaged + folder.damaged();
        writeln!(std::io::stderr(), "{damaged} damaged blocks were left out")?;
    }
    if matches.get_flag("follow") {
        follow(out, &mut folder, query, json)?;
    }
    Ok(())
}

/// Prints new records until the output is closed.
fn follow(
    out: &mut dyn Write,
    folder: &mut Folder,
    mut query: Query,
    json: bool,
) -> anyhow::Result<()> {
    query.rows = FOLLOWED;
    loop {
        // Those that have begun earlier may end, and be recorded, later.
        folder.skip();
        std::thread::sleep(FOLLOW_EVERY);
        folder.refresh()?;
        print(out, &folder.search(&query, &|| false).rows, json)?;
        out.flush()?;
    }
}

fn now_us() -> u64 {
    u64::try_from(RealClock::shared().unix().as_micros()).unwrap_or(u64::MAX)
}

fn overview(
    out: &mut dyn Write,
    answer: &Answer,
    summary: &Summary,
    query: &Query,
) -> anyhow::Result<()> {
    writeln!(out, "{} of {} transactions", answer.matched, answer.scanned)?;
    if answer.matched == 0 {
        return Ok(());
    }
    writeln!(out, "\n{:<27}{:>10}{:>8}{:>11}", "began", "count", "faults", "mean total")?;
    let most = summary.histogram.bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(1);
    let mut from_us = summary.histogram.from_us;
    for bar in &summary.histogram.bars {
        let length = usize::try_from(bar.count.saturating_mul(BAR_WIDTH as u64).div_ceil(most))?;
        let mean = duration(bar.total_us.checked_div(bar.count).unwrap_or(0));
        let (began, marks) = (time(from_us), "#".repeat(length));
        writeln!(out, "{began:<27}{:>10}{:>8}{mean:>11}  {marks}", bar.count, bar.faults)?;
        from_us = from_us.saturating_add(summary.histogram.width_us);
    }
    writeln!(
        out,
        "\n{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "", "mean", "p50", "p90", "p99", "p99.9", "max"
    )?;
    for (name, timing) in TIMINGS.iter().zip(summary.timings()) {
        write!(out, "{name:<12}{:>10}", format!("{:.0} us", timing.mean))?;
        for value in [timing.p50, timing.p90, timing.p99, timing.p999, timing.max] {
            write!(out, "{:>10}", duration(value))?;
        }
        writeln!(out)?;
    }
    if let Some(column) = query.group {
        let (groups, other) = summary.groups(GROUPS);
        writeln!(
            out,
            "\n{:>10}{:>8}{:>11}{:>10}  {}",
            "count", "faults", "mean total", "max", column.name
        )?;
        let other = (other.count > 0).then(|| ("(others)".to_owned(), &other));
        let groups = groups.into_iter().map(|(value, rows)| (value.to_string(), rows));
        for (value, rows) in groups.chain(other) {
            let mean = duration(rows.total_us.checked_div(rows.count).unwrap_or(0));
            let (count, faults, max) = (rows.count, rows.faults, duration(rows.total_max_us));
            writeln!(out, "{count:>10}{faults:>8}{mean:>11}{max:>10}  {}", clean(&value))?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// Microseconds for people.
fn duration(us: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let us_f = us as f64;
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.1} ms", us_f / 1e3),
        _ => format!("{:.2} s", us_f / 1e6),
    }
}

/// Unix time in microseconds as UTC.
fn time(us: u64) -> String {
    let time = i64::try_from(us).ok().and_then(|us| jiff::Timestamp::from_microsecond(us).ok());
    time.map_or_else(|| us.to_string(), |time| format!("{time:.6}"))
}

/// Texts come from strangers: control characters must not reach the terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn print(out: &mut dyn Write, rows: &[Row], json: bool) -> anyhow::Result<()> {
    for row in rows.iter().rev() {
        if json {
            let members = COLUMNS.iter().zip(&row.0).map(|(column, cell)| {
                let value = match cell {
                    Cell::Number(number) => Json::from(*number),
                    other => Json::from(other.to_string()),
                };
                (column.name.to_owned(), value)
            });
            writeln!(out, "{}", Json::Object(members.collect::<Map<_, _>>()))?;
        } else {
            line(out, row)?;
        }
    }
    Ok(())
}

/// One record on one line: what one looks for first.
fn line(out: &mut dyn Write, row: &Row) -> anyhow::Result<()> {
    let text = |name| row.get(name).map(Cell::to_string).unwrap_or_default();
    let number = |name| match row.get(name) {
        Some(Cell::Number(number)) => *number,
        _ => 0,
    };
    let query = text("query");
    let mark = if query.is_empty() { "" } else { "?" };
    let what = match text("method") {
        method if method.is_empty() => text("protocol"),
        method => format!("{method} {}{}{mark}{query}", text("host"), text("path")),
    };
    let timings: Vec<String> =
        TIMINGS[..4].iter().map(|name| format!("{name} {}", duration(number(name)))).collect();
    let user = match text("user") {
        user if user.is_empty() => user,
        user => format!(" {}", clean(&user)),
    };
    let place = format!("{}/{}/{}", text("service"), text("pool"), text("server"));
    writeln!(
        out,
        "{} {}{user} {} {} {} {} ({}) {}",
        time(number("began")),
        text("client"),
        number("status"),
        duration(number("total")),
        clean(&what),
        clean(&place),
        timings.join(", "),
        text("end"),
    )?;
    Ok(())
}
