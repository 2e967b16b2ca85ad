// `Browser` for the scripts of browser items: commands of the W3C's WebDriver, as JavaScript over
// the functions that send a command, count browsers, remember sessions and tell the time.
(function (send, claim, opened, now) {
    'use strict';
    // The name that the standard gives to references of elements.
    var ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
    var data = new WeakMap();

    function own(self) {
        var d = data.get(self);
        if (!d) throw new Error('cannot find native data attached to object');
        return d;
    }
    class BrowserError extends Error {}
    function hide(object, name, value) {
        Object.defineProperty(object, name, {value: value, writable: true, configurable: true});
    }
    function add(target, methods) {
        Object.keys(methods).forEach(function (name) { hide(target, name, methods[name]); });
    }
    function fail(browser, what, status, code, message) {
        var text = 'cannot ' + what + ': ' + message;
        own(browser).error = {http_status: status, code: code, message: text};
        var error = new BrowserError(text);
        error.browser = browser;
        throw error;
    }
    // One command. An error of the kind `missing` is no error: nothing is there.
    function command(browser, what, method, path, body, missing) {
        var d = own(browser), got, value;
        try {
            got = send(method, d.path + path, body === undefined ? null : JSON.stringify(body));
            value = JSON.parse(got.body).value;
        } catch (error) {
            fail(browser, what, got ? got.status : 0, '', error.message);
        }
        if (got.status === 200) return value === undefined ? null : value;
        value = value || {};
        if (missing && value.error === missing) return null;
        fail(browser, what, got.status, String(value.error || ''),
             String(value.message || value.error || 'HTTP status ' + got.status));
    }
    function post(browser, what, path, body, missing) {
        return command(browser, what, 'POST', path, body, missing);
    }
    function get(browser, what, path, missing) {
        return command(browser, what, 'GET', path, undefined, missing);
    }

    function Element(browser, id) {
        data.set(this, {browser: browser, id: id, path: '/element/' + encodeURIComponent(id)});
    }
    function elementGet(self, what, path) {
        var d = own(self);
        return get(d.browser, what, d.path + path);
    }
    function elementPost(self, what, path, body) {
        var d = own(self);
        post(d.browser, what, d.path + path, body);
    }
    add(Element.prototype, {
        getAttribute: function (name) {
            return elementGet(this, 'get element attribute',
                              '/attribute/' + encodeURIComponent(String(name)));
        },
        getProperty: function (name) {
            return elementGet(this, 'get element property',
                              '/property/' + encodeURIComponent(String(name)));
        },
        getText: function () { return elementGet(this, 'get element text', '/text'); },
        click: function () { elementPost(this, 'click element', '/click', {id: own(this).id}); },
        clear: function () { elementPost(this, 'clear element', '/clear', {id: own(this).id}); },
        sendKeys: function (keys) {
            elementPost(this, 'send keys to element', '/value', {text: String(keys)});
        }
    });
    function elementOf(browser, found) {
        var id = found && found[ELEMENT];
        return typeof id === 'string' ? new Element(browser, id) : null;
    }

    function Alert(browser, text) {
        data.set(this, {browser: browser});
        this.text = text;
    }
    add(Alert.prototype, {
        accept: function () { post(own(this).browser, 'accept alert', '/alert/accept', {}); },
        dismiss: function () { post(own(this).browser, 'dismiss alert', '/alert/dismiss', {}); }
    });

    // Copies what can be copied: entries have functions and objects of the browser among theirs.
    var ENTRIES = 'return performance.getEntries().map(function (entry) { var copy = {};'
        + ' for (var name in entry) { var value = entry[name];'
        + ' if (value === null || (typeof value !== "object" && typeof value !== "function"))'
        + ' copy[name] = value; } return copy; });';
    // Milliseconds in the browser, seconds in the result.
    var TIMES = /^(startTime|duration|workerStart|(redirect|connect|domainLookup|unloadEvent|domContentLoadedEvent|loadEvent|response)(Start|End)|(fetch|request|secureConnection)Start|domInteractive|domComplete)$/;

    function snake(name) {
        return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
            .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2').toLowerCase();
    }
    function renamed(entry) {
        var out = {};
        Object.keys(entry).forEach(function (name) {
            var value = entry[name];
            out[snake(name)] = TIMES.test(name) && typeof value === 'number' ? value / 1000 : value;
        });
        return out;
    }
    // What entries take together: spans in seconds, sizes in bytes.
    function sums(entries) {
        var total = {}, protocols = [];
        function put(name, value) { total[name] = (total[name] || 0) + value; }
        entries.forEach(function (e) {
            function of(name) { return Number(e[name]) || 0; }
            function span(name, from, to) { put(name, (of(to) - of(from)) / 1000); }
            span('dns_lookup_time', 'domainLookupStart', 'domainLookupEnd');
            span('tcp_handshake_time', 'connectStart', 'connectEnd');
            if (of('secureConnectionStart')) {
                span('tls_negotiation_time', 'secureConnectionStart', 'requestStart');
            }
            if (of('workerStart')) {
                span('service_worker_processing_time', 'workerStart', 'fetchStart');
            }
            span('redirect_time', 'redirectStart', 'redirectEnd');
            span('request_time', 'requestStart', 'responseStart');
            span('response_time', 'responseStart', 'responseEnd');
            span('resource_fetch_time', 'fetchStart', 'responseEnd');
            span('dom_content_loading_time', 'domContentLoadedEventStart',
                 'domContentLoadedEventEnd');
            span('load_event_handler_time', 'loadEventStart', 'loadEventEnd');
            span('unload_event_handler_time', 'unloadEventStart', 'unloadEventEnd');
            put('load_finished', of('loadEventEnd') / 1000);
            put('encoded_size', of('encodedBodySize'));
            put('total_size', of('decodedBodySize'));
            put('transferred_size', of('transferSize'));
            put('redirect_count', of('redirectCount'));
            put('count', 1);
            if (e.nextHopProtocol) protocols.push(String(e.nextHopProtocol));
        });
        if (protocols.length) total.min_protocol = protocols.sort()[0];
        return total;
    }
    function ofType(entries, type) {
        return entries.filter(function (e) { return e.entryType === type; });
    }
    function detail(mark, entries) {
        var out = {};
        if (mark !== null) out.mark = mark;
        var navigation = ofType(entries, 'navigation')[0];
        if (navigation) {
            out.navigation = renamed(navigation);
            var secure = Number(navigation.secureConnectionStart);
            if (secure) {
                out.navigation.tls_negotiation_time = (navigation.requestStart - secure) / 1000;
            }
        }
        var resources = ofType(entries, 'resource');
        if (resources.length) out.resource = sums(resources);
        var user = entries.filter(function (e) {
            return e.entryType === 'mark' || e.entryType === 'measure';
        });
        if (user.length) out.user = user.map(renamed);
        return out;
    }

    function Browser(options) {
        if (!new.target) throw new TypeError('Browser must be called with new');
        claim();
        var d = {path: '/session', error: null, begin: now(), details: [], entries: [], marks: []};
        data.set(this, d);
        var session = post(this, 'open webdriver session', '', options);
        if (!session || typeof session.sessionId !== 'string') {
            fail(this, 'open webdriver session', 200, '', 'the answer has no session');
        }
        d.path += '/' + encodeURIComponent(session.sessionId);
        opened(d.path);
        this.setScreenSize(1920, 1080);
    }
    function timeout(name, what) {
        return function (ms) {
            var body = {};
            body[name] = Math.trunc(Number(ms)) || 0;
            post(this, what, '/timeouts', body);
        };
    }
    function run(browser, script) {
        return post(browser, 'get performance entries', '/execute/sync',
                    {script: script, args: []}) || [];
    }
    add(Browser.prototype, {
        navigate: function (url) { post(this, 'open url', '/url', {url: String(url)}); },
        getUrl: function () { return get(this, 'get url', '/url'); },
        getPageSource: function () { return get(this, 'get page source', '/source'); },
        findElement: function (strategy, selector) {
            return elementOf(this, post(this, 'find element', '/element',
                                        {using: String(strategy), value: String(selector)},
                                        'no such element'));
        },
        findElements: function (strategy, selector) {
            var browser = this;
            return (post(this, 'find elements', '/elements',
                         {using: String(strategy), value: String(selector)}) || [])
                .map(function (found) { return elementOf(browser, found); });
        },
        getCookies: function () { return get(this, 'get cookies', '/cookie'); },
        addCookie: function (cookie) { post(this, 'add cookie', '/cookie', {cookie: cookie}); },
        getScreenshot: function () { return get(this, 'get screenshot', '/screenshot'); },
        setScreenSize: function (width, height) {
            post(this, 'set screen size', '/window/rect',
                 {width: Math.trunc(Number(width)) || 0, height: Math.trunc(Number(height)) || 0});
        },
        setScriptTimeout: timeout('script', 'set script timeout'),
        setSessionTimeout: timeout('pageLoad', 'set session timeout'),
        setElementWaitTimeout: timeout('implicit', 'set element wait timeout'),
        getAlert: function () {
            var text = get(this, 'get alert', '/alert/text', 'no such alert');
            return text === null ? null : new Alert(this, text);
        },
        switchFrame: function (target) {
            var id = null;
            if (target instanceof Element) {
                id = {};
                id[ELEMENT] = own(target).id;
            } else if (target !== undefined && target !== null) {
                id = Number(target);
            }
            post(this, 'switch frame', '/frame', {id: id});
        },
        collectPerfEntries: function (mark) {
            var d = own(this), entries = run(this, ENTRIES);
            mark = mark === undefined || mark === null ? null : String(mark);
            d.details.push(detail(mark, entries));
            d.entries = d.entries.concat(entries);
            if (mark !== null) d.marks.push({name: mark, index: d.details.length - 1});
        },
        getRawPerfEntries: function () { return run(this, 'return performance.getEntries();'); },
        getRawPerfEntriesByType: function (type) {
            return run(this, 'return performance.getEntriesByType('
                + JSON.stringify(String(type)) + ');');
        },
        setError: function (message) {
            own(this).error = {http_status: 0, code: '', message: String(message)};
        },
        getError: function () { return own(this).error; },
        discardError: function () { own(this).error = null; },
        getResult: function () {
            var d = own(this), out = {duration: now() - d.begin};
            if (d.error) out.error = d.error;
            if (d.details.length) {
                var navigation = ofType(d.entries, 'navigation');
                var resource = ofType(d.entries, 'resource');
                var summary = {};
                if (navigation.length) summary.navigation = sums(navigation);
                if (resource.length) summary.resource = sums(resource);
                out.performance_data = {details: d.details, summary: summary};
                if (d.marks.length) out.performance_data.marks = d.marks;
            }
            return out;
        }
    });
    function options(name, key, args) {
        return function () {
            var match = {browserName: name, pageLoadStrategy: 'normal'};
            if (key) match[key] = {args: args.slice()};
            return {capabilities: {alwaysMatch: match}};
        };
    }
    add(Browser, {
        chromeOptions: options('chrome', 'goog:chromeOptions', ['--headless=new']),
        firefoxOptions: options('firefox', 'moz:firefoxOptions', ['--headless']),
        safariOptions: options('safari'),
        edgeOptions: options('MicrosoftEdge', 'ms:edgeOptions', ['--headless=new'])
    });
    return [Browser, BrowserError];
})
