// Called once, after everything else was installed, with the objects that scripts get as well.
(function (given) {
    'use strict';
    var kept = ['Object', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'Math', 'JSON', 'Date', 'RegExp',
        'Map', 'Set', 'Iterator', 'Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError',
        'URIError', 'AggregateError', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'decodeURI',
        'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'atob', 'btoa', 'Reflect',
        'NaN', 'Infinity', 'undefined', 'globalThis'];
    var define = Object.defineProperty, describe = Object.getOwnPropertyDescriptor;
    var parent = Object.getPrototypeOf, keys = Reflect.ownKeys, freeze = Object.freeze;
    // What a name no longer tells may still be reached from a value, such as an error of the engine.
    var known = keys(globalThis).map(function (name) { return globalThis[name]; });
    keys(globalThis).forEach(function (name) {
        if (!kept.includes(name) && !delete globalThis[name]) throw new Error('cannot remove ' + String(name));
    });
    // State of the engine that is no property.
    ['prepareStackTrace', 'stackTraceLimit', 'captureStackTrace'].forEach(function (name) {
        if (!delete Error[name]) throw new Error('cannot remove ' + name);
    });
    // Without the symbol, what scripts iterate over inherits its method, and the one of iterators is guarded.
    function hideIterator(iterator, before) {
        var symbol = ({Symbol(text) { return text === undefined ? before() : before(text); }}).Symbol;
        keys(before).forEach(function (name) {
            if (name !== 'iterator') define(symbol, name, describe(before, name));
        });
        define(symbol, 'iterator', {get() { throw new TypeError('Symbol.iterator is not available'); }});
        define(before.prototype, 'constructor', {value: symbol});
        define(globalThis, 'Symbol', {value: symbol});
        function hide(owner, name, without) {
            var native = owner[name];
            var made = ({[name](value) { return without(native(value)); }})[name];
            define(owner, name, {value: made, writable: true, configurable: true});
        }
        function fromList(names) {
            var length = names.length, at = 0;
            while (at < length && names[at] !== iterator) at++;
            for (; at + 1 < length; at++) names[at] = names[at + 1];
            if (at < length) names.length = length - 1;
            return names;
        }
        hide(Reflect, 'ownKeys', fromList);
        hide(Object, 'getOwnPropertySymbols', fromList);
        hide(Object, 'getOwnPropertyDescriptors', function (all) {
            delete all[iterator];
            return all;
        });
    }
    function refuse() {
        throw new TypeError('code cannot be made of texts');
    }
    var text = ''[Symbol.iterator]();
    // What only syntax makes, and what only methods return.
    var functions = [function () {}, function* () {}, async function () {}, async function* () {}];
    functions.forEach(function (one) {
        define(parent(one), 'constructor', {value: refuse, configurable: true});
    });
    hideIterator(Symbol.iterator, Symbol);
    var roots = functions.concat(known, given, [refuse, globalThis, [].values(), new Map().entries(), new Set().values(),
        text, 'a'.matchAll(/a/g), functions[2](),
        functions[1](), functions[1].prototype, functions[3](), functions[3].prototype,
        (function () { return arguments; })()]);
    var seen = new Set(), rest = roots.slice();
    while (rest.length) {
        var one = rest.pop();
        if (one === null || typeof one !== 'object' && typeof one !== 'function' || seen.has(one)) continue;
        seen.add(one);
        rest.push(parent(one));
        keys(one).forEach(function (name) {
            var own = describe(one, name);
            rest.push(own.value, own.get, own.set);
        });
    }
    seen.forEach(function (one) { freeze(one); });
})
