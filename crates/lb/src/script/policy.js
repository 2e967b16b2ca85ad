// Called once with the functions of the engine: makes the objects `request` and `response`. Both are the same for
// all runs and hold nothing: what they tell comes from the engine, and what they are told goes there.
(function (native) {
    'use strict';
    function fields(side) {
        return {
            header: function (name) { return native.header(side, String(name)); },
            headers: function (name) { return native.headers(side, String(name)); },
            headerNames: function () { return native.names(side); },
            setHeader: function (name, value) { native.edit(side, 'set', String(name), String(value)); },
            addHeader: function (name, value) { native.edit(side, 'add', String(name), String(value)); },
            removeHeader: function (name) { native.edit(side, 'remove', String(name), ''); }
        };
    }
    function readable(object, names) {
        names.forEach(function (name) {
            Object.defineProperty(object, name, {enumerable: true, get: function () { return native.fact(name); }});
        });
        return object;
    }
    function decoded(text) {
        try {
            return decodeURIComponent(text.replaceAll('+', ' '));
        } catch (e) {
            return text;
        }
    }
    var request = readable(fields('request'),
        ['method', 'scheme', 'host', 'version', 'client', 'service', 'sni', 'tls', 'certificate']);
    Object.defineProperty(request, 'port', {enumerable: true, get: function () { return +native.fact('port'); }});
    ['path', 'query'].forEach(function (name) {
        Object.defineProperty(request, name, {
            enumerable: true,
            get: function () { return native.fact(name); },
            set: function (value) { native.rewrite(name, String(value)); }
        });
    });
    request.cookie = function (name) { return native.cookie(String(name)); };
    request.parameter = function (name) {
        var pairs = native.fact('query').split('&');
        for (var at = 0; at < pairs.length; at++) {
            var sign = pairs[at].indexOf('='), end = sign < 0 ? pairs[at].length : sign;
            if (decoded(pairs[at].slice(0, end)) === String(name)) return decoded(pairs[at].slice(end + 1));
        }
        return null;
    };
    request.forward = function (pool) { native.forward(String(pool)); };
    request.redirect = function (location, status) {
        native.redirect(status === undefined ? 302 : +status, String(location));
    };
    request.refuse = function (status) { native.refuse(status === undefined ? 403 : +status); };
    request.respond = function (answer) {
        if (answer === null || typeof answer !== 'object') {
            throw new TypeError("respond() needs an object, such as {status: 200, body: 'text'}");
        }
        var headers = answer.headers, status = answer.status, body = answer.body, list = [];
        if (headers !== undefined && headers !== null) {
            Object.keys(headers).forEach(function (name) { list.push(name, String(headers[name])); });
        }
        native.respond(status === undefined ? 200 : +status, list,
            body === undefined || body === null ? '' : String(body));
    };
    var response = readable(fields('response'), []);
    Object.defineProperty(response, 'status', {enumerable: true, get: function () { return +native.fact('status'); }});
    return [request, response];
})
