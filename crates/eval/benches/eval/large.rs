//! Large inputs: nanoseconds per input byte, which stay what they are for small inputs unless
//! something is quadratic.

use std::fmt::Write as _;

use eval::preproc::{self, Outcome, State, Step};
use eval::script::Scripts;
use model::{Payload, Timestamp, ValueType};

use crate::table::Bench;

/// A document grows until it has so many bytes.
fn grown(bytes: usize, begin: &str, end: &str, mut row: impl FnMut(usize, &mut String)) -> String {
    let mut text = begin.to_owned();
    let mut n = 0;
    while text.len() < bytes {
        row(n, &mut text);
        n += 1;
    }
    text + end
}

fn json(bytes: usize) -> String {
    grown(bytes, "{\"rows\":[{}", "]}", |n, out| {
        let row = format!(",{{\"id\":{n},\"name\":\"row {n}\",\"v\":[{n},0.5],\"up\":true}}");
        out.push_str(&row);
    })
}

fn metrics(bytes: usize) -> String {
    grown(bytes, "# HELP m Metric\n# TYPE m counter\n", "", |n, out| {
        let row = writeln!(out, "m{{host=\"h{n}\",mode=\"idle\",n=\"{}\"}} {n}.5", n % 64);
        row.unwrap();
    })
}

fn xml(bytes: usize) -> String {
    grown(bytes, "<rows>", "</rows>", |n, out| {
        write!(out, "<row id=\"{n}\"><name>row {n}</name><v>{n}</v></row>").unwrap();
    })
}

fn csv(bytes: usize) -> String {
    grown(bytes, "id,name,value\n", "", |n, out| {
        writeln!(out, "{n},\"row {n}\",{n}.5").unwrap();
    })
}

fn walk(bytes: usize) -> String {
    grown(bytes, "", "", |n, out| {
        let (column, row) = (n % 4 + 1, n / 4 + 1);
        writeln!(out, ".1.3.6.1.2.1.2.2.1.{column}.{row} = STRING: \"eth{n}\"").unwrap();
    })
}

fn text(bytes: usize) -> String {
    grown(bytes, "", "", |n, out| writeln!(out, "line {n} of a log, all is well").unwrap())
}

type Document = fn(usize) -> String;

/// Name, API number, parameters, document.
const STEPS: &[(&str, u8, &str, Document)] = &[
    ("JSONPath, the last row", 12, "$.rows[-1].id", json),
    ("JSONPath, all names", 12, "$.rows[*].name", json),
    ("JSONPath, filter", 12, "$.rows[?(@.id > 10)].v[1].sum()", json),
    ("JSONPath, deep scan", 12, "$..id.max()", json),
    ("JSONPath, filter, the same document again", 12, "$.rows[?(@.id > 10)].v[1].sum()", json),
    ("JSONPath, one value, the same document again", 12, "$.rows[-1].id", json),
    ("check for error in JSON", 16, "$.error", json),
    ("JavaScript with JSON.parse", 21, "return JSON.parse(value).rows.length", json),
    ("Prometheus pattern", 22, "m{host=\"h77\"}\nvalue\n", metrics),
    ("Prometheus pattern, sum", 22, "m{n=\"7\"}\nfunction\nsum", metrics),
    ("Prometheus to JSON", 23, "m", metrics),
    ("XPath", 11, "string(/rows/row[last()]/name)", xml),
    ("XPath, count", 11, "count(//row[v>10])", xml),
    ("XPath, attribute", 11, "string(//row[@id=77]/name)", xml),
    ("XML to JSON", 27, "", xml),
    ("CSV to JSON", 24, ",\n\"\n1", csv),
    ("SNMP walk value", 28, ".1.3.6.1.2.1.2.2.1.1.7\n0", walk),
    ("SNMP walk to JSON", 29, "{#A}\n.1.3.6.1.2.1.2.2.1.1\n0\n{#B}\n.1.3.6.1.2.1.2.2.1.2\n0", walk),
    ("regular expression", 5, "line (77) of\n\\1", text),
    ("regular expression, no match", 15, "ERROR", text),
    ("replace", 25, "well\nfine", text),
    ("trim", 4, "\\n", text),
    ("discard unchanged", 19, "", text),
];

/// Measures each with 10 KB, 100 KB and 1 MB.
pub(crate) fn run(bench: &mut Bench) {
    let mut scripts = Scripts::new(bench.clock());
    for (bytes, title) in
        [(10_000, "Inputs of 10 KB"), (100_000, "Inputs of 100 KB"), (1_000_000, "Inputs of 1 MB")]
    {
        let mut table = bench.table(title, "ns/byte");
        for (name, kind, params, document) in STEPS {
            // Documents that come again are not parsed again, so they come in turn.
            let variants = if matches!(kind, 12 | 16) && !name.ends_with("again") { 3 } else { 1 };
            let values: Vec<String> =
                (0..variants).map(|n| document(bytes) + &" ".repeat(n)).collect();
            let steps = [Step::from_api(*kind, params, 0, "").unwrap()];
            let mut turn = 0;
            let mut call = || {
                turn += 1;
                let (mut state, at) = (State::default(), Timestamp::from_s(1));
                let input = Payload::Text(values[turn % variants].as_str().into());
                preproc::run(&steps, &mut state, input, at, ValueType::Text, &mut scripts)
            };
            if let Outcome::NotSupported(error) = call() {
                assert!(error.len() < 200, "{name}: an error as long as its input");
                panic!("{name}: {error}");
            }
            table.row(name, values[0].len() as u32, call);
        }
        table.show();
    }
}
