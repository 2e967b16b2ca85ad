//! Macros: scanning, resolving, each macro function, rows of low-level discovery, value texts.

use eval::lld::{self, MacroPath, Row};
use eval::macros::{
    FunctionEnv, MacroDef, MacroNodes, MacroScope, TokenKind, UserMacro, apply, substitute,
    substitute_user,
};
use eval::units::format_value;
use jiff::tz::TimeZone;
use model::{HostId, ValueType};

use crate::table::Bench;

const CALLS: &[(&str, &str, &str)] = &[
    ("regsub", "\"^([a-z]+) ([a-z]+)\",\"\\2 of \\1\"", "disk sda is full"),
    ("iregsub", "\"^([A-Z]+)\",\"\\1\"", "disk sda is full"),
    ("regrepl", "\"[0-9]+\",\"N\"", "disk 12 of 34 is full"),
    ("fmtnum", "2", "12.3456"),
    ("fmttime", "\"%Y-%m-%d\",\"-1d/d\"", "1734480000"),
    ("tr", "\"a-z\",\"A-Z\"", "disk sda is full"),
    ("btoa", "", "disk sda is full"),
    ("lowercase", "", "Disk SDA is full"),
    ("uppercase", "", "Disk sda is full"),
    ("urlencode", "", "disk sda & more"),
    ("urldecode", "", "disk%20sda%20%26%20more"),
    ("htmlencode", "", "<b>disk & sda</b>"),
    ("htmldecode", "", "&lt;b&gt;disk &amp; sda&lt;/b&gt;"),
];
const TEXT: &str = "Disk {#FSNAME} of {HOST.NAME} is {ITEM.LASTVALUE1} full, more than {$LIMIT} \
    ({{ITEM.VALUE}.fmtnum(1)}, {?last(/a/b)})";

/// A host with two templates, 20 macros each, and 50 global ones.
struct Nodes {
    links: [Vec<HostId>; 3],
    macros: [Vec<MacroDef>; 3],
    global: Vec<MacroDef>,
}

impl Nodes {
    fn new() -> Self {
        let named = |node: usize| {
            let name = |n: usize| format!("{{$NODE{node}.MACRO{n}}}");
            let mut macros: Vec<_> =
                (0..20).map(|n| MacroDef::text(&name(n), "90").unwrap()).collect();
            macros.push(MacroDef::text("{$FS:regex:\"^/var\"}", "95").unwrap());
            macros
        };
        let global = (0..50).map(|n| MacroDef::text(&format!("{{$GLOBAL{n}}}"), "5").unwrap());
        Self {
            links: [vec![HostId(2), HostId(3)], Vec::new(), Vec::new()],
            macros: [named(0), named(1), named(2)],
            global: global.collect(),
        }
    }
}

impl MacroNodes for Nodes {
    fn macros(&self, node: HostId) -> &[MacroDef] {
        &self.macros[node.0 as usize - 1]
    }

    fn templates(&self, node: HostId) -> &[HostId] {
        &self.links[node.0 as usize - 1]
    }

    fn global(&self) -> &[MacroDef] {
        &self.global
    }
}

/// Measures all of them.
pub(crate) fn run(bench: &mut Bench) {
    let env = FunctionEnv { tz: &TimeZone::UTC };
    let mut table = bench.table("Macro functions", "ns/call");
    for (function, params, value) in CALLS {
        assert_eq!(apply(function, params, value, &env).err(), None, "{function}");
        let name = format!("{function}({params})");
        table.row(&name, 1, || apply(function, params, value, &env));
    }
    table.show();
    let nodes = Nodes::new();
    let scope = MacroScope { nodes: &nodes, hosts: &[HostId(1)] };
    let mut table = bench.table("Macros in texts", "ns/call");
    for text in ["{$NODE0.MACRO3}", "{$NODE2.MACRO19}", "{$GLOBAL49}", "{$FS:\"/var/log\"}"] {
        let wanted = UserMacro::parse(text).unwrap();
        assert!(scope.resolve(&wanted).is_some(), "{text}");
        table.row(&format!("{text} resolved"), 1, || scope.resolve(&wanted));
    }
    table.row("a text without macros", 1, || substitute_user("disk is full", &scope, &env));
    table.row("a text with a user macro", 1, || {
        substitute_user("more than {$NODE1.MACRO7} %", &scope, &env)
    });
    table.row("a text with six macros of all kinds", 1, || {
        substitute(TEXT, &env, &mut |token| match token.kind {
            TokenKind::Lld(_) => None,
            _ => Some("97.5".to_owned()),
        })
    });
    table.show();
    discovery(bench, &env);
    values(bench);
}

fn discovery(bench: &Bench, env: &FunctionEnv<'_>) {
    const ROWS: u32 = 100;
    let one = |n: u32| format!("{{\"{{#FSNAME}}\":\"/mnt/{n}\",\"type\":{{\"name\":\"ext4\"}}}}");
    let rows: Vec<String> = (0..ROWS).map(one).collect();
    let text = format!("[{}]", rows.join(","));
    let paths = [MacroPath::parse("{#FSTYPE}", "$.type.name").unwrap()];
    let mut table = bench.table("Low-level discovery", "ns/row");
    table.row("rows read", ROWS, || lld::parse_rows(&text, &paths));
    let row = Row::new(vec![("{#FSNAME}".to_owned(), "/var".to_owned())]);
    table.row("a name of a prototype", 1, || {
        lld::substitute_text("Free space on {#FSNAME}", &row, env)
    });
    table.row("a key of a prototype", 1, || {
        lld::substitute_key("vfs.fs.size[{#FSNAME},pused]", &row, env)
    });
    table.row("an expression of a prototype", 1, || {
        let text = "min(/h/vfs.fs.size[{#FSNAME},pused],5m)>{$FS.LIMIT:\"{#FSNAME}\"}";
        lld::substitute_expression(text, &row, env)
    });
    table.show();
}

fn values(bench: &Bench) {
    let mut table = bench.table("Values for people", "ns/value");
    for (value, units) in [
        ("12.34", ""),
        ("123456789", "B"),
        ("0.00012", "s"),
        ("86461", "uptime"),
        ("1734480000", "unixtime"),
    ] {
        let name = if units.is_empty() { "without units" } else { units };
        table.row(name, 1, || format_value(value, ValueType::Float, units, &[], &TimeZone::UTC));
    }
    table.show();
}
