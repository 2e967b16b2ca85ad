use stdx::clock::RealClock;
use stdx::kerberos::Tickets;

use super::*;
use crate::checks::http::testing::server;
use crate::settings::WebFiles;
use collect::resolver::Resolver;

fn text(text: &str) -> String {
    text.to_owned()
}

/// How a scenario ended, its values by key, and what the server saw.
type Ran = (Result<(), Failed>, Vec<(String, Payload)>, Vec<String>);

/// Runs a scenario against a server with these answers.
fn run(change: impl FnOnce(&mut Scenario), answers: &'static [&'static str]) -> Ran {
    let (port, requests) = server(answers);
    let step = |name: &str, path: &str| WebStep {
        name: text(name),
        url: format!("http://127.0.0.1:{port}{path}"),
        timeout_s: 20,
        status_codes: text("200"),
        ..WebStep::default()
    };
    let mut scenario = Scenario {
        name: text("s"),
        agent: text("Zabbix"),
        attempts: 1,
        steps: vec![step("one", "/one"), step("two", "/two/{token}")],
        ..Scenario::default()
    };
    change(&mut scenario);
    let clock = RealClock::shared();
    let resolver = Resolver::new(clock.clone());
    let tickets = Tickets::new(clock.clone());
    let client = Client::new(clock, resolver, tickets, None, WebFiles::default());
    let mut run = Run {
        scenario: &scenario,
        client: &client,
        variables: Variables::default(),
        jar: Jar::default(),
        results: Vec::new(),
        speeds: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let failed = runtime.block_on(run.all());
    let results = run.results;
    drop(client);
    (failed, results, requests.iter().map(|(_, request)| request).collect())
}

const LOGIN: &str =
    "HTTP/1.1 200 OK\r\nSet-Cookie: id=7; Path=/\r\nContent-Length: 11\r\n\r\ntoken=a b&c";
const DONE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nWelcome";

#[test]
fn what_a_step_finds_the_next_one_says() {
    let (failed, results, seen) = run(
        |scenario| {
            scenario.variables = vec![(text("{who}"), text("me"))];
            scenario.headers = vec![(text("X-Who"), text("{who}"))];
            scenario.steps[0].form = vec![(text("user"), text("{who} & co"))];
            scenario.steps[0].variables = vec![(text("{token}"), text("regex:token=(\\w)"))];
            scenario.steps[1].required = text("^Wel");
            scenario.steps[1].query_fields = vec![(text("q"), text("{who}"))];
            scenario.steps[1].headers = vec![(text("X-Own"), text("1"))];
        },
        &[LOGIN, DONE],
    );
    assert_eq!(failed, Ok(()));
    assert!(seen[0].starts_with("POST /one ") && seen[0].ends_with("\r\n\r\nuser=me%20%26%20co"));
    assert!(seen[0].contains("User-Agent: Zabbix\r\n") && seen[0].contains("X-Who: me\r\n"));
    assert!(seen[1].starts_with("GET /two/a?q=me "), "{}", seen[1]);
    assert!(seen[1].contains("Cookie: id=7\r\n") && seen[1].contains("X-Own: 1\r\n"));
    assert!(!seen[1].contains("X-Who"));
    let found: Vec<&str> = results.iter().map(|(key, _)| key.as_str()).collect();
    let expected = [
        "web.test.in[s,one,bps]",
        "web.test.time[s,one,resp]",
        "web.test.rspcode[s,one]",
        "web.test.in[s,two,bps]",
        "web.test.time[s,two,resp]",
        "web.test.rspcode[s,two]",
    ];
    assert_eq!(found, expected);
    assert_eq!(results[2].1, Payload::Unsigned(200));
}

#[test]
fn a_scenario_ends_where_a_step_fails() {
    const REFUSED: &str = "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno";
    type Change = fn(&mut Scenario);
    let cases: [(Change, &'static [&'static str], usize, &str, usize); 5] = [
        (
            |_| {},
            &[REFUSED],
            1,
            "response code \"500\" did not match any of the required status codes \"200\"",
            3,
        ),
        (
            |s| s.steps[1].required = text("Bye"),
            &[LOGIN, DONE],
            2,
            "required pattern \"Bye\" was not found on ",
            6,
        ),
        (
            |s| s.steps[0].variables = vec![(text("{token}"), text("regex:none(.)"))],
            &[LOGIN],
            1,
            "error in step variables \"{token}=regex:none(.)\": cannot extract the value of \"{token}\" from response",
            3,
        ),
        (
            |s| s.variables = vec![(text("x"), text("y"))],
            &[],
            1,
            "error in scenario variables \"x=y\": \"x\" not enclosed",
            0,
        ),
        (|_| {}, &["|"], 1, "Empty reply from server", 0),
    ];
    for (change, answers, number, why, results) in cases {
        let (failed, found, _) = run(change, answers);
        let (step, text) = failed.unwrap_err();
        assert_eq!((step, found.len()), (number, results), "{text}");
        assert!(text.starts_with(why), "{text}");
    }
}

#[test]
fn a_step_is_tried_as_often_as_the_scenario_says() {
    let (failed, _, seen) = run(
        |scenario| {
            scenario.attempts = 2;
            scenario.steps.truncate(1);
        },
        &["|", DONE],
    );
    assert_eq!((failed, seen.len()), (Ok(()), 2));
}
