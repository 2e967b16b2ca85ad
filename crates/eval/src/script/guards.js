// Called once with: the elements that one call may go over; `spend`, which throws when the script's
// time is over. `length` is read once more than without the guard; what a getter returns later is
// the method's own business, so array-likes whose length is a getter are refused.
(function (max, spend) {
    'use strict';
    var apply = Reflect.apply, define = Object.defineProperty, isArray = Array.isArray;
    var describe = Object.getOwnPropertyDescriptor, parent = Object.getPrototypeOf;
    var isView = ArrayBuffer.isView, min = Math.min, stringify = JSON.stringify;
    var PATTERN_MAX = 10000, NORMALIZED_MAX = 20000, PREFIXED_MAX = 10000, COMPARED_MAX = 2e8;
    function long(length) {
        throw new RangeError('an array of ' + length + ' elements is too long for a script');
    }
    function check(object) {
        if (object === null || typeof object !== 'object' && typeof object !== 'function') return 0;
        var length = object.length;
        if (length > max) long(length);
        if (isArray(object)) return length;
        for (var at = object, depth = 0; at !== null && depth < 100; at = parent(at), depth++) {
            var own = describe(at, 'length');
            if (own !== undefined) {
                if (own.get !== undefined && !isView(object)) {
                    throw new RangeError('the length of an array may not be a getter');
                }
                break;
            }
        }
        return length > 0 ? +length : 0;
    }
    // `before` sees `this` and the arguments, and throws.
    function wrap(owner, name, before) {
        var native = owner[name];
        if (typeof native !== 'function') return;
        var wrapped = ({[name](...values) {
            spend();
            before(this, values);
            return apply(native, this, values);
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
        'findLast', 'findLastIndex', 'flatMap', 'forEach', 'includes', 'indexOf', 'join',
        'lastIndexOf', 'map', 'reduce', 'reduceRight', 'reverse', 'shift', 'slice', 'some',
        'sort', 'splice', 'toLocaleString', 'toReversed', 'toSorted', 'toSpliced', 'toString',
        'unshift', 'with'], check);
    function together(object, values) {
        var length = check(object);
        for (var i = 0; i < values.length; i++) {
            length += check(values[i]);
            if (length > max) long(length);
        }
    }
    wrap(Array.prototype, 'concat', together);
    wrap(Array, 'from', together);
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
    all(typed, ['sort', 'toSorted', 'join', 'toLocaleString', 'toString'], check);
    wrap(typed, 'set', function (array, values) { if (!isView(values[0])) check(values[0]); });
    wrap(typedArray, 'from', together);
    wrap(String, 'raw', function (self, values) {
        if (values[0] !== null && values[0] !== undefined) check(values[0].raw);
    });
    // A function of ours for each member: calls end with the script's time, loops of the engine do
    // not. A list of names keeps their order, so it is applied in a second pass.
    define(JSON, 'stringify', {
        value: function stringify_(value, replacer, space) {
            spend();
            var own = typeof replacer === 'function' ? replacer : undefined;
            if (isArray(replacer)) check(replacer);
            var text = stringify(value, function (key, member) {
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
    // A search compares each place with the whole pattern at worst.
    function compared(text, values) {
        var pattern = values[0];
        if (typeof pattern !== 'string' || pattern.length < 100) return;
        var length = text === null || text === undefined ? 0 : +text.length;
        if (length * min(pattern.length, length) > COMPARED_MAX) {
            throw new RangeError('a text of ' + length + ' characters is too long to search for ' +
                pattern.length + ' characters');
        }
    }
    all(String.prototype, ['indexOf', 'lastIndexOf', 'includes'], compared);
    all(String.prototype, ['split', 'replace', 'replaceAll'], function (text, values) {
        compared(text, values);
        if (typeof values[1] === 'string' && text !== null && text !== undefined &&
            text.length > PREFIXED_MAX && /\$[`']/.test(values[1])) {
            throw new RangeError('a text of ' + text.length + ' characters is too long for $` or $\'');
        }
    });
    wrap(String.prototype, 'normalize', function (text) {
        if (text !== null && text !== undefined && text.length > NORMALIZED_MAX) {
            throw new RangeError('a text of ' + text.length + ' characters is too long to normalize');
        }
    });
    function pattern(values) {
        var length = typeof values[0] === 'string' ? values[0].length : 0;
        if (length > PATTERN_MAX) {
            throw new RangeError('a regular expression of ' + length + ' characters is too long');
        }
    }
    all(String.prototype, ['match', 'matchAll', 'search'], function (text, values) {
        pattern(values);
    });
    wrap(RegExp.prototype, 'compile', function (self, values) { pattern(values); });
    var guarded = new Proxy(RegExp, {
        apply: function (native, self, values) { pattern(values); return apply(native, self, values); },
        construct: function (native, values, target) {
            pattern(values);
            return Reflect.construct(native, values, target);
        }
    });
    define(RegExp.prototype, 'constructor', {value: guarded, writable: true, configurable: true});
    define(globalThis, 'RegExp', {value: guarded, writable: true, configurable: true});
})
