//! Each of the 30 step types.

use eval::preproc::{self, Outcome, State, Step};
use eval::script::Scripts;
use model::{Payload, Timestamp, ValueType};

use crate::table::Bench;

const JSON: &str = r#"{"status":"ok","data":{"cpu":{"load":[0.5,0.75,1.25],"cores":8},"disks":[{"name":"sda","used":1234567,"total":9999999},{"name":"sdb","used":7654321,"total":8888888}],"uptime":123456}}"#;
const XML: &str = "<s><cpu n=\"0\"><load>0.5</load></cpu><cpu n=\"1\"><load>0.7</load></cpu></s>";
const METRICS: &str = "# HELP cpu Time\n# TYPE cpu counter\ncpu{mode=\"idle\",n=\"0\"} 1234.5\n\
    cpu{mode=\"user\",n=\"0\"} 99.25\ncpu{mode=\"idle\",n=\"1\"} 1200\nload1 0.5\nload5 0.75\n";
const WALK: &str = ".1.3.6.1.2.1.2.2.1.2.1 = STRING: \"lo\"\n\
    .1.3.6.1.2.1.2.2.1.2.2 = STRING: \"eth0\"\n.1.3.6.1.2.1.2.2.1.10.1 = Counter32: 5\n\
    .1.3.6.1.2.1.2.2.1.10.2 = Counter32: 123456\n";
const UPTIME: &str = " 10:01:33 up 5 days, 3:07, 2 users, load average: 0.52, 0.58, 0.59";
const NUMBER: &str = "123456";

/// Name, API number, parameters, value.
const STEPS: &[(&str, u8, &str, &str)] = &[
    ("multiplier", 1, "0.001", NUMBER),
    ("right trim", 2, " ", "value  "),
    ("left trim", 3, " ", "  value"),
    ("trim", 4, " ", "  value  "),
    ("regular expression", 5, "load average: ([0-9.]+)\n\\1", UPTIME),
    ("boolean to decimal", 6, "", "running"),
    ("octal to decimal", 7, "", "1755"),
    ("hexadecimal to decimal", 8, "", "00FFA0"),
    ("simple change", 9, "", NUMBER),
    ("change per second", 10, "", NUMBER),
    ("XPath", 11, "string(/s/cpu[2]/load)", XML),
    ("JSONPath", 12, "$.data.cpu.cores", JSON),
    ("JSONPath with filter", 12, "$.data.disks[?(@.name=='sdb')].used.first()", JSON),
    ("JSONPath deep scan", 12, "$..used.sum()", JSON),
    ("in range", 13, "0\n1000000", NUMBER),
    ("matches", 14, "^[0-9]+$", NUMBER),
    ("does not match", 15, "[a-z]", NUMBER),
    ("check for error in JSON", 16, "$.error", JSON),
    ("check for error in XML", 17, "/s/error", XML),
    ("check for error by regular expression", 18, "ERR(.*)\n\\1", "all is well"),
    ("discard unchanged", 19, "", NUMBER),
    ("discard unchanged with heartbeat", 20, "1h", NUMBER),
    ("JavaScript", 21, "return value * 2 + 1", NUMBER),
    ("JavaScript with JSON.parse", 21, "return JSON.parse(value).data.cpu.cores", JSON),
    ("JavaScript, loop of 1,000", 21, "var s=0;for(var i=0;i<1000;i++)s+=i;return s", NUMBER),
    ("Prometheus pattern", 22, "cpu{mode=\"user\"}\nvalue\n", METRICS),
    ("Prometheus pattern, sum", 22, "cpu{mode=\"idle\"}\nfunction\nsum", METRICS),
    ("Prometheus to JSON", 23, "cpu{mode=~\"idle\"}", METRICS),
    ("CSV to JSON", 24, ",\n\"\n1", "a,b,c\n1,2,3\n4,\"5\",6"),
    ("replace", 25, "a\nb", "banana"),
    ("check for not supported", 26, "-1", NUMBER),
    ("XML to JSON", 27, "", XML),
    ("SNMP walk value", 28, ".1.3.6.1.2.1.2.2.1.10.2\n0", WALK),
    (
        "SNMP walk to JSON",
        29,
        "{#N}\n.1.3.6.1.2.1.2.2.1.2\n0\n{#I}\n.1.3.6.1.2.1.2.2.1.10\n0",
        WALK,
    ),
    ("SNMP get value", 30, "2", "00 1A 2B 3C 4D 5E"),
];

/// Measures all of them.
pub(crate) fn run(bench: &mut Bench) {
    let covered = |kind| STEPS.iter().any(|step| step.1 == kind);
    assert!((1..=30).all(covered), "a step type is not measured");
    let mut scripts = Scripts::new(bench.clock());
    let mut table = bench.table("Preprocessing steps", "ns/value");
    for (name, kind, params, value) in STEPS {
        let steps = [Step::from_api(*kind, params, 0, "").unwrap()];
        let mut state = State::default();
        let mut second = 0;
        let mut call = || {
            second += 1;
            let (at, input) = (Timestamp::from_s(second), Payload::Text((*value).into()));
            preproc::run(&steps, &mut state, input, at, ValueType::Text, &mut scripts)
        };
        let failed = matches!(call(), Outcome::NotSupported(_));
        assert!(!failed, "{name}: the step fails, so its price says nothing");
        table.row(name, 1, call);
    }
    table.show();
}
