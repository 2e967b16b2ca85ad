// Called once, after the guards. Removes what would let a script go on after the end of its time, and loops over
// iterators that no other engine for scripts of this kind has. Interrupts must not be caught: promises, async
// generators and disposal keep what was thrown, and `prepareStackTrace` runs while the interrupt is made.
(function (scans) {
    'use strict';
    var keys = Reflect.ownKeys, parent = Object.getPrototypeOf, define = Object.defineProperty;
    var dispose = [Symbol.dispose, Symbol.asyncDispose];
    function remove(owner, name) {
        if (!delete owner[name]) throw new Error('cannot remove ' + String(name));
    }
    function empty(owner) {
        keys(owner).forEach(function (name) { remove(owner, name); });
    }
    var generated = (async function* () {}).prototype;
    // The prototypes stay reachable from values that syntax makes.
    empty(Promise.prototype);
    empty(parent(generated));
    empty(parent(parent(generated)));
    var shared = parent(parent([].values()));
    keys(shared).forEach(function (name) {
        if (name !== 'constructor' && name !== Symbol.iterator && name !== Symbol.toStringTag) remove(shared, name);
    });
    ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf',
        'isDisjointFrom'].forEach(function (name) { remove(Set.prototype, name); });
    remove(Iterator, 'from');
    remove(Iterator, 'concat');
    ['zip', 'zipKeyed'].forEach(function (name) { remove(Iterator, name); });
    remove(Array, 'fromAsync');
    remove(Math, 'sumPrecise');
    remove(Error, 'prepareStackTrace');
    // Without the symbols, no object can have such a method. They cannot be deleted, and a proxy would be told them.
    var known = Symbol;
    var symbol = ({Symbol(text) { return text === undefined ? known() : known(text); }}).Symbol;
    keys(known).forEach(function (name) {
        if (!dispose.includes(known[name])) define(symbol, name, Object.getOwnPropertyDescriptor(known, name));
    });
    define(known.prototype, 'constructor', {value: symbol});
    define(globalThis, 'Symbol', {value: symbol});
    ['Promise', 'DisposableStack', 'AsyncDisposableStack', 'SuppressedError', 'FinalizationRegistry', 'WeakRef',
        'Proxy'].forEach(function (name) {
        var made = globalThis[name];
        if (made.prototype) {
            dispose.forEach(function (symbol) { remove(made.prototype, symbol); });
            Object.freeze(made.prototype);
        }
        Object.freeze(made);
        remove(globalThis, name);
    });
    // Texts that become code at run time are scanned, too.
    function scanned(values) {
        return values.map(function (value) {
            value = value !== null && typeof value === 'object' ? String(value) : value;
            if (typeof value === 'string') scans(value);
            return value;
        });
    }
    function maker(prototype, kind) {
        var native = prototype.constructor;
        var made = function Function(...values) { return Reflect.construct(native, scanned(values)); };
        define(made, 'prototype', {value: native.prototype});
        define(prototype, 'constructor', {value: made, writable: true, configurable: true});
        if (kind === 'global') globalThis.Function = made;
    }
    function refuse() { throw new TypeError('async functions are not available'); }
    maker(Function.prototype, 'global');
    maker(parent(function* () {}));
    [async function () {}, async function* () {}].forEach(function (one) {
        define(parent(one), 'constructor', {value: refuse, configurable: true});
    });
    var run = globalThis.eval;
    globalThis.eval = function (text) { return run(scanned([text])[0]); };
    define(globalThis, 'eval', {enumerable: false});
    define(globalThis, 'Function', {enumerable: false});
})
