//! One function per parser and evaluator that meets bytes of others. Each takes any bytes and
//! returns; it panics only where the code under test is wrong.
//!
//! `cargo xtask fuzz` feeds them on stable Rust for a bounded time; the folder above holds the same
//! targets for `cargo fuzz`.

mod documents;
mod expressions;
mod ipmi;
mod proxying;
mod service;
mod storage;
mod store_seeds;
mod stores;
mod vmware;
mod wires;

/// A target: its name, what it does with bytes, and inputs to begin with.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// As on the command line.
    pub name: &'static str,
    /// Must return for any input.
    pub run: fn(&[u8]),
    /// Inputs that go deep; a zero byte stands between the parts of one input.
    pub seeds: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "zbxd", run: wires::zbxd, seeds: &["ZBXD\u{1}\u{3}\0\0\0\0\0\0\0abc"] },
    Target {
        name: "sender",
        run: wires::sender,
        seeds: &[
            r#"{"request":"sender data","data":[{"host":"h","key":"k","value":"1","clock":5,"ns":7}],"clock":9,"ns":1}"#,
            r#"{"request":"agent data","session":"0123456789abcdef0123456789abcdef","version":"7.0.0","host":"h","data":[{"itemid":1,"id":2,"value":"x","state":1,"lastlogsize":5,"mtime":0}]}"#,
            r#"{"request":"history.push","sid":"a","clientip":"::1","data":[{"itemid":1,"value":"5","clock":1,"ns":0}]}"#,
            r#"{"response":"success","info":"processed: 1; failed: 0; total: 1; seconds spent: 0.000055"}"#,
        ],
    },
    Target {
        name: "agent",
        run: wires::agent,
        seeds: &[
            r#"{"request":"active checks","host":"h","host_metadata":"m","interface":"i","port":10050,"version":"7.0.0","config_revision":1,"session":"s"}"#,
            r#"{"response":"success","config_revision":3,"data":[{"key":"k","itemid":1,"delay":"1m","lastlogsize":0,"mtime":0,"timeout":"3s"}],"commands":[{"command":"c","id":1,"wait":0}]}"#,
            r#"{"request":"passive checks","data":[{"key":"agent.ping","timeout":3}]}"#,
            r#"{"version":"7.0.0","variant":1,"data":[{"value":"1"}]}"#,
            "ZBX_NOTSUPPORTED\0no such key",
        ],
    },
    Target {
        name: "trapper",
        run: wires::trapper,
        seeds: &[
            r#"{"request":"item.test","sid":"s","data":{"item":{"value":"1","value_type":3,"key":"k","type":2,"steps":[{"type":1,"params":"2","error_handler":0,"error_handler_params":""}]},"host":{"hostid":"1"},"options":{"single":false,"state":0,"history":{"value":"1","timestamp":"now-5s"}}}}"#,
            r#"{"request":"expressions.evaluate","sid":"s","data":{"expressions":["1=1"]}}"#,
            r#"{"request":"queue.get","sid":"s","type":"details","limit":"10"}"#,
            "<req><host>aA==</host><key>aw==</key><data>MQ==</data></req>",
            "h:k:1",
        ],
    },
    Target {
        name: "telnet",
        run: wires::telnet,
        seeds: &[
            "login: \r\nx\r\0y\n\rhost> ",
            "\u{ff}\u{fd}\u{18}\u{ff}\u{fa}\u{18}\u{1}\u{ff}\u{f0}a",
        ],
    },
    Target {
        name: "smtp",
        run: wires::smtp,
        seeds: &[
            "250-mx greets\r\n250-AUTH PLAIN LOGIN CRAM-MD5\r\n250-STARTTLS\r\n250 SMTPUTF8\r\n",
            "334 PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+\r\n",
            "line\r\n.\r\n..\r\n.x",
        ],
    },
    Target { name: "sms", run: wires::sms, seeds: &["+46 708\0hello {€}", "112\0ž😀"] },
    Target {
        name: "java-gateway",
        run: wires::java_gateway,
        seeds: &[
            r#"{"response":"success","data":[{"value":"17"},{"error":"no such attribute"}]}"#,
            r#"{"response":"failed","error":"Connection refused"}"#,
        ],
    },
    Target {
        name: "ipmi",
        run: ipmi::ipmi,
        seeds: &[
            "\u{1}\0Q\u{1}3 \0\u{1}\u{3}\u{1}\u{7f}h\u{1}\u{1}\0\0\0\088\0\u{1}\0\0\u{1}\0\0\0\0\0\0\0\0\0\0\0dZU\0\0\0\0\0\0\0\0\u{8}CPU Temp",
            "\u{1}\0Q\u{2}\u{1e} \0\u{5}\n\u{7}\u{7f}@\u{8}o\0\0\0\0\u{7f}\u{7f}\0\0\0\u{2}\u{1}\0\0\0\0\0\0\u{3}SHR",
        ],
    },
    Target {
        name: "vmware",
        run: vmware::vmware,
        seeds: &[
            r#"<Envelope><Body><RetrievePropertiesExResponse><returnval><token>1</token><objects><obj type="VirtualMachine">vm-70</obj><propSet><name>name</name><val type="x">a &amp; <![CDATA[b]]></val></propSet></objects></returnval></RetrievePropertiesExResponse></Body></Envelope>"#,
            r#"<Envelope><Body><QueryPerfResponse><returnval><entity type="HostSystem">host-1</entity><value><id><counterId>2</counterId><instance/></id><value>5</value></value></returnval></QueryPerfResponse></Body></Envelope>"#,
            r#"<Envelope><Body><R><returnval xsi:type="VmEvent"><key>5</key><createdTime>2026-01-01T00:00:00Z</createdTime><userName>u</userName><vm><name>v</name></vm><fullFormattedMessage>m</fullFormattedMessage></returnval></R></Body></Envelope>"#,
            r#"<Envelope><Body><Fault><faultstring>no</faultstring><detail><NotAuthenticatedFault/></detail></Fault></Body></Envelope>"#,
        ],
    },
    Target {
        name: "datagram",
        run: wires::datagram,
        seeds: &[
            "0)\u{2}\u{1}\u{1}\u{4}\u{6}public\u{0}0\u{e}0\u{c}\u{6}\u{8}+\u{6}\u{1}\u{2}\u{1}\u{1}\u{5}\0\u{5}\0",
            "0:\u{2}\u{1}\u{3}0\r\u{2}\u{1}M\u{2}\u{1}\u{7f}\u{4}\u{1}\u{4}\u{2}\u{1}\u{3}\u{4}\u{10}0\u{e}\u{4}\0\u{2}\u{1}\0\u{2}\u{1}\0\u{4}\0\u{4}\0\u{4}\u{0}0\u{14}\u{4}\0\u{4}\0",
        ],
    },
    Target {
        name: "history-service",
        run: service::history_service,
        seeds: &[
            r#"{"sequence":"7","values":[{"itemid":"1","clock":5,"ns":7,"unsigned":"18446744073709551615"},{"host":"h","key":"k","float":"-Infinity"},{"itemid":2,"log":{"text":"l","clock":1,"source":"s","severity":2,"eventid":3}},{"itemid":3,"text":""}],"synced":true,"resend":true}"#,
            r#"{"items":[{"itemid":"1"},{"host":"h","key":"k"}],"from":5,"till":9,"limit":"3","descending":true}"#,
            r#"{"items":[{"host":"h","key":"k"}],"count":5}"#,
            "\u{8}\u{7}\u{12}\u{8}\u{12}\u{1}h\u{1a}\u{1}k@\u{1}\u{12}\t\u{8}\u{1} \u{5}(\u{7}2\u{1}x\u{18}\u{1} \u{1}",
            "\u{12}\u{f}\u{8}\u{2}J\u{b}\n\u{1}l\u{10}\u{1}\u{1a}\u{1}s \u{2}(\u{3}\u{12}\u{b}\u{8}\u{3}9\0\0\0\0\0\0\0@",
            "\n\u{2}\u{8}\u{1}\n\u{6}\u{12}\u{1}h\u{1a}\u{1}k\u{10}\u{5}\u{18}\t \u{3}(\u{1}",
        ],
    },
    Target { name: "peers", run: wires::peers, seeds: &["127.0.0.1,::/0,10.0.0.0/8,host.name"] },
    Target {
        name: "icmp",
        run: wires::icmp,
        seeds: &["E\0\0\u{1c}aaaaaaaaaaaaaaaa\0\0ccnnssCOOKIES!nnnn", "\0\0ccnnssCOOKIES!nnnn"],
    },
    Target {
        name: "services",
        run: wires::services,
        seeds: &[
            "\0HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n",
            "\u{1}220-hi\r\n220 there\r\n",
            "\u{6}hi\r\nSSH-2.0-x\r\n",
            "\u{7}login: ",
            "\u{8}0\u{c}\u{2}\u{1}\u{1}d\u{7}\u{4}\u{0}0\u{3}0\u{1}\u{0}0\u{c}\u{2}\u{1}\u{1}e\u{7}\n\u{1}\0\u{4}\0\u{4}\0",
        ],
    },
    Target {
        name: "http",
        run: wires::http,
        seeds: &[
            "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a\r\nok\r\n0\r\nT: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=koi8-r\r\nContent-Encoding: deflate, gzip\r\nContent-Length: 3\r\n\r\n<meta charset=x>",
            "HTTP/1.0 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nSet-Cookie: a=b; Path=/; Domain=h\r\nWWW-Authenticate: NTLM TlRMTVNTUAACAAAA\r\n\r\n",
            "https://u:p@bücher.example:81/a/../b?c#d",
        ],
    },
    Target { name: "json", run: documents::json, seeds: &[documents::JSON] },
    Target {
        name: "jsonpath",
        run: documents::jsonpath,
        seeds: &[
            "$.a[?(@.b > 1 && @.c =~ 'x')].d.first()\0{\"a\":[{\"b\":2,\"c\":\"x\",\"d\":3}]}",
            "$..a[-1:]~\0{\"a\":[1,2]}",
            "$['a','b'][0,1].sum()\0{\"a\":[1],\"b\":[2]}",
            "$.a[?(!(@.b * 2 - $.c / 3 <= 4) || @.d == \"e\")].length()\0{\"a\":[],\"c\":6}",
        ],
    },
    Target {
        name: "xpath",
        run: documents::xpath,
        seeds: &[
            "//b[@c='1' and position()<last()]/text()\0<a><b c=\"1\">x</b><b/></a>",
            "count(//a|/b/..)*2 div 3 mod 4\0<?xml version=\"1.0\"?><a><![CDATA[x]]><!-- c --></a>",
            "substring(translate(/a, 'x', 'y'), 1, 2)\0<a xmlns:n=\"u\"><n:b>&lt;&#65;</n:b></a>",
        ],
    },
    Target {
        name: "xml",
        run: documents::xml,
        seeds: &["<a b=\"1\">t<c/><c>5</c></a>", "{\"a\":{\"@b\":\"1\",\"c\":[1,null,{}]}}"],
    },
    Target { name: "import", run: documents::import, seeds: documents::EXPORTS },
    Target {
        name: "csv",
        run: documents::csv,
        seeds: &[",\0\"\u{0}1\0a,b\n\"1\"\"\",2\r\n", "\0\u{0}0\0sep=;\na;b"],
    },
    Target { name: "calendar", run: documents::calendar, seeds: &[documents::CALENDAR] },
    Target {
        name: "prometheus",
        run: documents::prometheus,
        seeds: &[
            "m{l=~\"a|b\",k!=\"c\"} == 1e5\0function\0sum\0# HELP m h\n# TYPE m gauge\nm{l=\"a\",k=\"b\"} 1e5 16\n",
            "{__name__=~\"m.*\"}\0label\0l\0m{l=\"x\\n\"} NaN\nm2 +Inf\n",
        ],
    },
    Target {
        name: "snmp",
        run: documents::snmp,
        seeds: &[
            "1.3.6.1\0.1.3.6.1 = Hex-STRING: 41 42\n43\n.1.3.6.2 = STRING: \"a\\\"b\"\n",
            "IF-MIB::ifDescr\0.1.3.6.1.2.1.2.2.1.2.1 = BITS: 80 01\n.1.4 = NULL\n",
        ],
    },
    Target {
        name: "steps",
        run: documents::steps,
        seeds: &["\u{5}(\\d+)\n\\1\0a 12", "\u{1}1.5\u{0}0x", "\u{d}1\n5\u{0}3", "\u{1a}0\n(x)\0x"],
    },
    Target {
        name: "script",
        run: documents::script,
        seeds: &["return JSON.parse(value).a + 1\0{}"],
    },
    Target {
        name: "regex",
        run: documents::regex,
        seeds: &["(a+)(?<n>b)?$\0[\\1\\2]\0aab", "(?i)[[:alpha:]]{1,3}\0\\0\0XyZ"],
    },
    Target {
        name: "lld",
        run: documents::lld,
        seeds: &["{#A}x{{#B}.regsub(\"(.*)\",\\1)}\0[{\"{#A}\":\"1\",\"{#B}\":\"2\"}]"],
    },
    Target {
        name: "expression",
        run: expressions::expression,
        seeds: &[
            "last(/h/k[\"a\"],#1:now-1h)>{$M:\"c\"} and not (min(/h/k,5m)*1K<=-2.5e3) or 1<>2",
            "avg(last_foreach(/*/k?[group=\"g\" and tag=\"t:v\"],5m))",
            "bitand(5,3)+length(\"ö\")+round(1.25,1)+mid(\"abc\",1,2)=jsonpath(\"{}\",\"$.a\",1)",
        ],
    },
    Target {
        name: "macros",
        run: expressions::macros,
        seeds: &["{$A:regex:\"^a\"} {{ITEM.VALUE}.fmtnum(2)} {#B} {HOST.NAME1} {?1+1}", "\\(a\\)"],
    },
    Target { name: "key", run: expressions::key, seeds: &["k[a,\"b\\\"\",[c,d], ]rest", "a.b[]"] },
    Target {
        name: "interval",
        run: expressions::interval,
        seeds: &["1m;10s/1-5,09:00-18:00;wd1-5h9-17/2m0,30;md1h0", "1-7,00:00-24:00", "{$D}"],
    },
    Target { name: "tsdb", run: storage::recovery, seeds: &["\0\u{1}WAL", "\u{1}\u{4}\u{ff}"] },
    Target { name: "clickhouse", run: stores::clickhouse, seeds: store_seeds::CLICKHOUSE },
    Target { name: "hbase", run: stores::hbase, seeds: store_seeds::HBASE },
    Target { name: "opensearch", run: stores::opensearch, seeds: store_seeds::OPENSEARCH },
    Target { name: "riak", run: stores::riak, seeds: store_seeds::RIAK },
    Target {
        name: "spool",
        run: stores::spool,
        seeds: &[
            "vedette history cursors 1\nleft\nshard-0 7 20\nshard-11 18446744073709551615 0\nend",
            "vedette history deletions 1\ncopied 5\n1 shard-0\n2 -\n3 !\nend",
            "vedette history copy 2\n20000 2 7\n19990 20001 3\n10 2 3 0 4\n",
        ],
    },
    Target {
        name: "http1-request",
        run: proxying::request,
        seeds: &[
            "POST /a?b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\nGET",
            "GET http://[::1]:80?q HTTP/1.0\r\nConnection: keep-alive, X\r\nX: 1\r\nContent-Length: 2\r\n\r\nok",
            "GET / HTTP/1.1\r\nHost: a:1\r\nConnection: upgrade\r\nUpgrade: websocket\r\nCookie: a=b; c=d\r\n\r\n",
        ],
    },
    Target {
        name: "http1-response",
        run: proxying::response,
        seeds: &[
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\na\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
            "HTTP/1.0 204 \r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
        ],
    },
    Target {
        name: "caching",
        run: proxying::caching,
        seeds: &[
            "GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: W/\"a\", \"b\"\r\nCache-Control: max-age=5\r\n\r\n\0HTTP/1.1 200 OK\r\nETag: \"b\"\r\nCache-Control: public, s-maxage=\"9\"\r\nVary: Accept, Cookie\r\nAge: 3\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n\0HTTP/1.1 404 No\r\nExpires: Sunday, 06-Nov-94 08:50:37 GMT\r\nDate: Sun Nov  6 08:49:37 1994\r\n\r\n",
        ],
    },
    Target {
        name: "http2",
        run: proxying::http2,
        seeds: &[
            "\0\0\u{6}\u{1}\u{5}\0\0\0\u{1}@\u{1}a\u{1}b\0",
            "\0\0\u{c}\u{1}\u{5}\0\0\0\u{1}\u{2}\u{3}GET\u{6}\u{4}http\u{4}\u{1}/\u{1}\u{1}a",
            "\0\0\u{6}\u{4}\0\0\0\0\0\0\u{3}\0\0\0d\0\0\u{5}\0\u{1}\0\0\0\u{1}hello",
        ],
    },
    Target {
        name: "http3",
        run: proxying::http3,
        seeds: &[
            "\0\u{4}\0\u{7}\u{1}\0\r\u{1}\u{5}",
            "\u{1}\u{7}\0\0Q\u{1}/P\0\0\u{3}abc",
            "\0\0#abc\u{3}def",
        ],
    },
    Target {
        name: "proxy-header",
        run: proxying::proxy_header,
        seeds: &[
            "PROXY TCP4 1.2.3.4 5.6.7.8 1 65535\r\nrest",
            "PROXY TCP6 ::1 2001:db8::1 1 2\r\n",
            "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x02\x03\x04\x05\x06\x07\x08\0\x01\0\x02",
        ],
    },
    Target {
        name: "engine-analytics",
        run: proxying::engine_analytics,
        seeds: &[concat!(
            "\u{1}aaaaaaaabbbbbbbbccccccccddddddddeeeeeeeeffffffffgggggggg\u{2}\u{1}\0p\u{1}\0s",
            "hhhhhhhhiiiiiiii\u{1}jjjjjjjjkkkkkkkkllllllllmmmmmmmmnnnnnnnnooooooooppppppppqqqqqqqqrrrrrrrr",
            "ssssssssttttttttuuuuuuuuvvvvvvvvwwwwwwwwxxxxxxxxyyyyyyyyzzzzzzzz\u{1}\u{7}\u{1}\0\0\0\0\0\0\0\0",
        )],
    },
    Target {
        name: "engine-link",
        run: proxying::engine_link,
        seeds: &[
            "\x10\0\0\0\u{1}\u{1}\0\0\0\u{2}\0\0\0ab\u{1}\0\0\0c\x0d\0\0\0\u{6}\u{2}\0\0\0ab\u{2}\0\0\0cd",
            "\x0f\0\0\0\u{7}\u{1}\0\0\0\0\0\0\0\u{2}\0\0\0ab\u{9}\0\0\0\u{8}\u{1}\0\0\0\u{9}\0\0\0",
            "\x11\0\0\0\u{3}\u{1}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0\u{4}\u{1}\0\0\0a\u{1}\0\0\0\0\0\0\0",
        ],
    },
];

/// Runs the target of a name; nothing if there is none.
pub fn run(name: &str, data: &[u8]) {
    if let Some(target) = TARGETS.iter().find(|target| target.name == name) {
        (target.run)(data);
    }
}
