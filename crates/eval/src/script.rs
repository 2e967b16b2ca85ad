//! JavaScript for preprocessing, on QuickJS: non-strict, bounded in memory and time.
//!
//! Scripts see `value`, `Zabbix.log`, `Zabbix.sleep`, `btoa`, `atob`, `md5`, `sha256`, `hmac`,
//! `XML.query` and `XML.toJson`. They reach no network: `HttpRequest` refuses. `Zabbix.sleep`
//! does not stop the thread, which others wait for; it only uses up the script's time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use hmac::Mac;
use rquickjs::context::EvalOptions;
use rquickjs::function::Opt;
use rquickjs::{
    Coerced, Context, Ctx, Exception, Function, Object, Persistent, Runtime, TypedArray, Value,
};
use sha2::Digest;
use stdx::clock::SharedClock;

/// Memory of one engine, bytes.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;

/// Time of one call.
pub const TIME_MAX: Duration = Duration::from_secs(10);

/// Stack of one engine, bytes; leaves room on the smallest thread of the product.
pub const STACK_BYTES_MAX: usize = 512 << 10;

/// Compiled scripts that an engine keeps.
pub const CACHE_SCRIPTS_MAX: usize = 1000;

/// Lines that one call may log.
pub const LOG_LINES_MAX: usize = 500;

/// Interrupt checks of one call: the bound where a simulated clock stands still.
const CHECKS_MAX: u64 = 200_000;

/// A line that a script logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Level as the script gave it: 0 to 5.
    pub level: i32,
    /// Text.
    pub text: String,
}

/// An engine made when the first script runs. Owned by one thread.
pub struct Scripts {
    clock: SharedClock,
    engine: Option<Engine>,
}

impl std::fmt::Debug for Scripts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripts").field("started", &self.engine.is_some()).finish()
    }
}

impl Scripts {
    /// No engine yet; `clock` measures the scripts' time.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, engine: None }
    }

    /// The engine.
    pub fn engine(&mut self) -> Result<&mut Engine, String> {
        match &mut self.engine {
            Some(engine) if !engine.spoiled => {}
            slot => *slot = Some(Engine::new(Arc::clone(&self.clock))?),
        }
        self.engine.as_mut().ok_or_else(|| "the script engine did not start".to_owned())
    }
}

/// A JavaScript engine with its compiled scripts.
pub struct Engine {
    // Dropped in this order: functions belong to the context, it to the runtime.
    functions: HashMap<Box<str>, Persistent<Function<'static>>>,
    context: Context,
    runtime: Runtime,
    clock: SharedClock,
    budget: Arc<Budget>,
    log: Rc<RefCell<Vec<LogLine>>>,
    /// It ran out of memory or time: its globals may hold what is left of that.
    spoiled: bool,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("functions", &self.functions.len()).finish()
    }
}

#[derive(Debug, Default)]
struct Budget {
    deadline_ns: AtomicU64,
    checks: AtomicU64,
}

impl Budget {
    fn is_spent(&self, now: Duration) -> bool {
        let checks = self.checks.fetch_add(1, Ordering::Relaxed);
        checks > CHECKS_MAX || ns(now) > self.deadline_ns.load(Ordering::Relaxed)
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Engine {
    /// Starts an engine; `clock` measures the scripts' time.
    pub fn new(clock: SharedClock) -> Result<Self, String> {
        let failed = |e: rquickjs::Error| format!("the script engine did not start: {e}");
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(MEMORY_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let budget = Arc::new(Budget::default());
        let (watched, watch) = (Arc::clone(&budget), Arc::clone(&clock));
        runtime.set_interrupt_handler(Some(Box::new(move || watched.is_spent(watch.monotonic()))));
        let context = Context::full(&runtime).map_err(failed)?;
        let log = Rc::new(RefCell::new(Vec::new()));
        let start = ns(clock.monotonic() + TIME_MAX);
        budget.deadline_ns.store(start, Ordering::Relaxed);
        context.with(|ctx| install(&ctx, &budget, &clock, &log)).map_err(failed)?;
        let functions = HashMap::new();
        Ok(Self { functions, context, runtime, clock, budget, log, spoiled: false })
    }

    /// Lines logged since the last call of this.
    pub fn take_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.log.borrow_mut())
    }

    /// Runs a script's body with `value`; `None` = it returned null.
    pub fn call(&mut self, source: &str, value: &str) -> Result<Option<String>, String> {
        self.budget.checks.store(0, Ordering::Relaxed);
        let deadline = ns(self.clock.monotonic() + TIME_MAX);
        self.budget.deadline_ns.store(deadline, Ordering::Relaxed);
        self.log.borrow_mut().truncate(LOG_LINES_MAX);
        if !self.functions.contains_key(source) {
            let compiled = self.context.with(|ctx| compile(&ctx, source))?;
            if self.functions.len() >= CACHE_SCRIPTS_MAX {
                self.functions.clear();
            }
            self.functions.insert(source.into(), compiled);
        }
        let function = self.functions[source].clone();
        let result = self.context.with(|ctx| {
            let function = function.restore(&ctx).map_err(|e| e.to_string())?;
            match function.call::<_, Value<'_>>((value,)) {
                Ok(result) if result.is_undefined() => Err("undefined return value".to_owned()),
                Ok(result) if result.is_null() => Ok(None),
                Ok(result) => match result.get::<Coerced<String>>() {
                    Ok(text) => Ok(Some(text.0)),
                    Err(_) => Err(exception(&ctx)),
                },
                Err(_) => Err(exception(&ctx)),
            }
        });
        if let Err(error) = &result {
            // Where memory is short the error may have lost its text.
            let used = self.runtime.memory_usage().malloc_size;
            let short = usize::try_from(used).is_ok_and(|used| used > MEMORY_BYTES_MAX / 2);
            self.spoiled |= short || error.contains(OUT_OF_MEMORY);
            if self.budget.is_spent(self.clock.monotonic()) {
                self.spoiled = true;
                return Err("script execution timeout".to_owned());
            }
        }
        result
    }
}

fn compile(ctx: &Ctx<'_>, source: &str) -> Result<Persistent<Function<'static>>, String> {
    let mut options = EvalOptions::default();
    options.strict = false;
    let code = format!("(function(value){{{source}\n}})");
    match ctx.eval_with_options::<Function<'_>, _>(code, options) {
        Ok(function) => Ok(Persistent::save(ctx, function)),
        Err(_) => Err(exception(ctx)),
    }
}

/// What the engine says when its memory is used up.
const OUT_OF_MEMORY: &str = "out of memory";

/// The thrown value as text.
fn exception(ctx: &Ctx<'_>) -> String {
    let thrown = ctx.catch();
    if thrown.is_null() {
        // Not even an exception could be made.
        return OUT_OF_MEMORY.to_owned();
    }
    if let Some(e) = thrown.as_exception() {
        let message = e.message().unwrap_or_default();
        let name = e.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".to_owned());
        return format!("{name}: {message}");
    }
    thrown.get::<Coerced<String>>().map_or_else(|_| "script failed".to_owned(), |t| t.0)
}

/// Bytes of a text or of a `Uint8Array`.
fn bytes_of(value: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return text.to_string().ok().map(String::into_bytes);
    }
    if value.is_null() || value.is_undefined() {
        return None;
    }
    if let Ok(array) = TypedArray::<u8>::from_value(value.clone()) {
        // Read element by element: a borrowed slice could be detached by the script.
        return (0..array.len())
            .map(|i| array.as_object().get::<_, u8>(i.to_string()).ok())
            .collect();
    }
    value.get::<Coerced<String>>().ok().map(|t| t.0.into_bytes())
}

type Param<'js> = Opt<Value<'js>>;

fn param(ctx: &Ctx<'_>, value: &Param<'_>, which: &str) -> Result<Vec<u8>, rquickjs::Error> {
    let bytes = value.0.as_ref().and_then(bytes_of);
    bytes.ok_or_else(|| Exception::throw_message(ctx, &format!("cannot obtain {which} parameter")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn install(
    ctx: &Ctx<'_>,
    budget: &Arc<Budget>,
    clock: &SharedClock,
    log: &Rc<RefCell<Vec<LogLine>>>,
) -> Result<(), rquickjs::Error> {
    let globals = ctx.globals();
    globals.set("md5", Function::new(ctx.clone(), js_md5)?)?;
    globals.set("sha256", Function::new(ctx.clone(), js_sha256)?)?;
    globals.set("hmac", Function::new(ctx.clone(), js_hmac)?)?;
    globals.set("btoa", Function::new(ctx.clone(), js_btoa)?)?;
    globals.set("atob", Function::new(ctx.clone(), js_atob)?)?;
    globals.set("sign", Function::new(ctx.clone(), js_sign)?)?;
    globals.set("HttpRequest", Function::new(ctx.clone(), js_http)?.with_constructor(true))?;
    let xml = Object::new(ctx.clone())?;
    xml.set("query", Function::new(ctx.clone(), js_xml_query)?)?;
    xml.set("toJson", Function::new(ctx.clone(), js_xml_to_json)?)?;
    globals.set("XML", xml)?;
    let zabbix = Object::new(ctx.clone())?;
    let lines = Rc::clone(log);
    let write = move |level: Opt<Coerced<i32>>, text: Opt<Coerced<String>>| {
        let mut lines = lines.borrow_mut();
        if lines.len() < LOG_LINES_MAX {
            let level = level.0.map_or(3, |l| l.0);
            lines.push(LogLine { level, text: text.0.map_or_else(String::new, |t| t.0) });
        }
    };
    let write = Function::new(ctx.clone(), write)?;
    zabbix.set("log", write.clone())?;
    zabbix.set("Log", write)?;
    let (budget, clock) = (Arc::clone(budget), Arc::clone(clock));
    let sleep = move |ctx: Ctx<'_>, ms: Opt<Coerced<f64>>| -> Result<(), rquickjs::Error> {
        let ms = ms.0.map_or(f64::NAN, |ms| ms.0);
        if !(0.0..=1e9).contains(&ms) {
            return Err(Exception::throw_message(&ctx, "cannot convert parameter to a number"));
        }
        let used = ns(Duration::from_secs_f64(ms / 1000.0));
        let deadline = budget.deadline_ns.load(Ordering::Relaxed).saturating_sub(used);
        budget.deadline_ns.store(deadline, Ordering::Relaxed);
        if ns(clock.monotonic()) > deadline {
            return Err(Exception::throw_message(&ctx, "script execution timeout"));
        }
        Ok(())
    };
    zabbix.set("sleep", Function::new(ctx.clone(), sleep)?)?;
    globals.set("Zabbix", zabbix)?;
    Ok(())
}

fn js_md5<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<String, rquickjs::Error> {
    Ok(hex(&md5::Md5::digest(param(&ctx, &data, "first")?)))
}

fn js_sha256<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<String, rquickjs::Error> {
    Ok(hex(&sha2::Sha256::digest(param(&ctx, &data, "first")?)))
}

fn js_hmac<'js>(
    ctx: Ctx<'js>,
    kind: Param<'js>,
    key: Param<'js>,
    data: Param<'js>,
) -> Result<String, rquickjs::Error> {
    let kind = param(&ctx, &kind, "first")?;
    let key = param(&ctx, &key, "second")?;
    let data = param(&ctx, &data, "third")?;
    let long_key = "BUG: HMAC takes keys of any length";
    match &kind[..] {
        b"md5" => {
            let mut mac = hmac::Hmac::<md5::Md5>::new_from_slice(&key).expect(long_key);
            mac.update(&data);
            Ok(hex(&mac.finalize().into_bytes()))
        }
        b"sha256" => {
            let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).expect(long_key);
            mac.update(&data);
            Ok(hex(&mac.finalize().into_bytes()))
        }
        _ => Err(Exception::throw_message(&ctx, "unsupported hash function")),
    }
}

fn js_btoa<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<String, rquickjs::Error> {
    Ok(base64::engine::general_purpose::STANDARD.encode(param(&ctx, &data, "first")?))
}

/// Always a `Uint8Array`, as the field's scripts get it.
fn js_atob<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<Value<'js>, rquickjs::Error> {
    let mut data = param(&ctx, &data, "first")?;
    data.retain(|b| !b.is_ascii_whitespace());
    let decoded = base64::engine::general_purpose::STANDARD
        .decode(data)
        .map_err(|_| Exception::throw_message(&ctx, "the parameter is not base64"))?;
    Ok(TypedArray::<u8>::new(ctx, decoded)?.into_value())
}

fn text_param(ctx: &Ctx<'_>, value: &Param<'_>, which: &str) -> Result<String, rquickjs::Error> {
    Ok(String::from_utf8_lossy(&param(ctx, value, which)?).into_owned())
}

fn js_xml_query<'js>(
    ctx: Ctx<'js>,
    path: Param<'js>,
    document: Param<'js>,
) -> Result<String, rquickjs::Error> {
    let path = text_param(&ctx, &path, "first")?;
    let document = text_param(&ctx, &document, "second")?;
    crate::xpath::query(&document, &path)
        .map_err(|e| Exception::throw_message(&ctx, &e.to_string()))
}

fn js_xml_to_json<'js>(ctx: Ctx<'js>, document: Param<'js>) -> Result<String, rquickjs::Error> {
    let document = text_param(&ctx, &document, "first")?;
    crate::preproc::xml_to_json(&document).map_err(|e| Exception::throw_message(&ctx, &e))
}

fn js_sign<'js>(ctx: Ctx<'js>) -> Result<(), rquickjs::Error> {
    Err(Exception::throw_message(&ctx, "sign() is not built yet"))
}

fn js_http<'js>(ctx: Ctx<'js>) -> Result<(), rquickjs::Error> {
    Err(Exception::throw_message(&ctx, "HttpRequest is not available in preprocessing scripts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock on which every look takes a few milliseconds.
    struct Ticking(AtomicU64);

    impl stdx::clock::Clock for Ticking {
        fn unix(&self) -> Duration {
            Duration::from_millis(self.0.fetch_add(5, Ordering::Relaxed))
        }
        fn monotonic(&self) -> Duration {
            self.unix()
        }
    }

    fn clock() -> SharedClock {
        Arc::new(Ticking(AtomicU64::new(0)))
    }

    fn engine() -> Engine {
        Engine::new(clock()).unwrap()
    }

    #[test]
    fn scripts() {
        let mut engine = engine();
        for (source, result) in [
            ("return value * 2", Ok(Some("84"))),
            ("return value + 1", Ok(Some("421"))),
            ("x = 010; return x", Ok(Some("8"))),
            ("return null", Ok(None)),
            ("return", Err("undefined return value")),
            ("throw 'a'", Err("a")),
            ("throw new TypeError('b')", Err("TypeError: b")),
            ("return md5('a')", Ok(Some("0cc175b9c0f1b6a831c399e269772661"))),
            ("return btoa('ö') + btoa(atob('YQ=='))", Ok(Some("w7Y=YQ=="))),
            ("return XML.query('/a/text()', '<a>5</a>')", Ok(Some("5"))),
            ("return XML.toJson('<a>5</a>')", Ok(Some("{\"a\":\"5\"}"))),
            ("return JSON.stringify({v: value, l: [1]})", Ok(Some("{\"v\":\"42\",\"l\":[1]}"))),
            ("return hmac('md5', 'xxx', 'yyy')", Ok(Some("d8e8efd954dabfdbfd69398d92ad62d1"))),
            ("Zabbix.log(4, 'x'); Zabbix.sleep(1); return ''", Ok(Some(""))),
            ("Zabbix.sleep(20000); return 1", Err("script execution timeout")),
            ("while (true) {}", Err("script execution timeout")),
        ] {
            let got = engine.call(source, "42");
            let expected = result.map(|r| r.map(str::to_owned)).map_err(str::to_owned);
            assert_eq!(got, expected, "{source}");
        }
        assert_eq!(engine.take_log(), [LogLine { level: 4, text: "x".into() }]);
        for source in [
            "return (",
            "var a = []; while (true) a.push('xxxxxxxxxx' + a.length)",
            "function f() { return f() + 1 } return f()",
            "new HttpRequest()",
            "sign()",
        ] {
            assert!(engine.call(source, "").is_err(), "{source}");
        }
    }

    #[test]
    fn a_new_engine_follows_an_exhausted_one() {
        let mut scripts = Scripts::new(clock());
        let hog = "hog = []; while (true) hog.push(new Array(1000).join('x') + hog.length)";
        assert!(scripts.engine().unwrap().call(hog, "").is_err());
        assert_eq!(scripts.engine().unwrap().call("return 1", ""), Ok(Some("1".to_owned())));
    }
}
