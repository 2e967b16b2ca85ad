//! Loops of the engine itself cannot be interrupted: `Array(1e9).join("x")` would keep its thread
//! for a minute, whatever the script's time. Methods with such loops therefore refuse arrays that
//! are longer than any that fits into an engine's memory in a form that scripts use.

use rquickjs::{Ctx, Function};

/// Elements that one call may go over: tens of milliseconds.
pub(super) const ELEMENTS_MAX: u32 = 1_000_000;

/// Wraps the methods. `length` is read once more than without the guard; what a getter returns
/// later is the method's own business, so array-likes whose length is a getter are refused.
const WRAP: &str = r#"
(function (max) {
    'use strict';
    var apply = Reflect.apply, define = Object.defineProperty, isArray = Array.isArray;
    var describe = Object.getOwnPropertyDescriptor, parent = Object.getPrototypeOf;
    function check(object) {
        if (object === null || typeof object !== 'object' && typeof object !== 'function') return;
        var length = object.length;
        if (length > max) {
            throw new RangeError('an array of ' + length + ' elements is too long for a script');
        }
        if (isArray(object)) return;
        for (var at = object, depth = 0; at !== null && depth < 100; at = parent(at), depth++) {
            var own = describe(at, 'length');
            if (own !== undefined) {
                if (own.get !== undefined && !ArrayBuffer.isView(object)) {
                    throw new RangeError('the length of an array may not be a getter');
                }
                break;
            }
        }
    }
    function wrap(owner, name, checksArguments) {
        var native = owner[name];
        if (typeof native !== 'function') return;
        var wrapped = ({[name](...values) {
            check(this);
            if (checksArguments) {
                for (var i = 0; i < values.length; i++) check(values[i]);
            }
            return apply(native, this, values);
        }})[name];
        define(wrapped, 'length', {value: native.length, configurable: true});
        define(owner, name, {
            value: wrapped, writable: true, enumerable: false, configurable: true
        });
    }
    var loops = ['at', 'copyWithin', 'every', 'fill', 'filter', 'find', 'findIndex', 'findLast',
        'findLastIndex', 'flat', 'flatMap', 'forEach', 'includes', 'indexOf', 'join',
        'lastIndexOf', 'map', 'reduce', 'reduceRight', 'reverse', 'shift', 'slice', 'some',
        'sort', 'splice', 'toLocaleString', 'toReversed', 'toSorted', 'toSpliced', 'toString',
        'unshift', 'with'];
    loops.forEach(function (name) { wrap(Array.prototype, name, false); });
    wrap(Array.prototype, 'concat', true);
    wrap(Array, 'from', true);
    var typed = parent(Uint8Array.prototype);
    ['sort', 'toSorted', 'join', 'toLocaleString', 'toString'].forEach(function (name) {
        wrap(typed, name, false);
    });
})
"#;

/// Guards the methods of a new context.
pub(super) fn install(ctx: &Ctx<'_>) -> Result<(), rquickjs::Error> {
    let wrap: Function<'_> = ctx.eval(WRAP)?;
    wrap.call((ELEMENTS_MAX,))
}
