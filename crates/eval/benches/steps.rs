//! Nanoseconds per value of each step: `cargo bench -p eval`. The table with figures is in
//! README.md beside this file.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::io::Write as _;

use eval::preproc::{self, State, Step};
use eval::script::Scripts;
use model::{Payload, Timestamp, ValueType};
use stdx::clock::RealClock;

const JSON: &str = r#"{"status":"ok","data":{"cpu":{"load":[0.5,0.75,1.25],"cores":8},"disks":[{"name":"sda","used":1234567,"total":9999999},{"name":"sdb","used":7654321,"total":8888888}],"uptime":123456}}"#;
const XML: &str = "<s><cpu n=\"0\"><load>0.5</load></cpu><cpu n=\"1\"><load>0.7</load></cpu></s>";
const METRICS: &str = "# HELP cpu Time\n# TYPE cpu counter\ncpu{mode=\"idle\",n=\"0\"} 1234.5\n\
    cpu{mode=\"user\",n=\"0\"} 99.25\ncpu{mode=\"idle\",n=\"1\"} 1200\nload1 0.5\nload5 0.75\n";
const WALK: &str = ".1.3.6.1.2.1.2.2.1.2.1 = STRING: \"lo\"\n\
    .1.3.6.1.2.1.2.2.1.2.2 = STRING: \"eth0\"\n.1.3.6.1.2.1.2.2.1.10.1 = Counter32: 5\n\
    .1.3.6.1.2.1.2.2.1.10.2 = Counter32: 123456\n";

/// Name, API number, parameters, value.
const STEPS: &[(&str, u8, &str, &str)] = &[
    ("multiplier", 1, "0.001", "123456"),
    ("right trim", 2, " ", "value  "),
    ("left trim", 3, " ", "  value"),
    ("trim", 4, " ", "  value  "),
    ("regex", 5, r"load average: ([0-9.]+)\n\1", ""),
    ("boolean", 6, "", "running"),
    ("octal", 7, "", "1755"),
    ("hexadecimal", 8, "", "00FFA0"),
    ("simple change", 9, "", "123456"),
    ("change per second", 10, "", "123456"),
    ("xpath", 11, "string(/s/cpu[2]/load)", XML),
    ("jsonpath", 12, "$.data.cpu.cores", JSON),
    ("jsonpath filter", 12, "$.data.disks[?(@.name=='sdb')].used.first()", JSON),
    ("in range", 13, "0\n1000000", "123456"),
    ("matches", 14, "^[0-9]+$", "123456"),
    ("does not match", 15, "[a-z]", "123456"),
    ("json error", 16, "$.error", JSON),
    ("xml error", 17, "/s/error", XML),
    ("regex error", 18, "ERR(.*)\n\\1", "all is well"),
    ("discard unchanged", 19, "", "123456"),
    ("heartbeat", 20, "1h", "123456"),
    ("javascript", 21, "return value * 2 + 1", "123456"),
    ("javascript json", 21, "return JSON.parse(value).data.cpu.cores", JSON),
    ("prometheus value", 22, "cpu{mode=\"user\"}\nvalue\n", METRICS),
    ("prometheus json", 23, "cpu{mode=~\"idle\"}", METRICS),
    ("csv", 24, ",\n\"\n1", "a,b,c\n1,2,3\n4,\"5\",6"),
    ("replace", 25, "a\nb", "banana"),
    ("not supported", 26, "-1", "123456"),
    ("xml to json", 27, "", XML),
    ("walk value", 28, "1.3.6.1.2.1.2.2.1.10.2\n0", WALK),
    ("walk to json", 29, "{#N}\n1.3.6.1.2.1.2.2.1.2\n0\n{#I}\n1.3.6.1.2.1.2.2.1.10\n0", WALK),
    ("get value", 30, "2", "00 1A 2B 3C 4D 5E"),
];

fn main() {
    let clock = RealClock::shared();
    let mut scripts = Scripts::new(RealClock::shared());
    let mut out = std::io::stdout().lock();
    for (name, kind, params, value) in STEPS {
        let params = if *kind == 5 { params.replace("\\n", "\n") } else { (*params).to_owned() };
        let value = if value.is_empty() { "up 5 days, load average: 0.52, 0.58" } else { value };
        let steps = [Step::from_api(*kind, &params, 0, "").unwrap()];
        let mut state = State::default();
        let mut second = 0;
        let mut run = |times: u32| {
            for _ in 0..times {
                second += 1;
                let (at, input) = (Timestamp::from_s(second), Payload::Text(value.into()));
                let kind = ValueType::Text;
                let outcome = preproc::run(&steps, &mut state, input, at, kind, &mut scripts);
                std::hint::black_box(outcome);
            }
        };
        run(2_000);
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = clock.monotonic();
            run(20_000);
            best = best.min((clock.monotonic() - start).as_secs_f64() / 20_000.0);
        }
        writeln!(out, "{name:20} {:8.0} ns/value", best * 1e9).unwrap();
    }
}
