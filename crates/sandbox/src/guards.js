// Called once with: the limits of one call, which are `Work` in guards.rs; `spend`, which throws when the
// script's time is over, and cannot be caught in the end; `isProxy`. `length` is read once more than without
// the guard: array-likes that could tell another one then are refused.
(function (limits, spend, isProxy) {
    'use strict';
    var max = limits.elements, ITERATOR = Symbol.iterator;
    var apply = Reflect.apply, define = Object.defineProperty, isArray = Array.isArray;
    var describe = Object.getOwnPropertyDescriptor, parent = Object.getPrototypeOf;
    var isView = ArrayBuffer.isView, min = Math.min, stringify = JSON.stringify;
    var exec = RegExp.prototype.exec, hasOwn = Object.prototype.hasOwnProperty;
    var construct = Reflect.construct, DIGITS_MAX = 10000, BITS_MAX = 32768;
    var PATTERN_MAX = limits.pattern, NORMALIZED_MAX = limits.normalized;
    var PREFIXED_MAX = limits.prefixed, COMPARED_MAX = limits.compared;
    function long(length) {
        throw new RangeError('an array of ' + length + ' elements is too long for a script');
    }
    function check(object) {
        if (object === null || typeof object !== 'object' && typeof object !== 'function') return 0;
        if (isProxy(object)) throw new TypeError('a proxy is no array for a script');
        var length = object.length;
        if (length !== null && (typeof length === 'object' || typeof length === 'function')) {
            throw new RangeError('the length of an array has to be a number');
        }
        if (length > max) long(length);
        if (isArray(object)) return length;
        for (var at = object, depth = 0; at !== null && depth < 100; at = parent(at), depth++) {
            var own = describe(at, 'length');
            if (own !== undefined) {
                if (apply(hasOwn, own, ['get']) && !isView(object)) {
                    throw new RangeError('the length of an array may not be a getter');
                }
                break;
            }
        }
        return length > 0 ? +length : 0;
    }
    // `before` sees `this` and the arguments, and throws; it may change the arguments, and return
    // what stands for `this`.
    function wrap(owner, name, before) {
        var native = owner[name];
        if (typeof native !== 'function') return;
        var wrapped = ({[name](...values) {
            spend();
            var self = before(this, values);
            return apply(native, self === undefined ? this : self, values);
        }})[name];
        replace(owner, name, native, wrapped);
    }
    function replace(owner, name, native, wrapped) {
        define(wrapped, 'length', {value: native.length, configurable: true});
        define(owner, name, {
            value: wrapped, writable: true, enumerable: false, configurable: true
        });
    }
    function all(owner, names, before) {
        names.forEach(function (name) { wrap(owner, name, before); });
    }
    all(Array.prototype, ['at', 'copyWithin', 'every', 'fill', 'filter', 'find', 'findIndex',
        'findLast', 'findLastIndex', 'forEach', 'includes', 'indexOf', 'join',
        'lastIndexOf', 'map', 'reduce', 'reduceRight', 'reverse', 'shift', 'slice', 'some',
        'sort', 'splice', 'toLocaleString', 'toReversed', 'toSorted', 'toSpliced', 'toString',
        'unshift', 'with'], function (array) { check(array); });
    // Elements that are long texts are compared by loops of the engine, too.
    if (limits.compares) {
        all(Array.prototype, ['sort', 'toSorted'], function (array, values) {
            if (values[0] !== undefined) return;
            values[0] = function (one, other) {
                spend();
                one = String(one);
                other = String(other);
                return one < other ? -1 : one > other ? 1 : 0;
            };
        });
        all(Array.prototype, ['includes', 'indexOf', 'lastIndexOf'], function (array, values) {
            if (typeof values[0] !== 'string' || array === null || array === undefined) return;
            if (array.length * values[0].length > COMPARED_MAX) {
                throw new RangeError('an array of ' + array.length + ' elements is too long to search for ' +
                    values[0].length + ' characters');
            }
        });
    }
    // What is returned is gone through as well.
    wrap(Array.prototype, 'flatMap', function (array, values) {
        check(array);
        var map = values[0];
        if (typeof map !== 'function') return;
        values[0] = function (...given) {
            var found = apply(map, this, given);
            if (isArray(found)) check(found);
            return found;
        };
    });
    function together(object, values) {
        var length = check(object);
        for (var i = 0; i < values.length; i++) {
            length += check(values[i]);
            if (length > max) long(length);
        }
    }
    // What is no array is one element.
    function spreads(value) {
        if (value === null || typeof value !== 'object') return false;
        var told = value[Symbol.isConcatSpreadable];
        return told === undefined ? isArray(value) : Boolean(told);
    }
    wrap(Array.prototype, 'concat', function (array, values) {
        together(spreads(array) ? array : null, values.filter(spreads));
    });
    // What iterates over it counts, and no `return` is called: it would run after an interrupt.
    function bounded(source) {
        if (source === null || source === undefined) return source;
        var method = source[ITERATOR];
        if (typeof method !== 'function') return source;
        var inner = apply(method, source, []), next = inner.next, count = 0;
        var own = {__proto__: null, next: function () {
            if (++count > max) long(count);
            if (count % 64 === 0) spend();
            return apply(next, inner, []);
        }};
        return {__proto__: null, [ITERATOR]: function () { return own; }};
    }
    // The engine calls `return` of what it spreads also after an interrupt, and without an end if that spreads again.
    function closed(inner) {
        var next = inner.next;
        function through(name, value) {
            spend();
            var method = inner[name];
            if (method === undefined || method === null) return {done: true, value};
            return apply(method, inner, [value]);
        }
        var own = {__proto__: null,
            next(value) { return apply(next, inner, [value]); },
            return(value) { return through('return', value); }
        };
        if (typeof inner.throw === 'function') own.throw = function (value) { return through('throw', value); };
        return own;
    }
    define(parent(parent([].values())), ITERATOR, {
        value: ({[ITERATOR]() { return closed(this); }})[ITERATOR], writable: true, configurable: true
    });
    function iterated(self, values) { values[0] = bounded(values[0]); }
    wrap(Array, 'from', function (self, values) {
        together(null, values);
        iterated(self, values);
    });
    all(Object, ['fromEntries', 'groupBy'], iterated);
    wrap(Map, 'groupBy', iterated);
    ['Map', 'Set', 'WeakMap', 'WeakSet', 'AggregateError'].forEach(function (name) {
        var known = globalThis[name];
        made(name, known, {__proto__: null,
            apply: function (native, self, values) {
                spend();
                iterated(self, values);
                return apply(native, self, values);
            },
            construct: function (native, values, target) {
                spend();
                iterated(native, values);
                return construct(native, values, target);
            }
        });
    });
    function made(name, known, traps) {
        var proxy = new Proxy(known, traps);
        define(known.prototype, 'constructor', {value: proxy, writable: true, configurable: true});
        define(globalThis, name, {value: proxy, writable: true, configurable: true});
    }
    // What is nested counts as often as it is reached.
    function flattened(array, depth, counted) {
        counted += check(array);
        if (counted > max) long(counted);
        for (var i = 0; depth > 0 && i < array.length; i++) {
            if (isArray(array[i])) counted = flattened(array[i], depth - 1, counted);
        }
        return counted;
    }
    wrap(Array.prototype, 'flat', function (array, values) {
        if (array !== null && array !== undefined) {
            flattened(array, values[0] === undefined ? 1 : +values[0], 0);
        }
    });
    var typed = parent(Uint8Array.prototype), typedArray = parent(Uint8Array);
    all(typed, ['sort', 'toSorted', 'join', 'toLocaleString', 'toString'],
        function (array) { check(array); });
    wrap(typed, 'set', function (array, values) { if (!isView(values[0])) check(values[0]); });
    wrap(typedArray, 'from', function (self, values) {
        together(null, values);
        iterated(self, values);
    });
    wrap(String, 'raw', function (self, values) {
        if (values[0] !== null && values[0] !== undefined) check(values[0].raw);
    });
    function names(list) {
        check(list);
        var listed = {__proto__: null};
        for (var i = 0; i < list.length; i++) {
            if (typeof list[i] !== 'symbol') listed[String(list[i])] = true;
        }
        return listed;
    }
    // A function of ours for each member: calls end with the script's time, loops of the engine do
    // not. A list of names keeps their order, so it is applied in a second pass.
    define(JSON, 'stringify', {
        value: function stringify_(value, replacer, space) {
            spend();
            var own = typeof replacer === 'function' ? replacer : undefined;
            var listed = isArray(replacer) ? names(replacer) : undefined, root = true;
            var text = stringify(value, function (key, member) {
                // What the second pass leaves out.
                if (listed !== undefined && !root && !isArray(this) && !listed[key]) return undefined;
                root = false;
                if (own !== undefined) member = apply(own, this, [key, member]);
                if (isArray(member)) {
                    spend();
                    if (member.length > max) long(member.length);
                }
                return member;
            }, space);
            return isArray(replacer) ? stringify(value, replacer, space) : text;
        }, writable: true, enumerable: false, configurable: true
    });
    define(JSON.stringify, 'name', {value: 'stringify', configurable: true});
    // As the method makes a text of it, once.
    function asText(value) {
        return value !== null && typeof value === 'object' ? String(value) : value;
    }
    function isPattern(value) {
        return [Symbol.match, Symbol.matchAll, Symbol.replace, Symbol.search, Symbol.split].some(
            function (name) { return value[name] !== undefined; });
    }
    function argument(values) {
        var value = values[0];
        if (value !== null && typeof value === 'object' && !isPattern(value)) values[0] = asText(value);
        return values[0];
    }
    // A search compares each place with the whole pattern at worst.
    function compared(text, values) {
        text = asText(text);
        var pattern = argument(values);
        if (typeof pattern !== 'string' || pattern.length < 100) return text;
        var length = text === null || text === undefined ? 0 : +text.length;
        if (length * min(pattern.length, length) > COMPARED_MAX) {
            throw new RangeError('a text of ' + length + ' characters is too long to search for ' +
                pattern.length + ' characters');
        }
        return text;
    }
    all(String.prototype, ['indexOf', 'lastIndexOf', 'includes'], compared);
    all(String.prototype, ['split', 'replace', 'replaceAll'], function (text, values) {
        text = compared(text, values);
        values[1] = asText(values[1]);
        if (typeof values[1] === 'string' && text !== null && text !== undefined &&
            text.length > PREFIXED_MAX && apply(exec, /\$[`']/, [values[1]]) !== null) {
            throw new RangeError('a text of ' + text.length + ' characters is too long for $` or $\'');
        }
        return text;
    });
    function normalized(text) {
        text = asText(text);
        if (typeof text === 'string' && text.length > NORMALIZED_MAX &&
            apply(exec, /^[\x00-\x7f]*$/, [text]) === null) {
            throw new RangeError('a text of ' + text.length + ' characters is too long to normalize');
        }
        return text;
    }
    wrap(String.prototype, 'normalize', normalized);
    wrap(String.prototype, 'localeCompare', function (text, values) {
        values[0] = normalized(values[0]);
        return normalized(text);
    });
    // Each takes a time that grows with its text: a loop of them is looked at each time.
    function nothing() {}
    all(String.prototype, ['concat', 'padEnd', 'padStart', 'repeat', 'slice', 'substr', 'substring',
        'toLocaleLowerCase', 'toLocaleUpperCase', 'toLowerCase', 'toUpperCase', 'trim', 'trimEnd',
        'trimStart'], nothing);
    wrap(JSON, 'parse', nothing);
    all(Object, ['assign', 'entries', 'getOwnPropertyNames', 'keys', 'values'], nothing);
    all(globalThis, ['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape',
        'unescape'], nothing);
    // An array that is made of another one, or of what has a length.
    ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
        'Uint32Array', 'Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array',
        'BigUint64Array'].forEach(function (name) {
        var known = globalThis[name];
        if (typeof known !== 'function') return;
        made(name, known, {__proto__: null, construct: function (native, values, target) {
            spend();
            if (!isView(values[0])) {
                check(values[0]);
                if (values[0] !== null && typeof values[0] === 'object' && !isArray(values[0])) iterated(native, values);
            }
            return construct(native, values, target);
        }});
    });
    // Numbers from texts and texts from numbers take a time that grows with the square of the digits.
    function primitive(value) {
        if (value === null || typeof value !== 'object') return value;
        var plain = value.valueOf();
        return plain !== null && typeof plain === 'object' ? String(value) : plain;
    }
    var big = new Proxy(BigInt, {__proto__: null, apply: function (native, self, values) {
        spend();
        values[0] = primitive(values[0]);
        if (typeof values[0] === 'string' && values[0].length > DIGITS_MAX) {
            throw new RangeError('a number of ' + values[0].length + ' digits is too long');
        }
        return apply(native, self, values);
    }});
    define(BigInt.prototype, 'constructor', {value: big, writable: true, configurable: true});
    all(BigInt.prototype, ['toString', 'toLocaleString'], function (number) {
        var most = typeof number === 'bigint' ? 1n << BigInt(BITS_MAX) : 0n;
        if (typeof number === 'bigint' && (number > most || number < -most)) {
            throw new RangeError('a number of more than ' + BITS_MAX + ' bits is too long');
        }
    });
    define(globalThis, 'BigInt', {value: big, writable: true, configurable: true});
    function pattern(values) {
        var text = argument(values), length = typeof text === 'string' ? text.length : 0;
        if (length > PATTERN_MAX) {
            throw new RangeError('a regular expression of ' + length + ' characters is too long');
        }
    }
    all(String.prototype, ['match', 'matchAll', 'search'], function (text, values) {
        pattern(values);
    });
    wrap(RegExp.prototype, 'compile', function (self, values) { pattern(values); });
    var guarded = new Proxy(RegExp, {
        __proto__: null,
        apply: function (native, self, values) { pattern(values); return apply(native, self, values); },
        construct: function (native, values, target) {
            pattern(values);
            return Reflect.construct(native, values, target);
        }
    });
    define(RegExp.prototype, 'constructor', {value: guarded, writable: true, configurable: true});
    define(globalThis, 'RegExp', {value: guarded, writable: true, configurable: true});
})
