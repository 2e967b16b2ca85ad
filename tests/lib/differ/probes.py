"""Cases at the edges, each value of a list with each value of another: what random choice seldom meets."""

import itertools

QUANTILES = ["0", "0.5", "0.9", "1", "0.25", "-0.1", '"0.5"', "50m"]
BUCKETS = [
    "1,10,1,12,2,20", "1,10,2,5,\"+Inf\",20", "1,10,1,10,\"+Inf\",10", "2,10,1,20,\"Inf\",30", "1,0,2,0,3,0,\"+Inf\",5",
    "1,5,1,7,1,6,\"+Inf\",9", "1,10,2,8,3,15,4,12,\"+Inf\",20", "\"+Inf\",20,1,10", "1,10,\"+inf\",20", "1,10,\"inf\",20",
    "1,10,\"INF\",20", "1,10,\"infinity\",20", "1,10,\"+Infinity\",20", "1,10,\"-Inf\",20", "1,10,\"x\",20", "1,\"x\",\"+Inf\",20",
    "1,10,\"+Inf\",5", "-5,10,-1,20,\"+Inf\",30", "-5,10,\"+Inf\",30", "0,10,1,20,\"+Inf\",30", "\"1\",\"10\",\"+Inf\",\"20\"",
    "1K,10,2K,20,\"+Inf\",30", "\"1K\",10,\"+Inf\",30", "1,-10,\"+Inf\",20", "1,10,\"+Inf\",20,\"+Inf\",30",
    "1,1,2,2,2,3,2,1,3,4,\"+Inf\",5", "0.1,1,0.2,1,0.3,1,\"+Inf\",1", "1,10,\"+Inf\",10", "1,10", "1,10,\"+Inf\"", "1,10,2",
    "1,0,\"+Inf\",0", "5,2,3,1,4,0,\"+Inf\",3", "1,20,2,10,3,10,\"+Inf\",20", "1,20,2,10,3,30,\"+Inf\",25", "10,7,20,3,\"+Inf\",6",
]
LITERALS = ['"1m"', '"60"', "60", "1m", "60s", '"60s"', '"1K"', "1K", "1024", '"1024"', '""', '"0"', "0", '"1.0"', "1", "1.0",
            '" 1"', '"1 "', '"+1"', '"1e0"', '"0x1"', '"-1"', "-1", '"a"', '"A"', '".5"', "0.5", '"5."', "5", '"1d"', "24h",
            '"18446744073709551615"', "18446744073709551615", '"18446744073709551616"', "18446744073709551616",
            '"1e400"', '"nan"', '"inf"', '"-"', '"1M"', '"1T"', "1T", '"1Y"', '"1y"', '"1w"', "7d", '"01"', '"-0"', "-0"]
COMPARED = ["=", "<>", "<", ">="]
COMPUTED = ["+", "-", "*", "/", " and ", " or "]
BITS = ["0", "1", "63", "64", "65", "128", "255", "4294967296", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "18446744073709551616", "-1", "1.9", "1K", "1G", '"7"', '"1K"', '""',
        "1e19", "2e19", '"18446744073709551616"', '"-1"', '"0x10"', "0.5"]
ROUNDED = ["2.5", "-2.5", "1.005", "12345.6789", "1e300", "123456789012345678", "18446744073709551615", "0.5", "-0.5", "1K",
           '"2.55"', '"1K"', "1e-10", "-0.4", "1e15", "999999999999.9999"]
DIGITS = ["0", "1", "2", "5", "15", "300", "308", "309", "-1", "1.5", '"1"', '"x"', "1K", "20"]
WORDS = ['"日本語"', '"Zażółć"', '"abc"', '""', '" a b "', '"😀x"', '"1K"', "12", "1.50", "1K", "-3", '"a\\tb"', '"\\\\n"',
         '"éa"', '"aéaéa"', '"\\"q\\""', "1e10", "0.000001", "18446744073709551615", "1e16", "1234567.891", "100000000000000000000"]
PLACES = ["0", "1", "2", "3", "100", "-1", "1.5", '"2"', "1K", '"x"', "18446744073709551616", '""', "0.9"]
ONE_TEXT = ["ascii", "bitlength", "bytelength", "length", "ltrim", "rtrim", "trim", "concat", "char"]
NUMERIC = ["abs", "ceil", "floor", "signum", "sqrt", "cbrt", "log", "log10", "exp", "degrees", "radians", "bitnot", "sin", "cot"]
OPERANDS = ['"1K"', '"1m"', '" 5"', '"abc"', '""', "18446744073709551615", "-0.5", "0", "1e308", "-1K", '"-1K"', '"1e3"',
            '"0x1F"', "1.5d", "9007199254740993", "0.0000001"]
SETS = ["1,2,3", '"1","2"', '"1K",1024', '"a",1', "1", '"b","a","c"', '"10","9"', "1e308,1e308", "-1,-2,-3", '"",1', '"1m",60',
        "18446744073709551615,1", "18446744073709551615,18446744073709551614", "0.1,0.2,0.3", "5,5,5,5", "1,1.0000001"]
OVER = ["avg", "min", "max", "sum", "count", "mad", "kurtosis", "stddevpop", "varsamp", "skewness", "sumofsquares", "in",
        "between", "concat", "power", "mod", "atan2"]
TRIM = [('"xxabcxx"', '"x"'), ('"日本日"', '"日"'), ('"aéa"', '"é"'), ('"ab"', '""'), ('"  a "', '" "'), ('"abab"', '"ba"'),
        ('"a-b-c"', '"a-c"'), ('"\\\\x"', '"\\\\"'), ('"\\ta"', '"\\t"'), ("1001", "1"), ("1K", '"0"'), ('"éà"', '"è"')]
REPLACED = [('"日本日"', '"日"', '"x"'), ('"aaaa"', '"aa"', '"a"'), ('"abc"', '"b"', '""'), ('"abc"', '""', '"x"'),
            ('"a.c"', '"."', '"-"'), ("1001", "0", "22"), ('"A"', '"a"', '"b"'), ('""', '"a"', '"b"'), ('"a"', '"a"', "1K"),
            ('"x"', '"x"', '"xx"')]
SYNTAX = [
    "{123}", "{123}+1", "{123}=\"{123}\"", "{0}", "{12a}", "\"{123}\"", "not {1}", "length({123})", "{1} and 0", "0 and {1}",
    "1 or {1}", "abs({5})", "\"1m\"=60s", "\"1m\"+0", "\"1K\"*2", "\"1K\">1000", "-\"1K\"", "not \"1K\"", "\"1K\" and 1",
    "not \"0\"", "not \"\"", "-\"\"", "-\"5\"", "- \"5\"", "1-\"1\"", "1 --1", "1---1", "2*-3", "2/-4", "-2*-3", "not not not 1",
    "not 1=0", "not (1)=0", "-1=-1", "- 1=-1", "1=not 0", "1+not 0", "-(-(1))", "(((1)))", "1<2=1", "3>2>1", "1=1<>0", "0=1=0",
    "1 and 2 or 0", "0 or 0 and 1/0", "1/0=1", "1/(1-1)", "1/0.0000000000000001", "5/3", "1e308*10", "-1e308*10", "1e-308/1e10",
    "0.1*3", "1e15+0.3", "123456789.123456789", "0.1+0.2", "1/3", "2/3", "100/3", "1e20", "1e21", "1e-7", "1.5e-10+0", "1e16+1",
    "18446744073709551615+0", "18446744073709551615=18446744073709551614", "18446744073709551615>18446744073709551614",
    "9007199254740993-9007199254740992", "9007199254740993=9007199254740992", "9007199254740993+0=9007199254740992",
    "\"9007199254740993\"=9007199254740992", "\"9007199254740993\"=\"9007199254740992\"", "\"1\"=\"1.0\"", "\"1\"=\"01\"",
    "\"a\"=\"A\"", "\"a\">\"b\"", "\"a\"+1", "\"\"=0", "\"\"=\"\"", "0=\"\"", "1K=1024", "1k", "1Ks", "1sK", "1.5", "1.", ".5K",
    "1e3K", "1e3s", "1E3", "1e+3", "1e-3K", "1Y", "1y", "1P", "1E", "1Z", "1M=1024*1024", "1m=60", "1M+1m", "0x1F", "1_000", "00012",
    "1 000", "+5", "1++5", "1+-+5", "{$M}", "{#M}", "{HOST.NAME}", "{ITEM.VALUE}", "\"{$M}\"=\"{$M}\"", "\"{HOST.HOST}\"",
    "()", "(1", "1)", "abs()", "abs(())", "abs((1))", "abs(-(1))", "abs(not 1)", "abs(1 and 0)", "max((1,2))", "max(1,(2))",
    "max(1,max(2,3))", "max(1,\"a\"=\"a\")", "length(\"a\"=\"b\")", "concat(1=1,2)", "concat(1.0,2)", "concat(1/3,\"\")",
    "concat(1e20,\"\")", "concat(-1,\"x\")", "concat(1K,\"\")", "concat(0.1+0.2,\"\")", "concat(18446744073709551615,\"\")",
    "concat(18446744073709551616,\"\")", "concat(1e-9,\"\")", "concat(1e15,\"\")", "concat(1e16+0.5,\"\")", "concat(not 1,1)",
    "length(1=1)", "length(1/3)", "length(1e20)", "length(-0)", "left(1/3,4)", "right(12.5,1)", "mid(1K,1,2)", "insert(123,2,1,\"x\")",
    "insert(\"日本\",2,1,\"x\")", "insert(\"日本\",1,0,\"x\")", "insert(\"日本\",3,0,\"x\")", "insert(\"ab\",3,0,\"x\")",
    "insert(\"ab\",2,5,\"x\")", "insert(\"ab\",1.5,1,\"x\")", "insert(\"ab\",\"1\",\"1\",\"x\")", "insert(\"\",1,0,\"x\")",
    "repeat(\"日\",2)", "repeat(\"\",5)", "repeat(\"a\",1.5)", "repeat(\"a\",-1)", "repeat(12,2)", "repeat(\"a\",70000)=\"a\"",
    "length(repeat(\"a\",65535))", "length(repeat(\"a\",65536))", "length(repeat(\"ab\",32768))", "length(repeat(\"日\",30000))",
    "char(0)", "char(127)", "char(128)", "char(255)", "char(1.5)", "char(\"65\")", "char(10)", "ascii(\"é\")", "ascii(5)", "ascii(\"~\")",
    "bytelength(255)", "bytelength(256)", "bytelength(0)", "bytelength(-1)", "bytelength(1.5)", "bytelength(\"255\")",
    "bytelength(65536)", "bytelength(18446744073709551615)", "bytelength(\"1K\")", "bytelength(1K)", "bitlength(255)", "bitlength(256)",
    "bitlength(0)", "bitlength(1)", "bitlength(-1)", "bitlength(\"0\")", "bitlength(18446744073709551615)", "bitlength(\"é\")",
    "date()", "date()=\"x\"", "time()>\"0\"", "dayofweek()>0", "now()>1K", "pi()*1K", "e()^2", "rand()>=0", "time(1)", "now(1)",
    "between(\"1m\",1,100)", "between(60,\"1m\",\"2m\")", "between(\"a\",1,2)", "in(\"1m\",60)", "in(60,\"1m\")", "in(\"60\",60)",
    "in(1,\"a\",1)", "in(\"a\",1,\"a\")", "in(\"\",0)", "in(\"1.0\",1)", "in(\"1.0\",\"1\")", "in(18446744073709551615,18446744073709551614)",
    "mod(18446744073709551615,2)", "mod(\"1m\",7)", "mod(5,0.0000000000001)", "mod(-7,3)", "mod(7,-3)", "mod(1e20,7)", "power(10,400)",
    "power(-8,1/3)", "power(2,0.5)", "power(0,-1)", "power(\"2\",\"3\")", "atan2(\"1\",1)", "atan2(-0,-1)", "exp(710)", "exp(-800)", "log(1e-320)",
    "log10(1K)", "sqrt(\"16\")", "signum(-0)", "signum(0.0000000001)", "asin(1.0000001)", "acos(-1)", "cot(1e-320)", "tan(1.5707963267948966)",
    "jsonpath(\"{\\\"a\\\":[1,2]}\",\"$.a\")", "jsonpath(\"{\\\"a\\\":[1,2]}\",\"$.a[*]\")", "jsonpath(\"{\\\"a\\\":\\\"\\\"}\",\"$.a\")",
    "jsonpath(\"{\\\"a\\\":null}\",\"$.a\")", "jsonpath(\"{\\\"a\\\":null}\",\"$.a\",\"d\")", "jsonpath(\"{\\\"a\\\":1}\",\"$.b\",5)", "jsonpath(5,\"$\")",
    "jsonpath(\"{\\\"a\\\":1}\",\"$.a.length()\")", "jsonpath(\"{}\",\"$.b.length()\",\"d\")", "jsonpath(\"[]\",\"$.sum()\",\"d\")",
    "jsonpath(\"{\\\"a\\\":1}\",\"a\",\"d\")", "jsonpath(\"{\\\"a\\\":1}\",\"$[\",\"d\")", "jsonpath(\"\",\"$.a\",\"d\")", "jsonpath(\"{\\\"a\\\":1.50}\",\"$.a\")",
    "jsonpath(\"{\\\"a\\\":true}\",\"$.a\")", "jsonpath(\"{\\\"a\\\":{\\\"b\\\":1}}\",\"$.a\")", "jsonpath(\"{\\\"a\\\":\\\"x\\\"}\",\"$..a\")",
    "xmlxpath(\"<a><b>1</b><b>2</b></a>\",\"//b\")", "xmlxpath(\"<a><b>1</b></a>\",\"//b/text()\")", "xmlxpath(\"<a>1</a>\",\"//x\",5)",
    "xmlxpath(\"<a>1</a>\",\"count(//x)\",5)", "xmlxpath(\"<a>1</a>\",\"string(//x)\",5)", "xmlxpath(\"<a>x</a>\",\"number(//a)\",5)", "xmlxpath(\"<a\",\"//x\",5)",
    "xmlxpath(\"<a>1</a>\",\"//[\",5)", "xmlxpath(\"<a b='c'/>\",\"//@b\")", "xmlxpath(\"<a>1</a>\",\"boolean(//a)\")", "xmlxpath(\"\",\"//a\",5)",
]
CHAIN = '[{"id":1,"v":"a","n":null,"ok":true},{"id":2,"v":"b","x":[1,2]},{"id":3,"v":"1","id2":3},{"id":"2","v":""},{"v":0}]'
FILTERS = [
    "@.id == 2 == 1", "@.id == 2 == 0", "1 == @.id == 2", "@.id > 1 > 0", "@.id < 2 < 3", "1 < @.id < 3", "@.id != 2 != 1", "@.id == 2 && @.v == 'b'",
    "@.id == 2 || @.id == 3 && @.v == 'x'", "(@.id == 2 || @.id == 3) && @.v == '1'", "!@.id", "!(@.id == 2)", "!@.id == 2", "!!@.id", "@.id", "@.n", "@.ok", "@.v",
    "@.nosuch", "@.nosuch == null", "@.n == null", "@.ok == true", "@.ok == 'true'", "@.id == '2'", "@.id == \"2\"", "@.v == 0", "@.v == ''", "@.v == '0'", "@.v",
    "@.id + 1 == 3", "@.id - 1 == 1", "@.id * 2 == 4", "@.id / 2 == 1", "@.id / 0 == 1", "@.id + 1", "@.id - 1", "-@.id == -2", "@.id == -2", "@.id == +2", "@.id == 2.0",
    "@.id == 2e0", "@.id==2", " @.id == 2 ", "@.id = 2", "@.id === 2", "@.id <> 2", "@.id == @.id2", "@.id == $[1].id", "@['id'] == 2", "@[\"id\"] == 2", "@.x[0] == 1",
    "@.x[1] == 2", "@.x[-1] == 2", "@.x", "@.x.length() == 2", "@.v =~ '^[ab]$'", "@.v =~ \"a|b\"", "@.v =~ '['", "@.v =~ ''", "@.id =~ '2'", "@.v =~ @.v", "@.v =~ 'A'", "@.v =~ '(?i)A'",
    "@.v !~ 'a'", "@", "@ == 1", "$", "$[0].id == 1", "true", "1", "0", "'a'", "''", "1 == 1", "'a' == 'a'", "'a' < 'b'", "@.v < 'b'", "@.v > 'a'", "@.v >= 'a'", "@.id > 'a'", "@.v > 0",
    "@.id > 1 && @.id < 3", "@.id >1&&@.id<3", "@.id > 1 and @.id < 3", "@.id > 1 & @.id < 3", "(@.id) == 2", "((@.id == 2))", "(@.id == 2", "@.id == 2)", "", "==", "@.id ==", "== 2", "@.",
    "@..id", "@.*", "@[*]", "@.id || @.v", "@.nosuch || @.v", "@.nosuch && @.v", "@.id && 0", "@.id && 'x'", "2 == @.id", "'b' == @.v", "@.id + @.id2 == 6", "@.v + 1 == 2", "@.v + 'x' == 'ax'",
    "@.v * 2 == 2", "@.id == 2 + 1", "@.id == (1 + 1)", "@.id * 2 + 1 == 5", "1 + @.id * 2 == 5", "@.id - -1 == 3", "@.id == 1 == 1 == 1", "@.v == 'a' == 1", "@.id > 0 == 1", "@.id2 == @.id == 1",
    "@.id == 2 != 0", "@.id <= 2 >= 1", "1 == 1 == @.id", "@.id == 2 =~ '1'", "@.v =~ 'a' == 1", "@.v =~ 'a' =~ '1'", "!@.id && @.v == 0", "!(@.id)", "!@.nosuch && !@.id", "@.id + 1 > 2 && 1", "@.id.x", "@.x.y", "@.v.x",
]
ODD_PATHS = [
    "$", "$.", "$[", "$]", "$[]", "$[*]", "$.*", "$..*", "$..id", "$..['id']", "$..[0]", "$..x[0]", "$[0]", "$[-1]", "$[-5]", "$[-6]", "$[00]", "$[ 0 ]", "$[0,]", "$[,0]", "$[0,1]", "$[0, 1]", "$[1,0]", "$[0,0]",
    "$[0:]", "$[:2]", "$[:]", "$[1:3]", "$[-2:]", "$[:-2]", "$[3:1]", "$[0:10]", "$[10:]", "$[0:2:1]", "$[::2]", "$['0']", "$[\"0\"]", "$.0", "$[0].id", "$[0]['id']", "$[0].['id']", "$[0].id.", "$[0]..id", "$[0]id",
    "$[0][id]", "$[0].*", "$[0].*~", "$[*].*~", "$[0].id~", "$.~", "$~", "$[0]~", "$[*]~", "$.id~", "$[*].id.sum()", "$[*].id.avg()", "$[*].id.min()", "$[*].id.max()", "$[*].id.first()", "$[*].id.length()", "$.length()",
    "$.first()", "$[0].length()", "$[0].v.length()", "$[0].id.length()", "$[*].first()", "$[9].first()", "$[9].length()", "$[9].sum()", "$.sum()", "$[0].sum()", "$[0].x.sum()", "$[1].x.sum()", "$[1].x.avg()", "$[1].x[*].avg()", "$[1].x.min().x", "$.sum() ",
    "$.nosuch()", "$.sum", "$.length", "$.length().x", "$.length().length()", "$[*].v.sum()", "$[2].v.sum()", "$[*].v.min()", "$..id.sum()", "$..first()", "$..length()", "$.x.y", "$['x','y']", "$[*]['id','v']", "$[*][id,v]", "$[0]['v','id']",
    "$[0]['id', 'v']", "$[0]['nosuch','v']", "$[0][\"v\",'id']", "$['x", "$[\"x']", "$['']", "$[0]['\\\\']", "$['a\\'b']", "@", "@.id", "@[0]", "a", "", " $", "$ ", "$.id ", " $[0]", "$$", "$.a-b", "$.a b", "$.日本", "$.a@b", "$.a$b", "$[0].id,$[1].id",
    "$[?(@.id)].id", "$[?(@.id)]['id']", "$[?(@.id)].id.sum()", "$[?(@.id)].id.first()", "$[?(@.id)].length()", "$[?(@.id)][0]", "$[?(@.id)].*", "$[?(@.id)]~", "$[?(@.id)].id~", "$..[?(@.id==2)]", "$..[?(@.id==2)].v", "$..[?(@==2)]", "$[*][?(@==2)]", "$[0][?(@==1)]",
    "$.?(@.id)", "$[? (@.id)]", "$[?(@.id) ]", "$[ ?(@.id)]", "$[?@.id]", "$[?(@.id]", "$[(@.id)]", "$[(@.length-1)]", "$[?(@.id)].v.first()", "$[?(@.x)].x[0]", "$[?(@.x)].x[*]", "$[?(@.x)].x", "$[?(@.x)].x.length()", "$[?(@.nosuch)]", "$[?(@.nosuch)].length()",
    "$[?(@.nosuch)].first()", "$[?(@.nosuch)].sum()", "$[*].nosuch", "$[*].nosuch.length()", "$[*].nosuch.first()", "$[*].nosuch.avg()", "$[1].x[?(@ > 1)]", "$[1].x[?(@ > 1)].first()", "$[?(@.x[?(@>1)])]", "$[0].n", "$[0].n.x", "$[0].ok", "$[*].n", "$[*].ok", "$[0].n~", "$[4]", "$[4].v",
]
REGEXES = [
    "(?i)ABC", "a(?=b)", "(?<=a)b", "(?<!a)b", "a(?!b)", "(?<n>b)c", "\\Aabc", "abc\\z", "\\bc", "[[:alpha:]]+", "[[:digit:]]+", "\\p{L}+", "\\p{Lu}", "\\X", "\\h+", "\\R", "(?x) a b c", "(?s).+", "(?m)^d", "(a)|(b)", "(a|b)\\1",
    "\\x{65e5}", "\\u0061", "[é]", "é", "É", "(?i)É", "\\w+", "\\W+", ".", "..", "^.$", "(?:ab)+", "a{2}", "a{2,}", "a{,2}", "a{0}", "a*?", "a++", "(?>a+)b", "\\d{2,3}", "\\Q.\\E", "[^a]", "[a-", "(", ")", "*", "a**", "\\", "(?P<x>a)", "(?P=x)", "\\K", "a\\Kb",
    "(?|(a)|(b))", "(?(1)a|b)", "(?R)", "\\g{1}", "(.)\\g1", "(.)\\g{-1}", "\\N", "\\C", "(?#c)a", "\\cA", "\\e", "\\0", "\\o{141}", "\\141", "[\\d-z]", "[[:<:]]a", "(*UCP)\\w+", "(*UTF8)a", "(?U)a+", "(?J)(?<a>x)|(?<a>b)", "$", "^", "^$", "\\Z", "\\G", "(a)(b)(c)", "()", "(a)?b", "(z)?b",
]
SUBJECTS = ["abc", "aab 123", "日本é É", "line1\ndef\nabc", "", "x.y\\z"]
OUTPUTS = ["\\1", "\\0", "[\\1|\\2]", ""]
XML = ("<?xml version=\"1.0\"?><r xmlns:p='urn:p'><a id='1' p:k='n'>x</a><a id='2'>5</a><b><!-- c --><c>2.50</c><c>1e3</c></b><d/><p:e>ns</p:e>"
       "<f> t <g>u</g> v </f><h><![CDATA[<x>&]]></h><i>&lt;é&#x65E5;</i></r>")
XPATHS = [
    "/", "/r", "/r/a", "//a", "//a/text()", "//a[1]", "//a[2]/text()", "//a[last()]", "//a[@id='2']", "//a[@id=2]", "//a/@id", "//@id", "//@*", "//b", "//b/*", "//b/node()", "//comment()", "//d", "//d/text()", "//p:e", "//*[local-name()='e']",
    "//f", "//f/text()", "//h", "//h/text()", "//i", "//i/text()", "string(//i)", "string(//f)", "normalize-space(//f)", "count(//a)", "count(//nosuch)", "sum(//c)", "sum(//a)", "sum(//nosuch)", "number(//c)", "number(//a)", "number(//a[2])", "1 div 3",
    "1 div 0", "-1 div 0", "0 div 0", "10 mod 3", "-5", "2.50", "1e3", "1000000 * 1000000", "1 = 1", "1 = 2", "true()", "false()", "not(//a)", "boolean(//nosuch)", "//a = 'x'", "//a != 'x'", "concat(//a,'-',//c)", "contains(//a,'x')", "starts-with(//a,'y')",
    "substring('abcde',2,3)", "substring('abcde',0)", "substring('日本語',2,1)", "substring-before('a-b','-')", "substring-after('a-b','-')", "string-length('日本')", "translate('abc','ab','xy')", "name(//p:e)", "local-name(//*[3])", "namespace-uri(//*[local-name()='e'])",
    "floor(2.5)", "ceiling(2.5)", "round(2.5)", "round(-2.5)", "position()", "last()", "//a[position()=2]", "//a | //c", "//c | //a", "//a/..", "//a/following-sibling::*", "//c/preceding::a", "//c/ancestor::*", "//c/ancestor-or-self::c", "//a/self::a", "//a/parent::r/@x",
    "id('1')", "lang('en')", "string()", "''", "'a'", "\"it's\"", "0.1 + 0.2", "1 div 7", "123456789012345678", "0.00001", "1e-7", "'5'", "string(1 div 3)", "string(1000000000000000000000)", "//a[", "//", "///a", "a", "./a", "r/a", "@id", "//a[nosuch()]", "nosuch()", "$x", "//a[.='5']",
    "//*[@p:k]", "//*[@id>1]", "//c[.>100]", "//c[. = 2.5]", "sum(//@id)", "//processing-instruction()", "//text()", "/r/*[1]", "/r/*[last()]/text()", "count(//*)", "descendant::c[1]", "//b/c[1]/text()", "/r/b/c", "number('x')", "number('')", "number(' 5 ')", "number(true())", "1 and 0", "1 or 0", "2 > 1 > 0",
]
ELEMENTS = ["<a/>", "<a></a>", "<a> </a>", "<a>1</a>", "<a b='1'/>", "<a b='1'>2</a>", "<a><b/></a>", "<a><b>1</b><b>2</b></a>", "<a><b>1</b><c/><b>2</b></a>", "<a><b x='1'/><b/></a>", "<a>é\"\\</a>", "<a><![CDATA[1<2]]></a>",
            "<a>&amp;</a>", "<a\n>x\ny</a>", "<a:b xmlns:a='u'>1</a:b>", "<a xmlns='u'>1</a>", "<!-- c --><a/>", "<a><?pi x?></a>", "<a>1</a><b/>", " <a/>", "<a", "x", "<a b='&quot;'/>", "<a><b><c><d>1</d></c></b></a>", "<a>\t1\n</a>", "<a><b> </b></a>"]
CSV = ["a,b\n1,2", "a,b\n1", "a,b\n1,2,3", "a,b\n\n1,2", "a,b\n1,2\n\n", "\na,b", "a,a\n1,2", ",\n1,2", "a,\n1,2", "\"a\",\"b\"\n\"1\",\"2\"", "\"a\"\"b\",c\n1,2", "\"a\nb\",c\n1,2", "\"a", "a\"b,c\n1,2", "\"a\"x,b\n1,2",
       "a;b\n1;2", "sep=;\na;b\n1;2", "Sep=;\na;b", "SEP=;\na;b", "sep=\na", "sep=ab\naab", "a\tb\n1\t2", "日,本\n1,2", "a|b\n1|2", "a,b\r\n1,2\r\n", "a,b\r1,2", "", "\n", "\r\n", " a , b \n 1 , 2 ", "a,b\n\"1,2\",3", "a,b\n\"\",\"\"",
       "a,b\n'1','2'", "a,b\n1,\"2", "a,b\n\"1\" ,2", "\"a,b\"\n1", "a日b\n1日2", "a\\b,c\n\\1,2", "a,b\n1,2\n3,4\n5,6"]
CSV_PARAMS = [",\n\"\n1", ",\n\"\n0", "\n\n1", "\n\"\n1", ";\n'\n1", "\t\n\"\n1", "日\n\"\n1", "|\n|\n1", ",\n\n0", ",\n\"", ",", "\\t\n\"\n1", "a\nb\n1", ",\n,\n1", "\"\n\"\n1"]
METRICS = ("# HELP m Some \\\\ help\\n text\n# TYPE m gauge\nm{a=\"x\",b=\"y\"} 1\nm{a=\"x\",b=\"z\"} 2.50 1234567890\nm{a=\"w\"} -Inf\nm{a=\"é\\\"\\\\\\n\"} 1e3\nm 007\n"
           "# TYPE h histogram\nh_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 5\nh_sum 9\nh_count 5\n# TYPE n untyped\nn{} 0x10\nn{a=\"\",} NaN\n o  {  a  =  \"1\"  }  5  \nc:d 6\n_e 7\n")
METRIC_PATTERNS = [
    "m", "m{}", "m{a=\"x\"}", "m{a=\"x\",b=\"y\"}", "m{a=\"x\",}", "m{a=~\"x|w\"}", "m{a=~\"[\"}", "m{a!=\"x\"}", "m{a!~\"x\"}", "m{b=\"\"}", "m{b!=\"\"}", "m{nosuch=\"\"}", "m{nosuch!=\"x\"}", "m{nosuch!~\"x\"}", "m{a=\"é\\\"\\\\\\n\"}", "m == 1", "m==2.5", "m == 2.50",
    "m == 1000", "m == 1e3", "m == -Inf", "m == -inf", "m != 1", "m > 1", "m == 7", "m == 007", "n == NaN", "n == nan", "n", "n == 16", "n == 0x10", "h_bucket{le=\"1\"}", "h_bucket{le=\"+Inf\"}", "h_bucket", "h", "h_sum", "h_count", "o", "c:d", "_e", "{__name__=\"m\"}", "{__name__=~\"h.*\"}", "{__name__!=\"m\"}",
    "{__name__=\"m\",a=\"x\"}", "m{__name__=\"m\"}", "m{__name__=\"n\"}", "{a=\"x\"}", "{a=~\".*\"}", "{}", "", " m ", " m { a = \"x\" } ", "m{a='x'}", "m{a=x}", "m{a=\"x\"", "m{a}", "m{,}", "m{a=\"x\" b=\"y\"}", "m{a=\"x\"}{b=\"y\"}", "1m", "m-n", "m{1a=\"x\"}", "m{a==\"x\"}", "m{a=\"x\"} == 1", "m{a=\"x\"}==2.5 ", "m{a=\"x\"} == ", "m{a=\"x\"} = 1", "m{a=\"x\",b=\"z\"} == 2.5",
]
METRIC_OUTPUTS = ["value\n", "label\na", "label\nb", "label\nnosuch", "label\n__name__", "function\nsum", "function\nmin", "function\nmax", "function\navg", "function\ncount"]
METRIC_LINES = ["m 1", "m 1 ", "m 1 2", "m 1 2 3", "m 1 x", "m 1.5 -5", "m", "m x", "m{", "m{a", "m{a=", "m{a=\"", "m{a=\"x", "m{a=\"x\"", "m{a=\"x\"}", "m{a=\"x\"} 1", "m{a=\"x\"}1", "m {a=\"x\"} 1", "m\t1", "m{a=\"\\x\"} 1", "m{a=\"x\"b=\"y\"} 1", "m{a='x'} 1",
                "m +Inf", "m inf", "m Infinity", "m -infinity", "m +5", "m .5", "m 5.", "m 1e3", "m 1e400", "m 0x1F", "m NAN", "m Nan", "m -NaN", "m 1K", "m 1_0", "# TYPE m", "# TYPE m bad\nm 1", "# TYPE m counter\n# TYPE m gauge\nm 1", "# HELP m\nm 1", "# HELP m a  b\nm 1", "#TYPE m gauge\nm 1", "#\nm 1", "# \nm 1", "m 1\r\nm 2\r\n", "\n\nm 1\n\n",
                "m{} 1", "m{,} 1", "m{a=\"x\",,} 1", "1m 1", "m-n 1", "日 1", "m{日=\"1\"} 1", "m{a=\"1\",a=\"2\"} 1", "m 1 # {x=\"1\"} 2", "# EOF", "m 1\n# EOF"]
WALK = ('.1.3.6.1.2.1.1 = STRING: "a \\"b\\" c"\n.1.3.6.1.2.1.2 = STRING: "line\nnext"\n.1.3.6.1.2.1.3 = Hex-STRING: E6 97 A5 00 \n.1.3.6.1.2.1.4 = Hex-STRING: 07 E8 01 02 03 04 05 06 \n.1.3.6.1.2.1.5 = Hex-STRING: 00 1B 44 11 3A B7\n'
        '.1.3.6.1.2.1.6 = INTEGER: up(1)\n.1.3.6.1.2.1.7 = INTEGER: -5\n.1.3.6.1.2.1.8 = Gauge32: 42 octets\n.1.3.6.1.2.1.9 = Timeticks: (123) 0:00:01.23\n.1.3.6.1.2.1.10 = OID: .1.3.6\n.1.3.6.1.2.1.11 = BITS: 83 01 0 6 7 15\n.1.3.6.1.2.1.12 = ""\n'
        '.1.3.6.1.2.1.13 = Counter64: 18446744073709551615\n.1.3.6.1.2.1.14 = IpAddress: 1.2.3.4\n.1.3.6.1.2.1.15 = Opaque: Float: 1.5\n.1.3.6.1.2.1.16 = NULL\n.1.3.6.1.2.1.17 = Network Address: 0A:00:00:01\n.1.3.6.1.2.1.18 = Hex-STRING: 41 42\n43 44\n.1.3.6.1.2.1.19 = STRING: \n.1.3.6.1.2.1.20.1.2 = STRING: x\n')
OIDS = [".1.3.6.1.2.1.%d" % n for n in range(1, 21)] + ["1.3.6.1.2.1.6", ".1.3.6.1.2.1", ".1.3.6.1.2.1.20.1.2", ".1.3.6.1.2.1.20.1", "iso.3.6.1.2.1.6", ".1.3.6.1.2.1.6.", ".1.3.6.1.2.1.99"]
TABLES = ["{#A}\n.1.3.6.1.2.1\n%d" % n for n in range(4)] + ["{#A}\n.1.3.6.1.2.1.20\n0", "{#A}\n.1.3.6.1.2.1.20.1\n0", "{#A}\n1.3.6.1.2.1\n0\n{#B}\n.1.3.6.1.2.1.20\n0", "{#A}\n.1.3.6.1.2.1.\n0", "A\n.1.3.6.1.2.1\n0", "{#a}\n.1.3.6.1.2.1\n0", "{#A}\n\n0", "{#A}\n.1.3.6.1.2.1\n0\n{#A}\n.1.3.6.1.2.1.20\n0", "{#A}\nx\n0"]
WALKS = ["", "x", ".1.3 = ", ".1.3 =", ".1.3", ".1.3 = STRING", ".1.3 = STRING:", ".1.3 = STRING: x", ".1.3 = 5", ".1.3 = INTEGER: ", ".1.3 = \"x\"", "1.3 = INTEGER: 1", ".1.3 = INTEGER: 1\n\n.1.4 = INTEGER: 2", ".1.3 = INTEGER: 1\r\n", "iso.3 = INTEGER: 1", ".1.3 = No Such Object", ".1.3 = No more variables left in this MIB View (It is past the end of the MIB tree)",
         ".1.3 = Hex-STRING: 4", ".1.3 = Hex-STRING: ZZ", ".1.3 = Hex-STRING: ", ".1.3 = BITS: 80", ".1.3 = BITS: 80 01 02 03 04 05 06 07 08", ".1.3 = STRING: \"unclosed", ".1.3 = STRING: \"a\" b", ".1.3 = STRING: \"\\\\\\x\"", ".1.3 = Wrong Type (should be INTEGER): Gauge32: 5", ".1.3 = Timeticks: 5", ".1.3=INTEGER: 1", ".1.3 = Hex-STRING: C3 A9 0", ".1.3 = STRING: é"]
HEX = ["41 42", "4142", "41 42 00", "00 41", "00", "", "E6 97 A5", "FF FE", "41 4", "0x41", "41  42", " 41", "41 ", "41\n42", "zz", "00 1B 44 11 3A B7", "00:1B", "80 01", "FF FF FF FF FF FF FF FF", "FF FF FF FF FF FF FF FF FF", "01 00", "C3 A9", "C3", "0A", "abcd", "07 E8 01 02"]
SEARCHES = ["a\nb", "a\n", "\nb", "\\n\n,", "\\t\n ", "\\s\n_", "\\\\\n/", "\\\\n\nN", "aa\na", "日\nx", "é\n日", ".\n-", "\\x41\n-", "\\r\n!", " \n", "A\nb", "\"\n'", "a\n\\n", "a\n\\t", "a\n\\s", "a\n\\\\", "b\n\\", "\\\n-", "\\b\n-", "\\0\n-"]
REPLACED_IN = ["banana aaa", "日本é日", "l1\nl2\r\n\tx y", "C:\\new\\\\t \\n", "a.b\"c\""]
TRIMMED = ["a", "ab", "ba", "a-c", "\\s", "\\t", "\\n", "\\r\\n", "\\\\", " ", "日", "é", "\"", "^a", "]", "\\x41", "\\", "0", "1.", "aa", "\\s\\n"]
TRIMMED_IN = ["aabcbaa", " \t\n x \r\n", "日本日", "\\a\\", "001.500", "\"q\"", "aaa", "é日é", "]a^", "-a-c-"]
SCRIPTS = [
    "return value.length", "return value + 1", "return value * 2", "return +value", "return [1,[2,3]]", "return {}", "return []", "return [[]]", "return {toString:function(){return 'x'}}", "return new Date(86400000).toISOString()", "return /日/.test(value)", "return value.charCodeAt(0)", "return value.codePointAt(0)", "return '\\u65e5'",
    "return '\\x00a'", "return 'a\\0b'", "return 0.1*3", "return 1e21", "return 1e20", "return 123456789012345680000", "return 1/3", "return -1/0", "return 100/3", "return 5e-324", "return 1e-7", "return (25).toString(16)", "return parseFloat('1.5x')", "return parseInt('08')", "return Math.round(-0.5)", "return Math.max()", "return function(){}", "return Symbol",
    "let x = 1; return x", "const x = 1; return x", "return (() => 1)()", "return `a${value}`", "class A {}; return 1", "var [a,b] = [1,2]; return a", "return [1,2].includes(1)", "return 'abc'.includes('b')", "return 'abc'.startsWith('a')", "return 'a'.padStart(3,'x')", "return 'ab'.repeat(2)", "return Object.assign({},{a:1})", "return Object.keys({b:1,a:2})", "return Object.values({a:1})",
    "return Object.entries({a:1})", "return Array.from([1])", "return [1,2,3].find(function(x){return x>1})", "return new Map()", "return new Set([1])", "return Promise", "return typeof Promise", "return typeof Map", "return typeof Symbol", "return typeof Uint8Array", "return typeof TextEncoder", "return typeof console", "return typeof setTimeout", "return typeof require", "return typeof process", "return typeof print",
    "return typeof Duktape", "return typeof HttpRequest", "return typeof CurlHttpRequest", "return typeof XML", "return typeof Zabbix", "return typeof Browser", "return typeof sha256", "return typeof sign", "return typeof hmac", "return typeof globalThis", "return typeof BigInt", "return typeof Proxy", "return typeof Reflect", "return typeof performance", "return 2**3", "return [1,2,3,]", "return value[0]", "return value.split('')",
    "return JSON.stringify('é\\u2028')", "return JSON.stringify({a:undefined,b:null,c:NaN})", "return JSON.stringify([1,'a'],null,2)", "return JSON.parse('{')", "return JSON.parse('[1]')[0]", "return eval('1+1')", "return new Function('return 5')()", "return md5('é')", "return sha256('日')", "return md5()", "return md5(5)", "return md5(null)", "return btoa('é')", "return atob('6Q==')", "return btoa('')", "return atob('')",
    "return atob('x')", "return atob('####')", "return hmac('sha256','k','v')", "return hmac('md5','k','v')", "return hmac('sha1','k','v')", "return hmac('sha256','','')", "return hmac('sha256','k')", "return sign('sha256','k','v')", "return encodeURIComponent('é /?&')", "return decodeURIComponent('%E6%97%A5')", "return decodeURIComponent('%')", "return escape('é')", "return unescape('%u65e5')", "return encodeURI('é /?&')",
    "throw 5", "throw 'é'", "throw {a:1}", "throw null", "throw undefined", "throw new TypeError('t')", "undefinedVar", "return undefinedVar", "value = 5; return value", "return arguments.length", "return this", "return typeof this", "'use strict'; x = 1; return x", "return", "", " ", "// c", "return value;}", "}", "return 1; return 2", "return 08", "return 010", "return 0b11", "return 0o17", "return 'a\\\nb'", "return '\\u{1F600}'", "return '😀'.length", "return '😀'",
    "return value.replace(/a/g,'b')", "return value.replace('a','$&$&')", "return value.match(/(?<n>a)/).groups.n", "return value.match(/a/y)", "return /a/u.test('a')", "return /(?<=a)b/.test('ab')", "return /a/s.test('a')", "return 'aXbX'.split(/x/i)", "return [3,20,100].sort()", "return [1,2,3].reverse().join()", "return 'abc'.substr(-2)", "return 'ß'.toUpperCase()", "return 'İ'.toLowerCase().length", "return 'a'.localeCompare('b')",
    "return (1234.5678).toFixed(2)", "return (0.000001234).toString()", "return (1e21).toFixed(2)", "return (12.5).toPrecision(3)", "return (255).toString(2)", "return Number('0x1F')", "return Number('')", "return Number(' 5 ')", "return Number(null)", "return Number('1e3')", "return isNaN('x')", "return Number.isInteger(5)", "return Math.trunc(1.5)", "return Math.sign(-5)", "return Math.log10(1000)", "return Date.UTC(2020,0,1)", "return new Date(NaN).getTime()",
    "return new Date('2020-01-01').getTime()", "return new Date('2020-01-01T00:00:00Z').getTime()", "return new Date('x')+''", "return Date.parse('2020-01-01T00:00:00.5+01:00')", "return XML.query('<a><b>1</b></a>','//b/text()')", "return XML.query('<a/>','//b')", "return XML.query('<a','//b')", "return XML.toJson('<a b=\"1\">2</a>')", "return XML.fromJson('{\"a\":{\"@b\":\"1\",\"#text\":\"2\"}}')", "return XML.fromJson('{\"a\":[1,2]}')", "return XML.fromJson('x')", "return XML.fromJson('{\"a\":null,\"b\":true}')",
    "return String(Symbol)", "return [undefined,null]+''", "return {}+''", "return !!value", "return null+''", "return [,1]", "return new Error('x')", "return new String('s')", "return new Number(5)", "return new Boolean(false)", "return Infinity", "return -0", "return true+true", "return void 0", "return false", "return ''", "return ' '",
]
NUMERIC_TEXTS = ["0", "5", "-5", "1.5", "1e3", "18446744073709551615", "18446744073709551616", "-0", ".5", "5.", "0x1F", "1K", " 5 ", "5x", "", "1,5", "+5", "1e400", "NaN", "007", "9223372036854775808", "0.1", "1e-400", "5\n", "\t5", "é"]
FACTORS = ["2", "0.1", "-1", "1e3", "1K", "0", "0.5", "18446744073709551615", "1e308", " 2", "x", ".5", "1e-3", "{$X}"]
LIMITS = ["1\n10", "\n10", "1\n", "1.5\n1e3", "-5\n-1", "10\n1", "1K\n2K", "0x1\n5", "5\n5", "18446744073709551615\n", "\n-1"]
KINDS = [0, 3, 4]


def step(kind, params, value, value_type=4, handler=0, text="", state=0, **options):
    """Member `data` of a request `item.test`."""
    steps = [{"type": kind, "params": params, "error_handler": handler, "error_handler_params": text}]
    return {"item": {"value_type": value_type, "steps": steps, "value": value},
            "options": {"single": False, "state": state, **options}}


def formulas(rng):
    """Expressions without items."""
    yield from SYNTAX
    for quantile, buckets in itertools.product(QUANTILES, BUCKETS):
        if quantile in QUANTILES[1:3] or rng.random() < 0.3:
            yield "histogram_quantile(%s,%s)" % (quantile, buckets)
    for one in LITERALS:
        yield one
        yield "-" + one
        yield "not " + one
        for operator in COMPARED * 2 + COMPUTED:
            yield one + operator + rng.choice(LITERALS)
    for one, other in itertools.combinations(['"1m"', '"60"', "60", "1m", '"1K"', "1024", '"a"', '"1.0"', "1", '"+1"', '"0x1"', '" 1"', '"1e0"'], 2):
        yield one + "=" + other
    for name in ("bitand", "bitor", "bitxor", "bitlshift", "bitrshift"):
        for one in BITS:
            for _ in range(2):
                yield "%s(%s,%s)" % (name, *rng.sample([one, rng.choice(BITS)], 2))
    for name, one in itertools.product(("round", "truncate"), ROUNDED):
        for digits in rng.sample(DIGITS, 3):
            yield "%s(%s,%s)" % (name, one, digits)
    for name, word in itertools.product(ONE_TEXT, WORDS):
        yield "%s(%s)" % (name, word)
    for name, word in itertools.product(("left", "right", "repeat"), WORDS):
        yield "%s(%s,%s)" % (name, word, rng.choice(PLACES[:4]))
        yield "%s(%s,%s)" % (name, word, rng.choice(PLACES[6:]))
    for word in WORDS:
        for _ in range(4):
            yield "mid(%s,%s,%s)" % (word, rng.choice(PLACES), rng.choice(PLACES))
            yield 'insert(%s,%s,%s,"é")' % (word, rng.choice(PLACES), rng.choice(PLACES))
    for name, word in itertools.product(NUMERIC, OPERANDS):
        yield "%s(%s)" % (name, word)
    for name, values in itertools.product(OVER, SETS):
        yield "%s(%s)" % (name, values)
    for name, (word, letters) in itertools.product(("trim", "ltrim", "rtrim"), TRIM):
        yield "%s(%s,%s)" % (name, word, letters)
    for three in REPLACED:
        yield "replace(%s,%s,%s)" % three


def steps(rng):
    """Members `data` of requests `item.test` that run steps."""
    for text in FILTERS:
        yield step(12, "$[?(%s)]" % text, CHAIN)
    for path in ODD_PATHS:
        yield step(12, path, CHAIN)
    for pattern in REGEXES:
        for subject in rng.sample(SUBJECTS, 3):
            yield step(5, pattern + "\n" + rng.choice(OUTPUTS), subject)
            yield step(14, pattern, subject)
    for path in XPATHS:
        yield step(11, path, XML)
    for text in ELEMENTS:
        yield step(27, "", text)
    for text in CSV:
        yield step(24, CSV_PARAMS[0], text)
        yield step(24, rng.choice(CSV_PARAMS[1:5]), text)
        yield step(24, rng.choice(CSV_PARAMS), text)
    for pattern in METRIC_PATTERNS:
        yield step(22, pattern + "\n" + rng.choice(METRIC_OUTPUTS[:5]), METRICS)
        yield step(22, pattern + "\n" + rng.choice(METRIC_OUTPUTS[5:]), METRICS)
        yield step(23, pattern, METRICS)
    for text in METRIC_LINES:
        yield step(22, "m\nvalue\n", text)
        yield step(23, "", text)
        yield step(23, "m", text)
    for oid, form in itertools.product(OIDS, "0123"):
        yield step(28, oid + "\n" + form, WALK)
    for text, form in itertools.product(WALKS, "03"):
        yield step(28, ".1.3\n" + form, text)
        yield step(29, "{#A}\n.1\n" + form, text)
    for params in TABLES:
        yield step(29, params, WALK)
    for text, form in itertools.product(HEX, "123"):
        yield step(30, form, text)
    for params, text in itertools.product(SEARCHES, REPLACED_IN):
        yield step(25, params, text)
    for kind, params in itertools.product((2, 3, 4), TRIMMED):
        for text in rng.sample(TRIMMED_IN, 3):
            yield step(kind, params, text)
    for text in SCRIPTS:
        yield step(21, text, rng.choice(["abc", "日本", "5", ""]))
    for text in NUMERIC_TEXTS:
        for kind in KINDS:
            yield step(1, rng.choice(FACTORS), text, kind)
            yield step(13, rng.choice(LIMITS), text, kind)
            yield step(rng.choice((6, 7, 8)), "", text, kind)
            history = {"value": rng.choice(NUMERIC_TEXTS), "timestamp": "now-10s"}
            yield step(rng.choice((9, 10)), "", text, kind, history=history)
    yield from refusals()


def refusals():
    """Values that were refused, and what a step makes of that."""
    for params in ("-1", "", "0\ntime", "1\ntime", "0\n(\\w+) out", "0\n^$"):
        for handler, text in ((0, ""), (1, ""), (2, "set"), (3, "error"), (2, "\\1"), (3, "\\1"), (3, "\\0")):
            for error in ("timed out", ""):
                yield step(26, params, "value", 4, handler, text, state=1, runtime_error=error)
                yield step(26, params, error, 4, handler, text, state=1)
            yield step(26, params, "value", 4, handler, text, runtime_error="timed out")
