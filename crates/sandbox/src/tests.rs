use std::cell::Cell;
use std::rc::Rc;

use super::*;

const WORK: Work = Work {
    elements: 10_000,
    compared: 1_000_000,
    pattern: 1_000,
    normalized: 2_000,
    prefixed: 2_000,
    compares: true,
};

/// A hardened sandbox whose scripts have so many looks at their time.
fn sandbox(looks: &Rc<Cell<u32>>) -> Sandbox {
    let bounds = Bounds { memory: 8 << 20, stack: 256 << 10 };
    looks.set(1_000_000);
    let (one, other) = (Rc::clone(looks), Rc::clone(looks));
    let count = |looks: &Cell<u32>| {
        looks.set(looks.get().saturating_sub(1));
        looks.get() > 0
    };
    let sandbox = Sandbox::start(bounds, move || !count(&one)).expect("an engine");
    sandbox.guard(&WORK, Box::new(move || count(&other))).expect("guards");
    sandbox.harden(|_| Ok(Vec::new())).expect("a hardened sandbox");
    looks.set(2_000);
    sandbox
}

/// What a function with this body returns, as text, or throws.
fn run(sandbox: &Sandbox, body: &str) -> Result<String, Thrown> {
    let function = sandbox.function("value", body)?;
    sandbox.with(|ctx| {
        let function = function.restore(&ctx).expect("a function of this engine");
        let result = function.call::<_, Value<'_>>(("given",)).map_err(|_| thrown(&ctx))?;
        result.get::<Coerced<String>>().map(|text| text.0).map_err(|_| thrown(&ctx))
    })
}

fn alone(body: &str) -> Result<String, Thrown> {
    run(&sandbox(&Rc::default()), body)
}

#[test]
fn a_function_sees_its_parameter() {
    assert_eq!(alone("return value + '!'").as_deref(), Ok("given!"));
}

#[test]
fn errors_name_line_and_column() {
    for (body, text) in [
        ("var a = 1;\nvar b = ;", "line 2, column 9: SyntaxError: "),
        ("\n\nmissing()", "line 3, column "),
        ("throw new Error('no')", "line 1, column "),
        ("return 1 +\n'x'.repeat(-1)", "line 2, column "),
    ] {
        let error = alone(body).expect_err(body).to_string();
        assert!(error.starts_with(text), "{body}: {error}");
    }
}

#[test]
fn a_body_cannot_leave_its_function() {
    for body in [
        "}); (function(value){",
        "}, function(value){",
        "}; {",
        "return 1 }) || (function(value){",
        "} [value] = function(){",
        "/*",
        "}), Object.assign(function () {}, {toString() { return 1 }, a: function(value){",
    ] {
        assert!(alone(body).is_err(), "{body}");
    }
}

#[test]
fn loops_end_with_the_time_of_the_script() {
    for body in [
        "while (1) {}",
        "for (;;) { try { while (1) {} } catch (e) {} }",
        "for (;;) { try { 'a'.repeat(10) } catch (e) {} }",
        "return 'x'.repeat(1e9)",
        "return Array(1e9).join()",
        "return /(a+)+b/.test('a'.repeat(40))",
        "function f() { return f() + 1 } return f()",
        "var a = []; while (1) a.push('x'.repeat(1000) + a.length)",
        "var s = 'x'; while (1) s += s",
        "return 1n << 1000000n",
        "return [1].concat(Array(1e9)).length",
        "return JSON.stringify(Array(1e8))",
        "return Array(9000).fill('x'.repeat(10000)).indexOf('y'.repeat(10000))",
        "return eval('1')",
        "return (function () {}).constructor('return 1')()",
        "return (async function () {}).constructor('return 1')",
        "return new Proxy({}, {})",
        "return new SharedArrayBuffer(10)",
    ] {
        assert!(alone(body).is_err(), "{body}");
    }
}

#[test]
fn nothing_is_left_for_the_next_script() {
    let looks = Rc::default();
    let sandbox = sandbox(&looks);
    for body in [
        "leak = 1",
        "globalThis.leak = 1",
        "var g = (0, function () { return this })(); g.leak = 1",
        "Object.prototype.leak = 1",
        "Array.prototype.push = null",
        "String.prototype.leak = 1",
        "(function* () {})().__proto__.__proto__.leak = 1",
        "[].values().__proto__.__proto__.leak = 1",
        "(async function () {}).__proto__.leak = 1",
        "Error.prepareStackTrace = function () { return 1 }; Object.prototype.leak.leak",
        "Math.leak = 1",
        "JSON.parse = null",
        "RegExp.prototype.exec = null",
        "Object.defineProperty(Map.prototype, 'leak', {value: 1})",
        "Object.setPrototypeOf(Object.prototype, {leak: 1})",
        "[].__proto__.__proto__ = {leak: 1}",
        "Symbol.leak = 1",
        "Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.leak = 1",
        "(class {}).__proto__.leak = 1",
        "[].values().map(x => x).__proto__.leak = 1",
        "try { atob('%') } catch (e) { Object.getPrototypeOf(e).leak = 1 }",
        "try { 'x'.repeat(1e9) } catch (e) { Object.getPrototypeOf(e).leak = 1 }",
        "try { for (var s = 'x';;) s += s } catch (e) { Object.getPrototypeOf(e).leak = 1 }",
        "Object.getPrototypeOf((async()=>{})()).leak = 1",
        "arguments.callee.leak = 1",
    ] {
        looks.set(2_000);
        assert!(run(&sandbox, body).is_err(), "{body}");
        let leaked = "return [typeof leak, typeof ({}).leak, typeof [].leak, typeof [].push, typeof JSON.parse,
            typeof Error.prepareStackTrace, typeof /a/.exec, typeof (function () {}).leak].join()";
        let clean = "undefined,undefined,undefined,function,function,undefined,function,undefined";
        assert_eq!(run(&sandbox, leaked).as_deref(), Ok(clean), "{body}");
    }
}

#[test]
fn ordinary_scripts_run() {
    for (body, result) in [
        ("let a = [3, 1, 2]; a.sort(); return a.join('-')", "1-2-3"),
        ("return ['b', undefined, 'a'].sort().join()", "a,b,"),
        ("const m = new Map([['a', 1]]); return m.get('a')", "1"),
        ("return JSON.stringify(JSON.parse('{\"a\": [1]}'))", "{\"a\":[1]}"),
        ("class A { b() { return 'c' } } return new A().b()", "c"),
        ("var {a, ...rest} = {a: 1, b: 2}; return Object.keys(rest)", "b"),
        ("return 'a-b'.replace(/-(.)/, (all, c) => c.toUpperCase())", "aB"),
        ("return encodeURIComponent('ä') + btoa('a')", "%C3%A4YQ=="),
        ("try { null.x } catch (e) { return e instanceof TypeError }", "true"),
        ("return [...'abc'].reverse().join('')", "cba"),
        ("return new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(alone(body).as_deref(), Ok(result), "{body}");
    }
}

#[test]
fn literals_of_big_numbers_are_recognized() {
    for (source, has) in [
        ("return 1n", true),
        ("return 0xFFn+a", true),
        ("x = 1_000n;", true),
        ("return x1n", false),
        ("var n = 1; return n", false),
        ("// every 10min", false),
        ("const in = 1", false),
    ] {
        assert_eq!(has_big_numbers(source), has, "{source}");
    }
}

/// Runs a script on a thread of its own: one that hangs fails the test.
fn ends(body: &str, needs_error: bool) {
    let script = body.to_owned();
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            let looks = Rc::default();
            let sandbox = sandbox(&looks);
            looks.set(100);
            let result = run(&sandbox, &script);
            drop(tell.send((result, sandbox.is_ready())));
        })
        .expect("a thread");
    let (result, ready) =
        told.recv_timeout(std::time::Duration::from_secs(60)).unwrap_or_else(|_| panic!("{body}"));
    assert!(!needs_error || result.is_err(), "{body}: {result:?}");
    assert!(ready, "{body}");
}

#[test]
fn scripts_without_memory_can_be_interrupted() {
    for body in [
        "var o = null; try { for (;;) o = {o} } catch {} ; for (;;) { try { for (;;); } catch {} }",
        "var o = null; try { for (;;) o = {o} } catch {} ; for (;;) { try { o = o.o; (function () {})() } catch {} }",
        "var o = null; try { for (;;) o = {o} } catch {} ; for (;;) { try { o = o.o; [].map(String) } catch {} }",
        "var o = null; try { for (;;) o = {o} } catch {} ; for (;;) { try { /(a+)+b/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') } catch {} }",
    ] {
        ends(body, true);
    }
}

#[test]
fn nothing_swallows_an_interrupt() {
    for body in [
        "var s = Symbol.dispose; for (;;) { try { using x = {[s]() { for (;;); }}; throw 1 } catch {} }",
        "for (;;) { try { new Promise(() => { for (;;); }) } catch {} }",
        "for (;;) { try { import({toString() { for (;;); }}) } catch {} }",
        "async function f() { return {get then() { for (;;); }} } for (;;) { try { f() } catch {} }",
        "var f = async x => { return {get then() { for (;;); }} }; for (;;) { try { f() } catch {} }",
        "var o = {async 'm'() { for (;;); }}; for (;;) { try { o.m() } catch {} }",
        "var f = async\u{2003}() => ({get then() { for (;;); }}); for (;;) { try { f() } catch {} }",
        "var f = \\u0061sync () => ({get then() { for (;;); }}); for (;;) { try { f() } catch {} }",
        "var e = {get 0() { for (;;); }, 1: 1}; for (;;) { try { Object.fromEntries({[Symbol.iterator]() {
             return {next() { return {value: e} }, return() { for (;;); }} }}) } catch {} }",
        "for (;;) { try { Array.from({[Symbol.iterator]() { return {next() { return {value: 1} },
             return() { for (;;); }} }}, function () { for (;;); }) } catch {} }",
    ] {
        ends(body, true);
    }
}

#[test]
fn loops_over_iterators_are_bounded() {
    for body in [
        "return Array(4294967295).keys().drop(4e9).next()",
        "return Array(4294967295).keys().includes(-1)",
        "return Array(4294967295).keys().toArray()",
        "return Array(4294967295).keys().join()",
        "return Iterator.concat(Array(4294967295).keys()).drop(4e9).next()",
        "return Math.sumPrecise(Array(4294967295).keys())",
        "return new Set().union({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set().intersection({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set().difference({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set().symmetricDifference({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set().isSubsetOf({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set().isSupersetOf({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set().isDisjointFrom({size: 1, has() {}, keys() { return Array(4294967295).values() }})",
        "return new Set(Array(4294967295).values())",
        "return new Map(Array(4294967295).values())",
        "return Array.from(Array(4294967295).values())",
        "return Array.from.call(function () { return {set length(x) {}} }, Array(4294967295).values())",
        "return Object.fromEntries({[Symbol.iterator]() { return Array(4294967295).fill([]).values() }})",
        "return Object.groupBy(Array(4294967295).keys(), String)",
        "return Map.groupBy(Array(4294967295).keys(), () => 1)",
        "return new AggregateError(Array(4294967295).keys())",
        "return [...Array(4294967295).keys()]",
        "return Math.max(...Array(4294967295).keys())",
    ] {
        ends(body, true);
    }
}

#[test]
fn iterators_that_spread_themselves_end_in_time() {
    let all =
        "var it = [].values(), own = f => ({next: f, return: f}); function f() { return [...it] }";
    for (body, needs_error) in [
        ("it = {[Symbol.iterator]() { return this }, ...own(f)}; return f()", true),
        ("it = {__proto__: Iterator.prototype, ...own(f)}; return f()", true),
        ("it = {__proto__: it, ...own(f)}; return f()", true),
        ("class I extends Iterator { next() { return f() } return() { return f() } } it = new I(); return f()", true),
        ("it = (function* () {})(); Object.defineProperty(it, 'next', {value: f});
          Object.defineProperty(it, 'return', {value: f}); return f()", true),
        ("function* g() { try { yield 1; h() } finally { h() } } function h() { return [...g()] } return h()", true),
        ("function* g() { try { yield 1; h() } finally { h() } } function h() { return Math.max(...g()) } return h()", true),
        ("function* g() { try { yield 1; h() } finally { h() } } function h() { var [a, b] = g() } return h()", true),
        ("function* g() { try { yield* g() } finally { [...g()] } } return [...g()]", true),
        ("it = {__proto__: Iterator.prototype, next() { for (;;); }, get return() { return f() }}; return f()", true),
        ("it = {__proto__: Iterator.prototype, next() { throw 1 }, return() { for (;;); }}; for (;;) try { f() } catch {}", true),
        ("Object.defineProperties(it = {length: 9, get 0() { return f() }, get return() { return f() }},
          Object.getOwnPropertyDescriptors(Array.prototype)); return f()", false),
    ] {
        ends(&format!("{all}; {body}"), needs_error);
    }
}

#[test]
fn no_script_gets_the_symbol_of_iterators() {
    for list in [
        "Reflect.ownKeys(Array.prototype)",
        "Object.getOwnPropertySymbols(Array.prototype)",
        "Object.getOwnPropertySymbols([].values().__proto__.__proto__)",
        "Object.getOwnPropertySymbols(String.prototype)",
        "Object.getOwnPropertySymbols(Map.prototype)",
        "Object.getOwnPropertySymbols((function () { return arguments })())",
        "Reflect.ownKeys(Object.getOwnPropertyDescriptors(Set.prototype))",
        "Reflect.ownKeys(Object.assign({__proto__: null}, Object.getOwnPropertyDescriptors(Array.prototype)))",
        "Reflect.ownKeys({...Object.getOwnPropertyDescriptors(Array.prototype)})",
        "Reflect.ownKeys(Symbol).map(name => name === 'iterator' ? 0 : Symbol[name])",
        "Object.values(Object.getOwnPropertyDescriptors(Symbol.prototype.constructor)).map(one => one.value)",
    ] {
        let body = format!(
            "return {list}.filter(one => typeof one === 'symbol' && String(one).includes('iterator)')).length"
        );
        assert_eq!(alone(&body).as_deref(), Ok("0"), "{list}");
    }
    let error = alone("return Symbol.iterator").unwrap_err();
    assert!(error.text.contains("Symbol.iterator is not available"), "{error}");
    assert_eq!(alone("return Reflect.ownKeys([1, 2]).join()").as_deref(), Ok("0,1,length"));
}

#[test]
fn generators_and_iterators_of_scripts_work() {
    for (body, result) in [
        ("function* g() { yield 1; yield 2 } return [...g()].join()", "1,2"),
        (
            "var o = ''; function* g() { try { yield 1; yield 2 } finally { o += 'end' } } for (var x of g()) { o += x; break } return o",
            "1end",
        ),
        (
            "function* g() { var x = yield 1; return x } function* h() { return yield* g() } var i = h(); i.next(); return i.next(5).value",
            "5",
        ),
        (
            "function* g() { try { yield 1 } catch (e) { yield e } } function* h() { yield* g() } var i = h(); i.next(); return i.throw(7).value",
            "7",
        ),
        (
            "function* g() { try { yield 1 } finally { yield 2 } } function* h() { yield* g() } var i = h(); i.next(); return i.return(7).value",
            "2",
        ),
        (
            "class I extends Iterator { n = 0; next() { return {done: this.n > 2, value: this.n++} } } return [...new I()].join()",
            "0,1,2",
        ),
        (
            "class I extends Iterator { next() { return {value: 4} } } var [a] = new I(); return a",
            "4",
        ),
        (
            "return [...new Map([[1, 2]]).keys(), ...new Set('ab'), ...[3].entries()].join()",
            "1,a,b,0,3",
        ),
        (
            "function* g() { yield ['a', 1] } return new Map(g()).get('a') + Object.fromEntries(g()).a",
            "2",
        ),
        ("return Array.from('abc', x => x + x).join()", "aa,bb,cc"),
        ("return [...'a1b2'.matchAll(/\\d/g)].join()", "1,2"),
        (
            "return Symbol('a').description + typeof Symbol.toPrimitive + (Symbol.for('b') === Symbol.for('b'))",
            "asymboltrue",
        ),
    ] {
        assert_eq!(alone(body).as_deref(), Ok(result), "{body}");
    }
}

#[test]
fn everything_that_scripts_reach_is_frozen() {
    let looks = Rc::default();
    let sandbox = sandbox(&looks);
    looks.set(1_000_000);
    let walk = "
        function thrown(f) { try { f() } catch (e) { return e } }
        var made = [globalThis, thrown(() => atob('%')), thrown(() => null.x), thrown(() => missing), thrown(() => [].at.call()),
            thrown(() => { for (var s = 'x';;) s += s }), thrown(() => 'x'.repeat(1e9)), thrown(() => decodeURI('%')),
            thrown(() => RegExp('(')), thrown(() => { var o = null; for (;;) o = {o} }), thrown(function f() { f() }),
            function () {}, () => {}, function* () {}, (function* () {}).prototype.__proto__, class {}, [], {}, /a/, 'a', 1, true, Symbol(),
            [].values(), [].entries(), new Map(), new Map().keys(), new Set(), new Set().values(),
            'a'.matchAll(/a/g), 'a'.matchAll('a'), 'a'.match(/a/), new Date(0), new Error('a'), new AggregateError([]),
            (function () { return arguments })(), Object.getOwnPropertyDescriptors(/a/), (x => x)`a`, JSON.parse('[]')];
        var own = new Set(made), seen = new Set(), rest = [], paths = new Map(), bad = [];
        function push(value, path) { if (Object(value) === value && !paths.has(value)) { paths.set(value, path); rest.push(value) } }
        made.forEach((one, at) => { push(Object.getPrototypeOf(Object(one)), at + '.__proto__') });
        push(globalThis, 'globalThis');
        while (rest.length) {
            var one = rest.pop();
            if (!Object.isFrozen(one)) bad.push(paths.get(one));
            push(Object.getPrototypeOf(one), paths.get(one) + '.__proto__');
            Reflect.ownKeys(one).forEach(name => {
                var d = Object.getOwnPropertyDescriptor(one, name), p = paths.get(one) + '.' + String(name);
                push(d.value, p); push(d.get, p); push(d.set, p);
            });
        }
        return paths.size > 300 ? bad.join() : 'only ' + paths.size";
    assert_eq!(run(&sandbox, walk).as_deref(), Ok(""));
}

#[test]
fn async_functions_are_recognized() {
    for (source, has) in [
        ("async function f() {}", true),
        ("async x => 1", true),
        ("async () => 1", true),
        ("[...async () => 1]", true),
        ("o = {async m() {}}", true),
        ("o = {async *m() {}}", true),
        ("async/**/function f() {}", true),
        ("import('a')", true),
        ("import /**/ ('a')", true),
        ("o = {'async': true, \"async\": 1, async: 2}", false),
        ("x.async(1)", false),
        ("// an async replication of data", false),
        ("asynchronous(1)", false),
        ("important('a')", false),
    ] {
        assert_eq!(has_async(source), has, "{source}");
    }
}
