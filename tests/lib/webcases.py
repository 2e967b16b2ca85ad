"""Requests of HTTP agent items to a web server of strange habits, as `item.test` has them."""

import json
import re
import urllib.parse

import webpeer

DEFAULTS = {
    "key": "k", "type": "19", "value_type": 4, "steps": [], "authtype": 0, "username": "",
    "password": "", "follow_redirects": 1, "headers": "", "http_proxy": "", "output_format": 0,
    "posts": "", "post_type": 0, "query_fields": "", "request_method": 0, "retrieve_mode": 0,
    "ssl_cert_file": "", "ssl_key_file": "", "ssl_key_password": "", "status_codes": "200",
    "timeout": "3s", "url": "", "verify_host": 0, "verify_peer": 0}
PATHS = [
    "/hello", "/echo", "/nothing", "/bodyless/204", "/bodyless/304", "/gzip", "/deflate", "/badgzip",
    "/chunked", "/badchunk", "/cutchunk", "/untilclose", "/truncated", "/nothttp", "/badstatus",
    "/badlength", "/badheader", "/lf", "/fold", "/hints", "/empty", "/reset", "/redirect/302/3",
    "/redirect/302/10", "/redirect/302/11", "/huge/70000", "/bytes/00", "/bytes/ff", "/bytes/4100",
    "/bytes/e4?type=text/plain;%20charset=iso-8859-1", "/bytes/", "/basic", "/digest"]


def fields(*pairs):
    return json.dumps([{name: value} for name, value in pairs])


def answers(peer):
    """Every answer in every form."""
    for path in PATHS:
        for mode in (0, 1, 2):
            for output in (0, 1):
                yield {"url": peer.url(path), "retrieve_mode": mode, "output_format": output}
    for path in ("/hello", "/chunked", "/fold", "/echo"):
        for output in (0, 1):
            for method in (1, 2, 3):
                yield {"url": peer.url(path), "retrieve_mode": 2, "output_format": output,
                       "request_method": method}
    yield {"url": peer.url("/slow"), "timeout": "1s"}
    yield {"url": peer.url("/slow/1"), "timeout": "1s"}


def texts(peer):
    """Bodies in encodings and types."""
    for kind in ("application/json", "Application/JSON; charset=utf-8", "application/json;x",
                 "application/vnd.api+json", "text/json", "application/jsonx", "text/plain"):
        for body in (b'{"a": 1}', b"{bad", b"", b'"x"', b"1", b' {"a":1} ', b"null", b'{"a":1}x',
                     b"[1,2", 'a"\\/\n\x01é<>'.encode()):
            yield {"url": peer.url("/bytes/%s?type=%s" % (body.hex(), urllib.parse.quote(kind))),
                   "output_format": 1}
    for body, kind in (
            (b"\x80", ""), (b"\xe4\x80", "text/html"), (b"\xd0\xcf", "text/plain; charset=koi8-r"),
            (b"\xd0\xcf", 'text/plain; charset="KOI8-R"'), (b"\xe4", "text/plain; charset=nonsense"),
            (b"\xe4", "text/plain; charset=utf-8"), ("日".encode("shift_jis"), "a/b; charset=shift_jis"),
            ("ab".encode("utf-16"), "text/plain; charset=utf-16"),
            (b'<meta charset="koi8-r">\xd0\xcf', "text/html"), (b"\xef\xbb\xbfabc", "text/plain"),
            (b"  x \r\n\n", "text/plain"), (b"\x00abc", "text/plain")):
        query = "?type=" + urllib.parse.quote(kind) if kind else ""
        yield {"url": peer.url("/bytes/" + body.hex() + query)}


def requests(peer):
    """What the server sees."""
    echo = peer.url("/echo")
    for method in (0, 1, 2):
        for kind, body in ((0, "x=1"), (2, '{"a":1}'), (3, "<a/>"), (2, "no"), (0, ""), (2, ""), (3, "")):
            yield {"url": echo, "request_method": method, "post_type": kind, "posts": body}
        for code in (301, 302, 303, 307, 308):
            yield {"url": peer.url("/redirect/%d/1" % code), "request_method": method, "posts": "a=b"}
    yield {"url": echo, "request_method": 1, "post_type": 2, "posts": "{}", "headers": "Content-Type: a/b"}
    yield {"url": echo, "headers": "A: b\r\nHost: other\r\nUser-Agent: me\r\nAccept: x\r\nE: \r\nbad\r\n X: 1"}
    for query in (fields(("a", "b")), fields(("a b", "c&d=e/ä?")), fields(("", "x")), fields(("a", "")),
                  fields(("a", "1"), ("a", "2")), fields(("-._~", "*'()!$")), fields(("%41", "+"))):
        for url in (echo, echo + "?x=y", echo + "#part"):
            yield {"url": url, "query_fields": query}
    for number in range(5):
        for word in (webpeer.WORD, "wrong"):
            for path in ("/basic", "/digest", "/digest/SHA-256", "/ntlm", "/hello"):
                if number != 3 and (number, word) != (2, "wrong"):
                    yield {"url": peer.url(path), "authtype": number, "username": webpeer.USER,
                           "password": word, "status_codes": ""}
    yield {"url": peer.url("/digest"), "authtype": 4, "username": webpeer.USER,
           "password": webpeer.WORD, "request_method": 1, "posts": "hello"}
    for to in ("echo", "//127.0.0.1:%d/echo" % peer.port, "?to=/hello", "ftp://x/", "file:///etc/passwd",
               "", "/echo%20x y", "http://", "/echo#f", "http://localhost:%d/echo" % peer.port):
        for follow in (0, 1):
            yield {"url": peer.url("/elsewhere?to=" + urllib.parse.quote(to)), "status_codes": "",
                   "follow_redirects": follow, "authtype": 1, "username": "u", "password": "p",
                   "headers": "X-A: b\r\nCookie: c=d"}


def urls(peer):
    """Addresses, good and bad."""
    port = peer.port
    for url in (
            "", "nothing.invalid", "http://127.0.0.1:1/", "http://localhost:1/", "127.0.0.1:%d/echo" % port,
            "ftp://127.0.0.1/", "foo://x/", "http://", "http:///nothing.invalid", "http://127.0.0.1:99999/",
            "http://127.0.0.1:x/", "http://user:pw@127.0.0.1:%d/echo" % port, peer.url("/a b"),
            peer.url("/echo/../echo"), peer.url("/echo/%41?a=%zz"), peer.url("/echo?a=[b]"), peer.url(""),
            "http://[::1]:1/", "http://[::1/", "http://bücher.invalid/", "HTTP://127.0.0.1:%d/echo" % port,
            " " + peer.url("/echo"), peer.url("/echo?"), "file:///etc/passwd",
            "http://127.1:%d/echo" % port, "http://0x7f000001:%d/echo" % port,
            "http:/127.0.0.1:%d/echo" % port, "https://", "http://a<b/", "http://%00/", "http://a..b/"):
        yield {"url": url}
    for codes in ("", "200", "404", "200,404", "400-500", "300-200", "x", "200-", " 200 , 404 ", "0"):
        for path in ("/hello", "/status/404/Not"):
            yield {"url": peer.url(path), "status_codes": codes}


def proxied(proxy):
    """Through a peer that is asked as a proxy."""
    place = "127.0.0.1:%d" % proxy.port
    for text in (place, "http://" + place, "http://u:p@" + place, "127.0.0.1:1", "nothing.invalid",
                 "nothing.invalid:3128", "x://y"):
        for url in ("http://some.where/echo?x=y", "https://some.where/hello"):
            yield {"url": url, "http_proxy": text}


def scenarios(peer):
    """Web scenarios by name: those that pass, and those that fail in each way."""
    base = peer.url("")

    def steps(*paths, **more):
        return [dict({"name": "step %d" % n, "no": n, "url": base + path}, **more)
                for n, path in enumerate(paths, 1)]
    found = [{"name": "{v}", "value": "regex:no(.)"}]
    yield "good", {"steps": steps("/hello", status_codes="200", required="^hel")}
    yield "code, with comma", {"steps": steps("/nothing", "/hello", status_codes="200", required="xyz")}
    yield "required", {"steps": steps("/hello", "/hello", required="xyz")}
    yield "required head", {"steps": steps("/hello", required="xyz", retrieve_mode=1)}
    yield "variable", {"steps": steps("/hello", variables=found)}
    yield "variables", {"variables": found, "steps": steps("/hello")}
    yield "group", {"variables": [{"name": "{v}", "value": "regex:l+"}], "steps": steps("/hello")}
    yield "empty", {"retries": 2, "steps": steps("/empty")}
    yield "refused", {"steps": [{"name": "a", "no": 1, "url": "http://127.0.0.1:1/"}]}
    yield "no host", {"steps": [{"name": "a", "no": 1, "url": "http://"}]}
    yield "slow", {"steps": steps("/slow", timeout="1s")}
    yield "space", {"variables": [{"name": "{v}", "value": "a b"}], "steps": steps("/echo?{v}")}
    yield "cookies", {"steps": steps("/cookie/z=1", "/cookie", required="set|z=1")}
    yield "digest", {"authentication": 4, "http_user": webpeer.USER, "http_password": webpeer.WORD,
                     "steps": steps("/digest", status_codes="200")}
    yield "redirect", {"steps": steps("/redirect/302/1", status_codes="200", required="target")}
    yield "stay", {"steps": steps("/redirect/302/1", status_codes="302", follow_redirects=0)}


def settled(answer):
    """An answer without what must differ: times, packings that are understood."""
    text = json.dumps(answer, ensure_ascii=False)
    for pattern, word in ((r"after \d+ ms", "after N ms"), (r"after \d+ milli", "after N milli"),
                          (r"deflate, gzip(, br, zstd)?", "<packings>"),
                          (r"(Content-Length[^0-9]{1,10})\d+", r"\1N")):
        text = re.sub(pattern, word, text)
    return text
