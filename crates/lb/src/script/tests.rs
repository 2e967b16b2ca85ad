use std::net::Ipv4Addr;

use proxying::http1::{Limits, Request};

use super::*;

const HEAD: &[u8] =
    b"GET /a/b?x=1&y=a%20b HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nx-a: 2\r\nCookie: s=abc\r\n\r\n";

fn caller() -> Caller {
    Caller {
        address: Ipv4Addr::LOCALHOST.into(),
        port: 443,
        tls: "TLSv1.3",
        sni: Some("a.test".into()),
        certified: None,
        service: "web".into(),
    }
}

fn facts() -> Facts {
    let limits = Limits { target: 1_000, head: 10_000, fields: 100 };
    Facts::of(&Request::parse(HEAD, &limits).expect("a request"), caller())
}

fn scripts() -> Scripts {
    Scripts::new(&stdx::clock::RealClock::shared())
}

fn compiled(request: &str, on_error: &str) -> Arc<Script> {
    let config = serde_json::json!({ "request": request, "on_error": on_error, "timeout": "50ms" });
    let config = serde_json::from_value(config).expect("a script");
    let target = |name: &String| Err(name.clone());
    Arc::new(Script::compile(&config, "rule".to_owned(), &target).expect("a script"))
}

/// What a script makes of the request.
fn run(request: &str) -> (Option<Choice>, Outcome, Box<Scripted>) {
    let mut scripted = None;
    let (choice, outcome) =
        scripts().on_request(&compiled(request, "refuse"), &mut scripted, facts, 0);
    (choice, outcome, scripted.expect("what was made of it"))
}

/// The text that a script responds with.
fn told(expression: &str) -> String {
    let (choice, outcome, _) = run(&format!("request.respond({{body: String({expression})}})"));
    match choice {
        Some(Choice::Respond(local)) => String::from_utf8(local.body).expect("text"),
        other => format!("{other:?}, {outcome:?}"),
    }
}

#[test]
fn a_script_sees_the_request() {
    for (expression, text) in [
        (
            "[request.method, request.scheme, request.host, request.path, request.query]",
            "GET,https,a.test,/a/b,x=1&y=a%20b",
        ),
        (
            "[request.client, request.port, request.service, request.version]",
            "127.0.0.1,443,web,1.1",
        ),
        ("[request.tls, request.sni, request.certificate]", "TLSv1.3,a.test,"),
        ("request.certificate", "null"),
        ("[request.header('X-a'), request.headers('X-A').length, request.header('b')]", "1,2,"),
        ("request.headerNames()", "x-a,cookie"),
        ("[request.cookie('s'), request.cookie('t')]", "abc,"),
        ("[request.parameter('y'), request.parameter('x'), request.parameter('z')]", "a b,1,"),
    ] {
        assert_eq!(told(expression), text, "{expression}");
    }
}

#[test]
fn a_script_changes_the_request() {
    let (choice, outcome, scripted) = run(
        "request.setHeader('X-A', '3'); request.removeHeader('Cookie'); request.addHeader('X-B', request.header('x-a'));
         request.path = '/c'; request.query = 'd=1';",
    );
    assert_eq!((choice, outcome), (None, Outcome::Done));
    let set = [("X-A", "3"), ("X-B", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(scripted.request.set, set);
    assert!(scripted.request.drops(b"cookie") && scripted.request.drops(b"x-a"));
    assert_eq!(scripted.target.as_deref(), Some(&b"/c?d=1"[..]));
}

#[test]
fn the_last_choice_of_a_script_counts() {
    for (request, status) in [
        ("request.refuse()", 403),
        ("request.refuse(429)", 429),
        ("request.redirect('/x')", 302),
        ("request.redirect('/x', 308)", 308),
        ("request.respond({status: 204})", 204),
        ("request.refuse(); request.respond({headers: {'X-C': 1}, body: 'a'})", 200),
    ] {
        match run(request).0 {
            Some(Choice::Respond(local)) => assert_eq!(local.status, status, "{request}"),
            other => panic!("{request}: {other:?}"),
        }
    }
}

#[test]
fn what_a_script_may_not_do_fails_it() {
    for request in [
        "request.forward('missing')",
        "request.path = '//a b'",
        "request.path = '/a?b'",
        "request.path = '/a\\r\\nX: y'",
        "request.query = 'a b'",
        "request.setHeader('X-A', '1\\r\\nX-B: 2')",
        "request.setHeader('Content-Length', '1')",
        "request.addHeader('Transfer-Encoding', 'chunked')",
        "request.removeHeader('Connection')",
        "request.setHeader('X-A', 'a'.repeat(9000))",
        "for (var i = 0; i < 1000; i++) request.addHeader('X-A', '1')",
        "request.respond({status: 99})",
        "request.respond({status: '200; x'})",
        "request.respond({body: 'a'.repeat(20000)})",
        "request.respond({headers: {'Content-Length': 1}})",
        "request.respond({headers: {'X-A': 'a\\nb'}})",
        "request.respond()",
        "request.redirect('/a\\r\\nb')",
        "request.redirect('/a', 200)",
        "request.refuse(200)",
        "request.method = 'POST'",
        "request.header = null",
        "throw new Error('no')",
        "throw null",
        "missing()",
        "(async function () { await 1 })()",
    ] {
        let (choice, outcome, scripted) = run(request);
        assert_eq!((choice, outcome), (None, Outcome::Refuse), "{request}");
        assert_eq!((&scripted.request, &scripted.target), (&Edits::default(), &None), "{request}");
    }
}

#[test]
fn a_script_that_continues_has_changed_nothing() {
    let mut scripted = None;
    let script =
        compiled("request.setHeader('X-A', '1'); request.path = '/c'; missing()", "continue");
    let (choice, outcome) = scripts().on_request(&script, &mut scripted, facts, 0);
    let scripted = scripted.expect("what was made of it");
    assert_eq!((choice, outcome), (None, Outcome::Continue));
    assert_eq!((&scripted.request, &scripted.target), (&Edits::default(), &None));
}

#[test]
fn hostile_scripts_end_and_leave_the_engine_usable() {
    for request in [
        "while (1) {}",
        "for (;;) { try { while (1) {} } catch (e) {} }",
        "'x'.repeat(1e9)",
        "Array(1e9).join()",
        "var s = 'x'; while (1) s += s",
        "var a = []; while (1) a.push([a])",
        "/(a+)+b/.test('a'.repeat(40))",
        "(function f() { f() + 1 })()",
        "var f = () => f() + 1; f()",
        "new Array(5000).fill('x'.repeat(50000)).sort()[0] === new Array(1e7).fill(0)",
        "for (;;) JSON.stringify({a: [1, 2, {b: 'c'.repeat(1000)}]})",
        "for (;;) request.header('x-a')",
        "for (;;) request.respond({body: 'a'.repeat(16000)})",
        "for (;;) request.setHeader('X-A', 'b')",
        "var o = {}; for (var i = 0; ; i++) o['k' + i] = i",
        "var o = null; try { for (;;) o = {o} } catch {} ; for (;;) { try { for (;;); } catch {} }",
        "String.prototype.leak = 1",
        "Object.prototype.leak = 1",
        "try { atob('%') } catch (e) { Object.getPrototypeOf(e).leak = 1 }",
        "leak = 1",
    ] {
        assert_eq!(run(request).1, Outcome::Refuse, "{request}");
        assert_eq!(
            told("[typeof leak, typeof ''.leak, typeof ({}).leak]"),
            "undefined,undefined,undefined",
            "{request}"
        );
    }
}

#[test]
fn garbage_does_not_depend_on_the_number_of_scripts() {
    let scripts = scripts();
    let many: Vec<_> = (0..200)
        .map(|at| {
            compiled(
                &format!(
                    "var a = {{}}; a.a = a; a.b = 'x'.repeat(20000 + {at}); {}",
                    "a.b.x;".repeat(1_000)
                ),
                "refuse",
            )
        })
        .collect();
    for script in many.iter().chain(&many) {
        assert_eq!(scripts.on_request(script, &mut None, facts, 0).1, Outcome::Done);
    }
}

#[test]
fn what_is_logged_is_one_line() {
    assert_eq!(line("a\r\nb\u{1b}[0m"), "a  b [0m");
    assert_eq!(line(&"ä".repeat(1_000)).chars().count(), 300);
}

/// The engine looks at the time once in 10,000 of these, so they end late, and the script is suspended if that was far
/// too late. The output says how late: `cargo test -p lb loops_of_operators -- --nocapture`.
#[test]
fn loops_of_operators_on_large_values_end() {
    let text = "'x'.repeat(60000)";
    for request in [
        format!("var a = {text} + 'a', b = {text} + 'b'; for (;;) a === b"),
        format!("var a = {text}, b; for (;;) b = a + 'b'"),
        format!("var a = {text}; for (;;) `${{a}}b`"),
        "var a = Array(10000).fill(1), b; for (;;) b = [...a]".to_owned(),
        "var a = Array(10000).fill(1); for (;;) Math.max(...a)".to_owned(),
        "var a = {}; for (var i = 0; i < 1000; i++) a['k' + i] = i; for (;;) ({...a})".to_owned(),
        "var a = {}; for (var i = 0; i < 1000; i++) a['k' + i] = i; for (;;) for (var k in a) break".to_owned(),
        format!("var m = new Map(), a = {text}; for (;;) m.get(a + 'b')"),
    ] {
        let script = compiled(&request, "refuse");
        let before = stdx::sys::thread_cpu_time();
        assert_eq!(scripts().on_request(&script, &mut None, facts, 0).1, Outcome::Refuse, "{request}");
        println!("{:?}: {request}", stdx::sys::thread_cpu_time() - before);
        let suspended = script.suspended_until_ms.load(Relaxed) > 0;
        if suspended {
            let now = stdx::sys::thread_cpu_time();
            assert_eq!(scripts().on_request(&script, &mut None, facts, 1).1, Outcome::Refuse);
            println!("  suspended: {:?}", stdx::sys::thread_cpu_time() - now);
        }
    }
}

#[test]
fn garbage_of_many_runs_is_freed() {
    let script = compiled(
        "var a = {}; a.a = a; a.b = 'x'.repeat(20000); request.setHeader('X-A', 'b')",
        "refuse",
    );
    for at in 0..500 {
        let (_, outcome) = scripts().on_request(&script, &mut None, facts, 0);
        assert_eq!(outcome, Outcome::Done, "run {at}");
    }
}

/// The time that a small script takes: `cargo test -p lb time_of_a_script -- --nocapture`.
#[test]
fn the_time_of_a_script_is_small() {
    let (scripts, script) = (
        scripts(),
        compiled("if (request.cookie('beta') === '1') request.setHeader('X-Beta', '1')", "refuse"),
    );
    let one = |runs: u32| {
        let before = stdx::sys::thread_cpu_time();
        for _ in 0..runs {
            assert_eq!(scripts.on_request(&script, &mut None, facts, 0).1, Outcome::Done);
        }
        (stdx::sys::thread_cpu_time() - before) / runs
    };
    let first = one(1);
    println!("the first run takes {first:?}, the next ones {:?} each", one(2_000));
    let facts_only = stdx::sys::thread_cpu_time();
    for _ in 0..2_000 {
        std::hint::black_box(facts());
    }
    println!("of which facts take {:?}", (stdx::sys::thread_cpu_time() - facts_only) / 2_000);
}
