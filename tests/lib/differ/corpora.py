"""Values and parameters that steps are fed with: ordinary ones and those at the edges."""

NUMBERS = [
    "0", "1", "-1", "1.5", "-0.5", "1e3", "1E-5", "42", "100", "3.999999", "18446744073709551615",
    "18446744073709551616", "9223372036854775808", "-9223372036854775808", "0x1F", "1K", "  7 ",
    "7\n", "+5", "007", ".5", "5.", "1e309", "NaN", "inf", "", "abc", "10x", "-", "1,5", "1e-320",
    "12345678901234567890123", "0.1", "1e15", "123456789.987654321", "-0", "1e+2", "2.5e-3",
]
TEXTS = [
    "", " ", "abc", "  padded  ", "a\tb\nc", "Zażółć gęślą", "日本語", "x=1;y=22", "aaa", "ab" * 40,
    "ERROR: disk full", "ok\r\n", "\"quoted\"", "{json", "line one\nline two\nline 3", "\\n", "a.b*c",
    "value: 17 ms", "12 apples and 7 pears", "\ttab", "-=[x]=-", "C:\\dir\\file", "NaN", "ümlaut",
]
BOOLEANS = [
    "true", "t", "yes", "y", "on", "up", "running", "enabled", "available", "ok", "master", "false",
    "f", "no", "n", "off", "down", "unused", "disabled", "unavailable", "err", "slave", "TRUE", "Yes",
    "OFF", "1", "0", "2", "-1", "0.0", "0.5", "", " yes", "no ", "maybe", "tr", "10",
]
OCTALS = ["0", "7", "17", "08", "777", "1777777777777777777777", "2000000000000000000000", "-1",
          " 17", "17 ", "0o7", "", "1 7", "0000017", "9", "abc", "1.5", "7\n"]
HEXES = ["0", "ff", "FF", "0xff", "0XFF", "ff ", "de ad", "DE AD BE EF", "ffffffffffffffff", "g", "",
         "10000000000000000", "-f", "a\nb", " 1f", "1.5", "00 01", "0x", "x1", "7\n", "AbCd", "0 x 1"]

PATTERNS = [
    "([0-9]+)", "(\\w+)=(\\d+)", "(?i)error", "^(.*)$", "(a)(b)?(c)", "[", "\\d", "(?m)^line (\\w+)$",
    "(x)|(y)", "^$", "([a-z]+).*?([0-9]+)", "(?s)one(.*)3", "日(.)語", "([^ ]+) ([^ ]+)", "a*", "(",
    "\\bapples\\b", "(?<name>ms|apples)", "\\\\dir", "^\\s+", "(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)", "",
]
OUTPUTS = ["\\0", "\\1", "\\2", "x\\1y", "\\9", "\\\\1", "", "\\10", "\\1\\n", "const", "\\1-\\2-\\0",
           "\\", "\\a", "€\\1"]

DOCUMENTS = [
    '{"a":1,"b":{"c":[1,2,3],"d":"x"},"e":null,"f":true,"g":[]}',
    '[{"n":"cpu","v":10,"t":["x","y"]},{"n":"mem","v":20.5,"t":[]},{"n":"disk","v":"30"},{"v":4}]',
    '{"books":[{"title":"A","price":8.95,"isbn":"1"},{"title":"B","price":12.99},'
    '{"title":"C","price":22.99,"isbn":"3","tags":{"k":"v"}}],"store":{"name":"S","open":false}}',
    '{"error":"bad thing"}', '{"error":""}', '{"error":{"code":5}}', '{"a b":{"c.d":1,"e\'f":2}}',
    '{"deep":{"deep":{"deep":{"x":[[1,2],[3,[4,5]]]}}}}', '[]', '{}', '[1,"1",1.0,true,null,"x"]',
    '{"n":12345678901234567890,"f":1e400,"s":"\\u0041\\n\\"","z":-0.0,"w":"日本"}', 'not json',
    '{"a":1', '"text"', '17', '{"m":{"k1":{"v":5},"k2":{"v":7},"k3":{"w":1}}}', '',
    '{"list":["b","a","c"],"nums":[3,1,2],"mixed":[1,"2",3.5]}',
]
PATHS = [
    "$", "$.a", "$.b.c", "$.b.c[0]", "$.b.c[-1]", "$.b.c[0,2]", "$.b.c[0:2]", "$.b.c[1:]", "$.b.c[:-1]",
    "$['b']['d']", "$.e", "$.f", "$.g", "$.*", "$.b.*", "$..c", "$..v", "$..price", "$[*].n",
    "$[0].n", "$[1]", "$[?(@.v > 10)]", "$[?(@.v > 10)].n", "$[?(@.n == 'cpu')].v", "$..[?(@.isbn)].title",
    "$.books[?(@.price < 20)].title", "$.books[?(@.price < 20 && @.isbn)].title", "$.books[*].price.sum()",
    "$.books[*].price.avg()", "$.books[*].price.min()", "$.books[*].price.max()", "$.books.length()",
    "$.books[*].title.first()", "$.books[?(@.title =~ '[AB]')].price", "$.books[?(!@.isbn)].title",
    "$.books[?(@.price == 8.95 || @.price == 22.99)].title", "$.store.name", "$.store.open", "$.error",
    "$.error.code", "$['a b']['c.d']", "$['a b'][\"e'f\"]", "$..x[0][1]", "$..deep.x", "$.m.*~", "$.m.*.v",
    "$.m.k1~", "$..[?(@.v)]~", "$.nosuch", "$.a.b.c", "$[9]", "$[", "a.b", "$.", "$..", "", "$.n", "$.s",
    "$.w", "$.z", "$.list.length()", "$.nums.sum()", "$.list.first()", "$.mixed.sum()", "$[*].length()",
    "$.books[?(@.price > $.books[0].price)].title", "$[?(@.t.length() > 0)].n", "$.books[0:2].title",
    "$.books[?(@.price + 1 > 13)].title", "$.books[?(@.title != \"B\")].title", "$[?(@ == 1)]",
    "$.books[?(@.price * 2 >= 25.98)].title", "$['a','f']", "$[0,1].v", "$.b['c','d']", "$.m.first()",
    "$..tags", "$.books[*]['title','isbn']", "$[?(@.v)].v.sum()", "$.books[?(@.tags.k == 'v')].title",
]
XMLS = [
    "<a><b>1</b><b>2</b><c d='x'>t</c></a>", "<a/>", "<r><n v='1'/><n v='2.5'/><s>text</s></r>",
    "<?xml version='1.0'?><doc><item id='1'>one</item><item id='2'><sub>two</sub></item></doc>",
    "<a>x<b>y</b>z</a>", "<a><![CDATA[<raw>]]></a>", "<a>&lt;&amp;&#65;</a>", "<error>bad</error>", "<a>",
    "not xml", "", "<a><b/><b/></a>", "<a b='1' c='2'>t</a>", "<a><!-- note -->v</a>", "<ü>ö</ü>",
    "<root><x:y xmlns:x='urn:x'>ns</x:y></root>", "<a> <b> 7 </b> </a>", "<a><b>1</b>t<b>2</b></a>",
]
XPATHS = [
    "/a", "/a/b", "/a/b[1]", "//b", "count(//b)", "sum(//b)", "string(/a/c)", "/a/c/@d", "//n/@v",
    "sum(//n/@v)", "//item[@id='2']/sub", "//item[2]/@id", "/a/text()", "string-length(/a)", "//error",
    "boolean(//error)", "1 div 0", "1+2", "concat('a','b')", "/a/b/text()", "//nosuch", "/a[", "", "//*",
    "number(//s)", "-1 div 0", "0 div 0", "not(//b)", "//item[last()]", "normalize-space(/a/b)", "name(/*)",
]
METRICS = """# HELP cpu_usage_system Telegraf collected metric
# TYPE cpu_usage_system gauge
cpu_usage_system{cpu="cpu-total",host="h1"} 1.1940298507220641
cpu_usage_system{cpu="cpu0",host="h1"} 2.5
cpu_usage_system{cpu="cpu1",host="h 2"} NaN
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="get",code="400"} 3 1395066363000
wmi_state{name="dhcp",state="running"} 1
wmi_state{name="dhcp",state="stopped"} 0
msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot \\"find\\" file:\\n"} 1.458255915e9
metric_without_labels 12.47
something_weird{problem="division by zero"} +Inf -3982045
# TYPE rpc_duration histogram
rpc_duration_bucket{le="0.1"} 10
rpc_duration_bucket{le="+Inf"} 20
rpc_duration_sum 17560473
rpc_duration_count 2693
"""
METRIC_SETS = [
    METRICS, "", "a 1\n", "a 1\na 2\n", "bad line here\n", "a{x=\"1\"} 1\nb{x=\"2\"} 2\n", "# only comment\n",
    "a{x=\"1\" 1\n", "a{x=\"1\",} 1\n", "  a   5  \n", "a 0x1F\n", "a 1e3\nb -Inf\n", "# TYPE a gauge\na 1\n",
]
METRIC_PATTERNS = [
    "cpu_usage_system", "cpu_usage_system{cpu=\"cpu0\"}", "cpu_usage_system{cpu=~\"cpu[01]\"}",
    "cpu_usage_system{cpu!=\"cpu0\"}", "cpu_usage_system{cpu!~\"cpu[0-9]\"}", "{host=\"h1\"}",
    "metric_without_labels", "metric_without_labels == 12.47", "wmi_state == 1", "wmi_state{name=\"dhcp\"} == 1",
    "{__name__=~\"^http_.*\"}", "{__name__=\"a\"}", "a", "a{x=\"1\"}", "http_requests_total{code=\"200\"}",
    "nosuch", "a{", "{", "", "cpu_usage_system{nosuch=\"1\"}", "something_weird", "wmi_state{state=~\"r.*\"}",
    "rpc_duration_bucket{le=\"+Inf\"}", "msdos_file_access_time_seconds", "wmi_state == 2", "{__name__!=\"a\"}",
    "http_requests_total == 3", "{method=~\"get|post\",code!=\"400\"}", "b", "wmi_state == abc",
]
METRIC_OUTPUTS = ["value\n", "label\ncpu", "label\nstate", "label\nnosuch", "function\nsum", "function\nmin",
                  "function\nmax", "function\navg", "function\ncount", "function\nmedian", "label\n", "x\ny"]
CSVS = [
    "a,b,c\n1,2,3\n4,5,6", "a;b\n1;2", "h1,h2\n\"x,y\",\"say \"\"hi\"\"\"", "", "one", "a,b\n1\n1,2",
    "a,b\r\n1,2\r\n", "a,,c\n,,", "'q','w'\n'1','2'", "a,a\n1,2", "x\ty\n1\t2", "a,b\n\"multi\nline\",2",
    "a,b\n\"open,2", "Sep=;\na;b\n1;2", "ä,ö\nü,ß", "a,b\n1,2,3", "\n\n", "a,b\n\"1\"x,2", ",\n,",
]
WALKS = [
    '.1.3.6.1.2.1.2.2.1.2.1 = STRING: "eth0"\n.1.3.6.1.2.1.2.2.1.2.2 = STRING: "lo"\n'
    '.1.3.6.1.2.1.2.2.1.10.1 = Counter32: 100\n.1.3.6.1.2.1.2.2.1.10.2 = Counter32: 7\n'
    '.1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: 00 1A 2B 3C 4D 5E\n.1.3.6.1.2.1.2.2.1.6.2 = ""\n',
    '.1.3.6.1.4.1.1.1 = INTEGER: up(1)\n.1.3.6.1.4.1.1.2 = Timeticks: (12345) 0:02:03.45\n'
    '.1.3.6.1.4.1.1.3 = OID: .1.3.6.1.4\n.1.3.6.1.4.1.1.4 = IpAddress: 10.0.0.1\n'
    '.1.3.6.1.4.1.1.5 = BITS: 80 00 0(0) \n.1.3.6.1.4.1.1.6 = Hex-STRING: 48 65 6C 6C 6F 00\n'
    '.1.3.6.1.4.1.1.7 = NULL\n.1.3.6.1.4.1.1.8 = Gauge32: 42\n',
    '.1.3.6.1.1 = STRING: "multi\nline"\n.1.3.6.1.2 = STRING: "say \\"hi\\""\n.1.3.6.1.3 = STRING: bare\n',
    "", "garbage", ".1.3.6.1.1 = Hex-STRING: C3 A4 C3 B6\n.1.3.6.1.2 = Hex-STRING: FF FE\n",
    ".1.3.6.1.1 = No Such Object available on this agent at this OID\n.1.3.6.1.2 = INTEGER: 5\n",
    ".1.3.6.1.1 = BITS: 01 02\n.1.3.6.1.2 = BITS: FF\n.1.3.6.1.3 = Opaque: Float: 1.500000\n",
]
OIDS = [".1.3.6.1.2.1.2.2.1.2.1", "1.3.6.1.2.1.2.2.1.10.2", ".1.3.6.1.4.1.1.1", ".1.3.6.1.4.1.1.2",
        ".1.3.6.1.4.1.1.3", ".1.3.6.1.4.1.1.5", ".1.3.6.1.4.1.1.6", ".1.3.6.1.2.1.2.2.1.6.1", ".1.3.6.1.1",
        ".1.3.6.1.2", ".1.3.6.1.3", ".1.9.9", "", "x", ".1.3.6.1.2.1.2.2.1.6.2", ".1.3.6.1.4.1.1.7"]
TABLES = ["{#NAME}\n.1.3.6.1.2.1.2.2.1.2\n0\n{#IN}\n.1.3.6.1.2.1.2.2.1.10\n0",
          "{#MAC}\n1.3.6.1.2.1.2.2.1.6\n2", "{#A}\n.1.3.6.1\n0", "{#V}\n.1.3.6.1.4.1.1\n1",
          "{#X}\n.1.9\n0", "{#X}\n.1.3.6.1", "", "{#B}\n.1.3.6.1\n3", "{#B}\n.1.3.6.1\n9"]
SNMP_VALUES = ["48 65 6C 6C 6F", "00 1A 2B 3C 4D 5E", "Hex-STRING: 48 69", "80 00", "01", "FF FF FF FF",
               "text", "", "48 6", "C3 A4", "ZZ", "BITS: 01 02", "48656C6C6F", "01 02 03 04 05 06 07 08 09"]

SCRIPTS = [
    "return value", "return value * 2", "return JSON.parse(value).a", "return value.length", "return 1/0",
    "throw 'broken'", "throw new Error('bad')", "return", "return null", "return undefined", "return true",
    "return {a:1}", "return [1,2]", "return md5(value)", "return sha256(value)", "return btoa(value)",
    "return atob('aGVsbG8=')", "return hmac('sha256','key',value)", "return hmac('md5','key',value)",
    "syntax error here", "var s = 0; for (var i = 0; i < 10; i++) { s += i } return s",
    "return value.replace(/[0-9]+/g, '#')", "return parseInt(value)", "return Number(value).toFixed(2)",
    "return value.split('').reverse().join('')", "return JSON.stringify({v: value})", "return 0.1 + 0.2",
    "return typeof value", "return value.toUpperCase()", "Zabbix.log(4, 'x'); return 'logged'", "return 1e21",
    "return 12345678901234567890", "return -0", "return NaN", "return [value, value].join('|')", "return ''",
    "return encodeURIComponent(value)", "return XML.query(value, '/a/b')", "return XML.toJson(value)",
    "return XML.fromJson('{\"a\":\"1\"}')", "var o = {}; o.x = value; return o.x", "return new Date(0).toISOString()",
    "return value.match(/([a-z]+)/) ? 'yes' : 'no'", "return String.fromCharCode(65)", "return this === undefined",
    "return [3,1,2].sort().toString()", "return isNaN(value)", "return value.trim()", "nosuch()", "return 5 % 3",
]
