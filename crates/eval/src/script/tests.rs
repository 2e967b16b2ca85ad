//! Scripts and what they see.

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
        ("if (true) { const a = 1 } return a", Ok(Some("1"))),
        ("const b = 'x const c = 1'; return b", Ok(Some("x const c = 1"))),
        ("var constant = 2; return constant", Ok(Some("2"))),
        ("return null", Ok(None)),
        ("return", Err("undefined return value")),
        ("throw 'a'", Err("a")),
        ("throw new TypeError('b')", Err("TypeError: b")),
        ("return md5('a')", Ok(Some("0cc175b9c0f1b6a831c399e269772661"))),
        ("return btoa('ö') + btoa(atob('YQ=='))", Ok(Some("w7Y=YQ=="))),
        ("return XML.query('<a>5</a>', '/a/text()')", Ok(Some("5"))),
        ("return XML.query('<a>5</a>', '/b')", Ok(Some(""))),
        (
            "return XML.fromJson('{\"a\":{\"@x\":\"1\",\"b\":[1,null,{}]}}')",
            Ok(Some("<?xml version=\"1.0\"?>\n<a x=\"1\"><b>1</b><b/><b/></a>\n")),
        ),
        ("return XML.fromJson('[1]')", Ok(Some("<?xml version=\"1.0\"?>\n"))),
        (
            "return XML.fromJson('{\"a\":{\"#text\":\"<\",\"b\":1}}')",
            Ok(Some("<?xml version=\"1.0\"?>\n<a>&lt;</a>\n")),
        ),
        ("return String(atob('YQ')) + atob('!').length", Ok(Some("[object Uint8Array]0"))),
        ("return typeof console.log + typeof Zabbix.Log", Ok(Some("functionfunction"))),
        ("return new HttpRequest().getStatus()", Ok(Some("0"))),
        ("return JSON.stringify(new HttpRequest().getHeaders(true))", Ok(Some("{}"))),
        ("return Object.keys(new HttpRequest()).length", Ok(Some("0"))),
        (
            "return [HTTPAUTH_NONE, HTTPAUTH_BASIC, HTTPAUTH_DIGEST, HTTPAUTH_NEGOTIATE, \
          HTTPAUTH_NTLM].join()",
            Ok(Some("0,1,2,4,8")),
        ),
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
    let log: Vec<_> = engine.take_log().into_iter().map(|line| (line.level, line.text)).collect();
    assert_eq!(log, [(4, "x".to_owned())]);
    for source in [
        "return (",
        "var a = []; while (true) a.push('xxxxxxxxxx' + a.length)",
        "function f() { return f() + 1 } return f()",
        "HttpRequest()",
        "new HttpRequest().get('http://127.0.0.1/')",
        "new HttpRequest().get.call({})",
        "for (var i = 0; i < 11; i++) new HttpRequest()",
        "return XML.fromJson('5')",
        "sign()",
        "sign('md5', 'k', 'd')",
        "sign('sha256', 'no key', 'd')",
        "sign('sha256', 'k')",
    ] {
        assert!(engine.call(source, "").is_err(), "{source}");
    }
}

/// Answers with what it was asked.
struct Echo;

impl Outside for Echo {
    fn http(&self, call: &HttpCall) -> Result<HttpAnswer, String> {
        if call.url.contains("down") {
            return Err("could not connect".to_owned());
        }
        let headers: Vec<String> = call.headers.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let body = call.body.as_ref().map(|b| String::from_utf8_lossy(b).into_owned());
        let text = format!(
            "{} {} [{}] {body:?} {:?} {:?}",
            call.method,
            call.url,
            headers.join(";"),
            call.proxy,
            call.auth
        );
        let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
        let headers = vec![pair("X-A", "1"), pair("X-A", "2"), pair("b", "3")];
        Ok(HttpAnswer { status: 201, headers, body: text.into_bytes() })
    }
    fn sleep(&self, _: Duration) {}
}

#[test]
fn requests() {
    let mut scripts = Scripts::with_outside(clock(), Arc::new(Echo));
    for (source, wanted) in [
        ("return r.get('u')", "GET u [] None None None"),
        ("return r.get('u', null)", "GET u [] None None None"),
        (
            "return r.post('u', '{}')",
            "POST u [Content-Type=application/json] Some(\"{}\") None None",
        ),
        ("return r.put('u', 'x')", "PUT u [Content-Type=text/plain] Some(\"x\") None None"),
        ("return r.patch('u', 5)", "PATCH u [Content-Type=text/plain] Some(\"5\") None None"),
        ("return r.delete('u')", "DELETE u [] None None None"),
        ("return r.head('u')", "HEAD u [] None None None"),
        ("return r.trace('u')", "TRACE u [] None None None"),
        ("return r.options('u')", "OPTIONS u [] None None None"),
        ("return r.connect('u')", "CONNECT u [] None None None"),
        ("return r.customRequest('PURGE', 'u')", "PURGE u [] None None None"),
        (
            "r.addHeader('A: b'); r.addHeader('no header'); return r.post('u', '{}')",
            "POST u [A=b;Content-Type=application/x-www-form-urlencoded] Some(\"{}\") None None",
        ),
        (
            "r.addHeader('content-type:  t/x '); return r.post('u', 'd')",
            "POST u [content-type=t/x] Some(\"d\") None None",
        ),
        ("r.addHeader('A: b'); r.clearHeader(); return r.get('u')", "GET u [] None None None"),
        ("r.setProxy('p:1'); return r.get('u')", "GET u [] None Some(\"p:1\") None"),
        (
            "r.setHttpAuth(HTTPAUTH_BASIC, 'n', 'p'); return r.get('u')",
            "GET u [] None None Basic(\"n\", \"p\")",
        ),
        (
            "r.setHttpAuth(HTTPAUTH_NTLM, 'n', 'p'); return r.get('u')",
            "GET u [] None None Ntlm(\"n\", \"p\")",
        ),
        (
            "r.setHttpAuth(HTTPAUTH_DIGEST, 'n', 'p'); return r.get('u')",
            "GET u [] None None Digest(\"n\", \"p\")",
        ),
        ("r.setHttpAuth(HTTPAUTH_NEGOTIATE); return r.get('u')", "GET u [] None None Negotiate"),
        ("r.get('u'); return r.getStatus()", "201"),
        ("r.get('u'); return JSON.stringify(r.getHeaders())", "{\"X-A\":\"2\",\"b\":\"3\"}"),
        (
            "r.get('u'); return JSON.stringify(r.getHeaders(true))",
            "{\"X-A\":[\"1\",\"2\"],\"b\":[\"3\"]}",
        ),
        (
            "try { r.get('down') } catch (e) { return e.message }",
            "cannot get URL: could not connect",
        ),
    ] {
        let source = format!("var r = new HttpRequest(); {source}");
        assert_eq!(scripts.call(&source, ""), Ok(Some(wanted.to_owned())), "{source}");
    }
    assert!(scripts.call("new HttpRequest().customRequest()", "").is_err());
}

#[test]
fn signatures_do_not_depend_on_line_ends() {
    let key = openssl::rsa::Rsa::generate(1024).unwrap();
    let old = String::from_utf8(key.private_key_to_pem().unwrap()).unwrap();
    let key = openssl::pkey::PKey::from_rsa(key).unwrap();
    let new = String::from_utf8(key.private_key_to_pem_pkcs8().unwrap()).unwrap();
    let mut engine = engine();
    let mut sign = |key: &str| engine.call("return sign('sha256', value, 'data')", key);
    let signature = sign(&old).unwrap().unwrap();
    assert_eq!(signature.len(), 256);
    for key in [new.clone(), new.replace('\n', ""), new.replace('\n', " "), old] {
        assert_eq!(sign(&key), Ok(Some(signature.clone())));
    }
}

#[test]
fn a_shorter_time_is_recognized() {
    let mut scripts = Scripts::with_time_max(clock(), Duration::from_millis(50));
    assert!(scripts.call("while (true) {}", "").is_err());
    assert!(scripts.ran_out());
    assert!(!scripts.ran_out());
    // A busy machine may take longer than that for a short script, too.
    let passes = (0..1_000).any(|_| {
        let result = scripts.call("return 1", "");
        assert_eq!(result.is_err(), scripts.ran_out(), "{result:?}");
        result == Ok(Some("1".to_owned()))
    });
    assert!(passes);
}

#[test]
fn a_new_engine_follows_an_exhausted_one() {
    let mut scripts = Scripts::new(clock());
    let hog = "hog = []; while (true) hog.push(new Array(1000).join('x') + hog.length)";
    assert!(scripts.engine().unwrap().call(hog, "").is_err());
    assert_eq!(scripts.engine().unwrap().call("return 1", ""), Ok(Some("1".to_owned())));
}

#[test]
fn no_method_of_the_engine_loops_for_longer_than_a_script_may() {
    let mut engine = Engine::new(stdx::clock::RealClock::shared()).unwrap();
    for source in [
        "return Array(1e9).join('x').length",
        "return String(Array(1e9)).length",
        "return '' + Array(1e9)",
        "return Array(1e9).indexOf(1)",
        "return Array.prototype.join.call({length: 1e9}, 'x')",
        "return [].concat(Array(1e9), 1).length",
        "var a = []; a.length = 4e9; a.forEach(function () {}); return 1",
        "return new Uint8Array(5e7).sort().length",
        "var a = [1]; Object.defineProperty(a, 'x', {}); a[2e9] = 1; return a.reverse().length",
        "var n = 0; var o = {get length() { return n++ ? 1e9 : 1 }};\
         return Array.prototype.lastIndexOf.call(o, 1)",
    ] {
        // Of this thread: others may keep the machine busy.
        let start = stdx::sys::thread_cpu_time();
        let result = engine.call(source, "");
        let took = stdx::sys::thread_cpu_time() - start;
        assert!(result.is_err(), "{source}: {result:?}");
        assert!(took < Duration::from_secs(5), "{source}: {took:?}");
    }
    for (source, expected) in [
        ("return [3, 1, 2].sort().join('-')", "1-2-3"),
        ("return String([1, [2, 3]])", "1,2,3"),
        ("return Array(4).join('x')", "xxx"),
        ("return [1].concat([2], 3).map(function (n) { return n * 2 })", "2,4,6"),
        ("return Array.prototype.slice.call({length: 2, 0: 'a', 1: 'b'}).join('')", "ab"),
        ("return (function () { return [].slice.call(arguments, 1) })(1, 2, 3)", "2,3"),
        ("return [].join.name + [].join.length + Object.keys([7])", "join10"),
        ("return Array.from('abc').reverse().join('')", "cba"),
        ("return Array.prototype.map.call('ab', function (c) { return c + c }).join()", "aa,bb"),
        (
            "return JSON.stringify({b: [1, undefined, null], a: {toJSON: function () { return 2 }}})",
            "{\"b\":[1,null,null],\"a\":2}",
        ),
        ("return JSON.stringify({b: [{c: 1}], a: 2}, ['a', 'b'])", "{\"a\":2,\"b\":[{}]}"),
        (
            "return JSON.stringify({a: [1, 2]}, function (k, v) { return this[k] > 1 ? 'x' : v }, 1)",
            "{\n \"a\": [\n  1,\n  \"x\"\n ]\n}",
        ),
        ("return String(JSON.stringify(undefined)) + JSON.stringify.name", "undefinedstringify"),
        ("return [1, [2, [3, [4]]]].flat().length + '' + [1, [2, [3]]].flat(Infinity)", "31,2,3"),
        ("return 'a.b.c'.split('.') + 'aXbX'.replaceAll('X', '[$`]')", "a,b,ca[a]b[aXb]"),
        (
            "return [RegExp('a').test('a'), new RegExp('B', 'i') instanceof RegExp, \
             /x/ instanceof RegExp, /x/.constructor === RegExp, RegExp.name, 'xay'.search('a')].join()",
            "true,true,true,true,RegExp,1",
        ),
        ("return 'e\\u0301'.normalize('NFC').length + String.raw`\\n`", "1\\n"),
        ("var a = new Uint8Array(3); a.set([1, 2], 1); return a.join()", "0,1,2"),
    ] {
        assert_eq!(engine.call(source, "").unwrap().as_deref(), Some(expected), "{source}");
    }
}

/// Each of these kept its thread for over ten seconds, some for days.
#[test]
fn what_the_engine_does_between_two_looks_at_the_time_is_short() {
    let clock = stdx::clock::RealClock::shared();
    for source in [
        "return JSON.stringify(new Array(999999999))",
        "var a = []; a.length = 4294967295; return JSON.stringify({}, a)",
        "var a = [1]; for (var i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a)",
        "var a = {x: {}}; a.toJSON = function () { return a.x };\
         for (var i = 0; i < 40; i++) a.x = {l: a.x, r: a.x}; return JSON.stringify(a)",
        "var a = [1]; for (var i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity).length",
        "var b = new Array(1e6), a = []; for (var i = 0; i < 1e4; i++) a.push(b); return a.join('')",
        "var b = new Array(1e6), a = []; for (var i = 0; i < 1e4; i++) a.push(b); return a.flat()",
        "var b = new Array(1e6); return [].concat.apply([], new Array(1e4).fill(b)).length",
        "var a = new Array(9e5); for (var i = 0; i < 9000; i++) a.splice(0, 1); return 1",
        "return String.raw({raw: {length: 9007199254740991}})",
        "var a = new Uint8Array(6e7); a.set({length: 5e7}); return 1",
        "return Uint8Array.from({length: 6e7}).length",
        "return new Uint8Array({length: 5e7}).length",
        "return new Float64Array({length: 7e6}).length",
        "return new (new Uint8Array(1).constructor)({length: 5e7}).length",
        "return BigInt('9'.repeat(200000)) > 0",
        "return BigInt({toString: function () { return '9'.repeat(200000) }}) > 0",
        "return (10n ** 200000n).toString().length",
        "return 'a'.repeat(1.5e7).indexOf('a'.repeat(1e6) + 'b')",
        "return 'a'.repeat(1e7).includes('a'.repeat(5e6) + 'b')",
        "return 'ab'.repeat(1e6).replaceAll('a', '$`').length",
        "return '\\u0301\\u0327'.repeat(1e6).normalize('NFD').length",
        "return new RegExp('[' + 'a-zA-Z'.repeat(2e5) + ']', 'iu').test('x')",
        "return 'x'.match('[' + 'a-zA-Z'.repeat(2e5) + ']')",
        "return /(a+)+$/.test('a'.repeat(60) + '!')",
        "var a = []; for (var i = 0; i < 900; i++) a.push(-i);\
         a.sort(function (x, y) { while (true); }); return 1",
        "var p = new Proxy([], {get: function (t, k) { return k === 'length' ? 9e5 : p }});\
         return JSON.stringify(p)",
        "var o = {get x() { return o.x }}; return o.x",
        "while (true) try { [].flat(); throw 1 } catch (e) {}",
    ] {
        let mut scripts = Scripts::with_time_max(Arc::clone(&clock), Duration::from_millis(20));
        let result = scripts.call(source, "");
        assert!(result.is_err(), "{source}: {result:?}");
    }
}

#[test]
fn script_that_catches_its_timeout_has_still_timed_out() {
    let mut scripts =
        Scripts::with_time_max(stdx::clock::RealClock::shared(), Duration::from_millis(20));
    for source in [
        "var n = 0; for (;;) { try { 'a'.match(/a/); n++ } catch (e) { return n } }",
        "for (;;) { try { [1].map(String) } catch (e) { return '[]' } }",
    ] {
        let error = scripts.call(source, "").unwrap_err();
        assert_eq!(error, "script execution timeout", "{source}");
        assert!(scripts.ran_out(), "{source}");
    }
}

#[test]
fn texts_end_at_their_first_nul() {
    let mut engine = engine();
    for (source, expected) in [
        ("return 'a\\0b'", Ok("a")),
        ("return '\\0'", Ok("")),
        ("return 'a\\0b'.length", Ok("3")),
        ("return ['a\\0b', 'c'].join('-')", Ok("a")),
        ("return {toString: function () { return 'q\\0r' }}", Ok("q")),
        ("return JSON.stringify('x\\0y')", Ok("\"x\\u0000y\"")),
        ("return md5('a\\0b') === md5('a')", Ok("true")),
        ("return sha256('a\\0b') === sha256('a')", Ok("true")),
        ("return hmac('md5', 'a\\0b', 'c\\0d') === hmac('md5', 'a', 'c')", Ok("true")),
        ("return btoa('a\\0b')", Ok("YQ==")),
        ("return btoa(new Uint8Array([97, 0, 98]))", Ok("YQBi")),
        ("return atob('YQBi').length", Ok("3")),
        ("return XML.query('<a>x</a>\\0<', '/a\\0b')", Ok("<a>x</a>")),
        ("return value", Ok("v")),
        ("throw 'a\\0b'", Err("a")),
        ("throw new Error('a\\0b')", Err("Error: a")),
    ] {
        let got = engine.call(source, "v\0w");
        let expected = expected.map(|text| Some(text.to_owned())).map_err(str::to_owned);
        assert_eq!(got, expected, "{source}");
    }
}

#[test]
fn guarded_methods_give_what_the_engine_gives() {
    let mut engine = Scripts::new(stdx::clock::RealClock::shared());
    for (source, expected) in [
        ("var o = {id: 1, x: 2n}; o.self = o; return JSON.stringify(o, ['id'])", r#"{"id":1}"#),
        (
            "return JSON.stringify({b: [{a: 1, c: 2}], a: 3}, ['a', 'b'])",
            r#"{"a":3,"b":[{"a":1}]}"#,
        ),
        ("return JSON.stringify([1, {1: 2, c: 3}], [1])", r#"[1,{"1":2}]"#),
        ("return [1].concat({name: 'a', length: 104857600}).length", "2"),
        ("return [1].concat([2, [3]], 4).join()", "1,2,3,4"),
        ("return [1, 2].flatMap(function (n) { return [n, n * 2] }).join()", "1,2,2,4"),
        ("return 'a,b'.split(',').join('-') + 'aXb'.replace('X', '$&$&')", "a-baXXb"),
        ("return 'abc'.replace(/b/, function (b) { return b.toUpperCase() })", "aBc"),
        ("return '1,2'.indexOf([2]) + 'x[object Object]'.indexOf({})", "3"),
        ("return 'a'.localeCompare('b') + ' ' + 'é'.normalize('NFD').length", "-1 2"),
        ("return 'abc'.split().length + Array.from('abc').length", "4"),
        ("return JSON.stringify(Array.from({length: 3}))", "[null,null,null]"),
        (
            "Object.prototype.get = 1; return [3, 1].sort().join() + RegExp('a').test('a')",
            "1,3true",
        ),
        ("return new Uint8Array([1, 2]).join() + new Uint8Array(3).length", "1,23"),
        (
            "return new Uint8Array(new Uint8Array([7]).buffer)[0] + new Int8Array(new Set([5]))[0]",
            "12",
        ),
        (
            "var a = new Uint8Array(1); return [a instanceof Uint8Array, Uint8Array.name,\
          a.constructor === Uint8Array, a.slice().length, Uint8Array.from([4])[0],\
          Uint8Array.BYTES_PER_ELEMENT].join()",
            "true,Uint8Array,true,1,4,1",
        ),
        (
            "return [BigInt('12') + 1n, BigInt(5), BigInt({valueOf: function () { return 3 }}),\
          BigInt.asUintN(4, 17n), typeof BigInt, (255n).toString(16), 1n.constructor === BigInt].join()",
            "13,5,3,1,function,ff,true",
        ),
    ] {
        assert_eq!(engine.call(source, ""), Ok(Some(expected.to_owned())), "{source}");
    }
}

#[test]
fn array_likes_that_tell_another_length_later_are_refused() {
    let mut engine = Scripts::new(stdx::clock::RealClock::shared());
    for source in [
        "var i = 0; [].reverse.call({length: {valueOf() { return i++ < 2 ? 0 : 9e15 }}}); return 1",
        "var i = 0; [].reverse.call(new Proxy({}, {get() { return i++ < 2 ? 0 : 9e15 }})); return 1",
        "[0].flatMap(() => new Array(4294967295)); return 1",
        "'a'.repeat(1e6).indexOf(['b'.repeat(1e5)]); return 1",
        "String.prototype.indexOf.call(['a'.repeat(1e6)], 'b'.repeat(1e5)); return 1",
        "new RegExp(['a'.repeat(20000)]); return 1",
        "'é'.repeat(30000).localeCompare('a'); return 1",
    ] {
        let error = engine.call(source, "").unwrap_err();
        assert!(!error.contains("timeout"), "{source}: {error}");
    }
}
