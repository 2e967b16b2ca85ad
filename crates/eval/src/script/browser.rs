//! `Browser`: scripts of browser items lead a browser through a WebDriver. What scripts see of it
//! is JavaScript; commands go through [`Outside`]. Sessions that a script leaves open are ended
//! when it has.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rquickjs::{Array, Ctx, Exception, Function, Object, Value};
use stdx::clock::SharedClock;

use super::Budget;
use super::outside::{HttpAuth, HttpCall, Outside};

/// Browsers that one call of a script may open.
const BROWSERS_MAX: u64 = 4;
/// How long the end of a session may take.
const CLOSE_MAX: Duration = Duration::from_secs(5);

const CLASS: &str = include_str!("browser.js");

/// Paths of the sessions that the present call has opened.
#[derive(Debug, Default)]
pub(super) struct Sessions(RefCell<Vec<String>>);

impl Sessions {
    /// Ends them. A WebDriver that does not hear it has other troubles.
    pub(super) fn close(&self, outside: &dyn Outside) {
        let Some(driver) = outside.webdriver() else { return };
        for path in self.0.take() {
            let _ = outside.http(&call(driver, "DELETE", &path, None, CLOSE_MAX));
        }
    }
}

fn call(driver: &str, method: &str, path: &str, body: Option<String>, limit: Duration) -> HttpCall {
    let kind = "application/json; charset=utf-8";
    HttpCall {
        method: method.to_owned(),
        url: format!("{}{path}", driver.trim_end_matches('/')),
        headers: vec![("Content-Type".to_owned(), kind.to_owned())],
        body: body.map(String::into_bytes),
        proxy: None,
        auth: HttpAuth::None,
        timeout: limit,
    }
}

/// Puts `Browser` and `BrowserError` into the context, if there is a WebDriver.
pub(super) fn install(
    ctx: &Ctx<'_>,
    budget: &Arc<Budget>,
    clock: &SharedClock,
    outside: Option<&Arc<dyn Outside>>,
    sessions: &Rc<Sessions>,
) -> Result<(), rquickjs::Error> {
    let Some(outside) = outside.filter(|outside| outside.webdriver().is_some()) else {
        return Ok(());
    };
    let (left, time, world) = (Arc::clone(budget), Arc::clone(clock), Arc::clone(outside));
    let send = tied(move |ctx, method, path, body| {
        let deadline = Duration::from_nanos(left.deadline_ns.load(Ordering::Relaxed));
        let limit = deadline.saturating_sub(time.monotonic());
        let failed = |why: &str| Exception::throw_message(&ctx, why);
        if limit.is_zero() {
            return Err(failed("the script's time is used up"));
        }
        let driver = world.webdriver().ok_or_else(|| failed("there is no WebDriver"))?;
        let call = call(driver, &method, &path, body, limit);
        let answer = world.http(&call).map_err(|why| failed(&why))?;
        let found = Object::new(ctx.clone())?;
        found.set("status", answer.status)?;
        found.set("body", String::from_utf8_lossy(&answer.body).into_owned())?;
        Ok(found)
    });
    let made = Arc::clone(budget);
    let claim = move |ctx: Ctx<'_>| -> Result<(), rquickjs::Error> {
        if made.browsers.fetch_add(1, Ordering::Relaxed) < BROWSERS_MAX {
            return Ok(());
        }
        Err(Exception::throw_message(&ctx, "maximum count of Browser objects was reached"))
    };
    let open = Rc::clone(sessions);
    let opened = move |path: String| open.0.borrow_mut().push(path);
    let time = Arc::clone(clock);
    let now = move || time.monotonic().as_secs_f64();
    let class: Function<'_> = ctx.eval(CLASS)?;
    let function = (
        Function::new(ctx.clone(), send)?,
        Function::new(ctx.clone(), claim)?,
        Function::new(ctx.clone(), opened)?,
        Function::new(ctx.clone(), now)?,
    );
    let classes: Array<'_> = class.call(function)?;
    let globals = ctx.globals();
    globals.set("Browser", classes.get::<Value<'_>>(0)?)?;
    globals.set("BrowserError", classes.get::<Value<'_>>(1)?)
}

/// Ties the lifetimes of a closure's arguments and result together.
fn tied<F>(f: F) -> F
where
    F: for<'js> Fn(
        Ctx<'js>,
        String,
        String,
        Option<String>,
    ) -> Result<Object<'js>, rquickjs::Error>,
{
    f
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use stdx::clock::RealClock;

    use super::super::{HttpAnswer, Scripts};
    use super::*;

    /// A WebDriver that answers from a table, and what it was asked.
    #[derive(Default)]
    struct Driver(Mutex<Vec<String>>);

    const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
    const ENTRIES: &str = r#"[{"entryType":"navigation","name":"u","startTime":0,"duration":90,
        "domainLookupStart":1,"domainLookupEnd":3,"connectStart":3,"connectEnd":9,
        "secureConnectionStart":5,"requestStart":10,"responseStart":20,"responseEnd":50,
        "fetchStart":1,"loadEventStart":80,"loadEventEnd":90,"encodedBodySize":7,
        "decodedBodySize":9,"transferSize":11,"nextHopProtocol":"h2","criticalCHRestart":4},
        {"entryType":"paint","name":"p"},
        {"entryType":"resource","fetchStart":10,"responseEnd":30,"encodedBodySize":5,
        "nextHopProtocol":"http/1.1"},
        {"entryType":"mark","name":"m","startTime":500,"duration":0}]"#;

    impl Driver {
        fn answer(&self, call: &HttpCall) -> (u16, String) {
            let path = call.url.strip_prefix("http://driver").unwrap().to_owned();
            let body = String::from_utf8(call.body.clone().unwrap_or_default()).unwrap();
            self.0.lock().unwrap().push(format!("{} {path} {body}", call.method));
            let failed = |status, error: &str| {
                (status, format!(r#"{{"value":{{"error":"{error}","message":"{error}: why"}}}}"#))
            };
            match path.trim_start_matches("/session/s%201") {
                "/session" if body.is_empty() => failed(400, "invalid argument"),
                "/session" => (200, r#"{"value":{"sessionId":"s 1"}}"#.to_owned()),
                "/element" if body.contains("none") => failed(404, "no such element"),
                "/element" => (200, format!(r#"{{"value":{{"{ELEMENT}":"e/1"}}}}"#)),
                "/elements" => (200, format!(r#"{{"value":[{{"{ELEMENT}":"a"}}]}}"#)),
                "/element/e%2F1/text" => (200, r#"{"value":"said"}"#.to_owned()),
                "/alert/text" => failed(404, "no such alert"),
                "/execute/sync" => (200, format!(r#"{{"value":{ENTRIES}}}"#)),
                "/url" if body.contains("bad") => failed(500, "unknown error"),
                "/source" => (200, "no JSON".to_owned()),
                _ => (200, r#"{"value":null}"#.to_owned()),
            }
        }
    }

    impl Outside for Driver {
        fn http(&self, call: &HttpCall) -> Result<HttpAnswer, String> {
            let (status, body) = self.answer(call);
            Ok(HttpAnswer { status, headers: Vec::new(), body: body.into_bytes() })
        }
        fn sleep(&self, _: Duration) {}
        fn webdriver(&self) -> Option<&str> {
            Some("http://driver/")
        }
    }

    fn run(script: &str) -> (Result<Option<String>, String>, Vec<String>) {
        let driver = Arc::new(Driver::default());
        let outside: Arc<dyn Outside> = Arc::<Driver>::clone(&driver);
        let mut scripts = Scripts::with_outside(RealClock::shared(), outside);
        let script = format!("var b = new Browser(Browser.chromeOptions());\n{script}");
        let result = scripts.call(&script, "{}");
        let asked = driver.0.lock().unwrap().clone();
        (result, asked)
    }

    #[test]
    fn commands() {
        for (script, expected, asked) in [
            ("b.navigate('u'); return 1", Ok("1"), "POST /session/s%201/url {\"url\":\"u\"}"),
            (
                "return b.findElement('css selector', 'x').getText()",
                Ok("said"),
                "GET /session/s%201/element/e%2F1/text ",
            ),
            ("return b.findElement('css selector', 'none') === null", Ok("true"), ""),
            ("return b.findElements('tag name', 'x').length", Ok("1"), ""),
            (
                "b.findElements('tag name', 'x')[0].sendKeys(5); return 1",
                Ok("1"),
                "POST /session/s%201/element/a/value {\"text\":\"5\"}",
            ),
            ("return b.getAlert()", Ok("null"), ""),
            ("b.setElementWaitTimeout('7'); return 1", Ok("1"), "{\"implicit\":7}"),
            ("b.switchFrame(2); return 1", Ok("1"), "/frame {\"id\":2}"),
            ("b.navigate('bad')", Err("Error: cannot open url: unknown error: why"), ""),
            ("b.getPageSource()", Err("Error: cannot get page source: "), ""),
            ("new Browser()", Err("cannot open webdriver session: invalid argument: why"), ""),
            ("Browser()", Err("Browser must be called with new"), ""),
            ("b.navigate.call({})", Err("cannot find native data"), ""),
        ] {
            let (result, all) = run(script);
            match (&result, expected) {
                (Ok(text), Ok(expected)) => {
                    assert_eq!(text.as_deref().unwrap_or("null"), expected, "{script}");
                }
                (Err(why), Err(part)) => assert!(why.contains(part), "{script}: {why}"),
                _ => panic!("{script}: {result:?}"),
            }
            assert!(all.iter().any(|one| one.contains(asked)), "{script}: {all:?}");
            // Whatever becomes of a script, its session ends.
            assert_eq!(all.last().map(String::as_str), Some("DELETE /session/s%201 "), "{script}");
        }
    }

    #[test]
    fn results() {
        let (result, _) = run("b.collectPerfEntries('a'); b.collectPerfEntries(); b.setError('e');
             var r = b.getResult(), d = r.performance_data;
             return JSON.stringify([typeof r.duration, r.error, d.details[0].mark,
                 d.details[1].mark, d.details[0].navigation.critical_ch_restart,
                 d.details[0].navigation.load_event_end, d.details[0].user,
                 d.summary.navigation, d.summary.resource.count])");
        let expected = concat!(
            r#"["number",{"http_status":0,"code":"","message":"e"},"a",null,4,0.09,"#,
            r#"[{"entry_type":"mark","name":"m","start_time":0.5,"duration":0}],"#,
            r#"{"dns_lookup_time":0.004,"tcp_handshake_time":0.012,"tls_negotiation_time":0.01,"#,
            r#""redirect_time":0,"request_time":0.02,"response_time":0.06,"#,
            r#""resource_fetch_time":0.098,"dom_content_loading_time":0,"#,
            r#""load_event_handler_time":0.02,"unload_event_handler_time":0,"#,
            r#""load_finished":0.18,"encoded_size":14,"total_size":18,"transferred_size":22,"#,
            r#""redirect_count":0,"count":2,"min_protocol":"h2"},2]"#
        );
        assert_eq!(result, Ok(Some(expected.to_owned())));
    }

    #[test]
    fn four_browsers_are_enough() {
        let (result, asked) = run("for (;;) new Browser({})");
        assert!(result.unwrap_err().contains("maximum count of Browser objects"));
        assert_eq!(asked.iter().filter(|one| one.starts_with("DELETE")).count(), 4);
    }
}
