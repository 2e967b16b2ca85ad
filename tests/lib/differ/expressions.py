"""Expressions without items: operators, functions, literals, right and wrong ones."""

NUMBERS = ["0", "1", "2", "3", "-1", "0.5", "2.5", "10", "100", "1e3", ".5", "1K", "2m", "1h", "1.5d", "1w", "1M",
           "1T", "7", "14", "255", "18446744073709551615", "9007199254740993", "1e-5", "0.1", "3.7", "-2.5", "1e308"]
STRINGS = ['""', '"a"', '"abc"', '"1"', '"1.0"', '"2K"', '"Zabbix"', '"Заббикс"', '" padded "', '"a\\"b"', '"\\\\"',
           '"12ab"', '"-3"', '"x,y"', '"日本"', '"1e3"', '"<b>&"', '"aGVsbG8="', '"a=b&c"', '"{$NO}"', '"0"']
BINARY = ["+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", " and ", " or ", " = ", " + "]
#: Functions and what their arguments are: n number, s text, v number or text; + repeats the last.
FUNCTIONS = {
    "abs": "n", "acos": "n", "ascii": "s", "asin": "n", "atan": "n", "atan2": "nn", "avg": "n+", "between": "nnn",
    "bitand": "nn", "bitlshift": "nn", "bitnot": "n", "bitor": "nn", "bitrshift": "nn", "bitxor": "nn",
    "bitlength": "s", "bytelength": "v", "cbrt": "n", "ceil": "n", "char": "n", "concat": "vv+", "cos": "n",
    "cosh": "n", "cot": "n", "degrees": "n", "e": "", "exp": "n", "expm1": "n", "floor": "n", "in": "vv+",
    "insert": "snns", "kurtosis": "n+", "left": "sn", "length": "v", "log": "n", "log10": "n", "ltrim": "ss",
    "mad": "n+", "max": "n+", "mid": "snn", "min": "n+", "mod": "nn", "pi": "", "power": "nn", "radians": "n",
    "repeat": "sn", "replace": "sss", "right": "sn", "round": "nn", "rtrim": "ss", "signum": "n", "sin": "n",
    "sinh": "n", "skewness": "n+", "sqrt": "n", "stddevpop": "n+", "stddevsamp": "n+", "sum": "n+",
    "sumofsquares": "n+", "tan": "n", "trim": "ss", "truncate": "nn", "varpop": "n+", "varsamp": "n+",
    "histogram_quantile": "nnnnn", "count": "n+", "jsonpath": "ss", "xmlxpath": "ss", "date": "", "dayofweek": "",
    "dayofmonth": "", "nosuch": "n", "last": "n", "find": "sss",
}
SPECIAL = [
    "1 +", "", " ", "(", "1)", "((1)", "not", "not 1", "not not 0", "--1", "- 1", "1 - -1", "1 = 1 = 1", "1<2<3",
    "2*3+4*5", "2+3*4-1", "10/4/5", "1 or 1/0", "0 and 1/0", "1/0 or 1", "1 and not 0", "not (1 and 0)", "1and 1",
    "1 and1", "1or 0", "(1)and(0)", "2 > 1 and 3 > 2 or 0", "\"a\"=\"a\" and 1", "\"a\"<>\"b\"", "\"a\" < \"b\"",
    "\"10\" = 10", "\"10.0\" = 10", "\"abc\" = 0", "1 + \"2\"", "1 + \"x\"", "\"x\" and 1", "{#LLD}", "{$M} + 1",
    "1 # 2", "1;2", "1,2", "abs(1", "abs(1,)", "abs(,1)", "max()", "sum(1,)", "in()", "in(1)", "e", "pi()", "pi(1)",
    "e() = 2.718281828459045", "1=1.0000000000001", "1=1.000001", "0.1+0.2=0.3", "0.1+0.2<>0.3", "1e400", "1e-400",
    "1KK", "1k", "1 K", "5s", "5ss", "-5s", "- 5s", "1.5K", "0x10", "1.2.3", "1.", ".", "1e", "1e+", "\"unclosed",
    "\"a\" \"b\"", "1 2", "between(5,1,10)", "between(\"5\",1,10)", "between(\"b\",\"a\",\"c\")", "in(\"a\",\"b\",\"a\")",
    "histogram_quantile(0.5,1,10,2,20,\"+Inf\",30)", "histogram_quantile(0.9,1,10,2,20)", "not -1", "-not 1",
    "histogram_quantile(1.5,1,10,\"+Inf\",30)", "histogram_quantile(0.5,1,0,\"+Inf\",0)", "1 AND 1", "NOT 1", "1 Or 0",
    "insert(\"abcd\",2,1,\"X\")", "insert(\"abcd\",0,1,\"X\")", "insert(\"abcd\",5,1,\"X\")", "insert(\"abcd\",1,9,\"X\")",
    "replace(\"aaa\",\"a\",\"b\")", "replace(\"aaa\",\"\",\"b\")", "repeat(\"ab\",3)", "repeat(\"ab\",0)", "char(65)",
    "char(256)", "char(-1)", "ascii(\"A\")", "ascii(\"\")", "ascii(\"日\")", "bitlength(\"日\")", "bytelength(\"日\")",
    "bytelength(\"\")", "bytelength(123456)", "bytelength(300)", "length(\"日本\")", "length(12.50)", "mid(\"abc\",0,1)",
    "mid(\"abc\",4,1)", "mid(\"abc\",2,9)", "left(\"日本\",1)", "right(\"日本\",1)", "left(\"abc\",-1)", "round(2.5,0)",
    "round(-2.5,0)", "round(0.5,0)", "round(1.005,2)", "truncate(-2.57,1)", "ceil(-0.5)", "floor(-0.5)", "mod(5,0)",
    "mod(-5,3)", "mod(5.5,2)", "power(2,-1)", "power(-1,0.5)", "power(0,0)", "sqrt(-1)", "log(0)", "log(-1)", "exp(1000)",
    "cot(0)", "acos(2)", "atan2(0,0)", "atan2(1,0)", "bitand(1.5,1)", "bitand(-1,1)", "bitand(\"3\",1)", "bitlshift(1,63)",
    "bitlshift(1,64)", "bitlshift(1,-1)", "bitrshift(255,4)", "bitnot(0)", "signum(\"x\")", "jsonpath(\"{\\\"a\\\":1}\",\"$.a\")",
    "jsonpath(\"{\\\"a\\\":1}\",\"$.b\")", "jsonpath(\"{\\\"a\\\":1}\",\"$.b\",\"def\")", "jsonpath(\"x\",\"$.b\",\"def\")",
    "xmlxpath(\"<a>1</a>\",\"/a\")", "xmlxpath(\"<a>1</a>\",\"/b\")", "xmlxpath(\"<a>1</a>\",\"/b\",\"def\")",
    "xmlxpath(\"<a>1</a>\",\"number(/a)\")", "ltrim(\"  a\")", "rtrim(\"a  \")", "trim(\" a \")", "trim(\"xax\",\"x\")",
    "ltrim(\"\\t\\na\")", "concat(\"a\",1,2.5)", "concat(1K,2)", "concat(\"a\")", "min(\"1\",2)", "min(\"a\",2)", "max(1)",
    "sum(1,2,\"x\")", "avg(1,2,3,4)", "mad(1,2,3,4,100)", "kurtosis(1,2,3,4)", "skewness(1,2,3,9)", "varsamp(1)",
    "stddevsamp(1)", "kurtosis(1)", "kurtosis(2,2,2)", "stddevpop(5)", "sumofsquares(1,2,3)", "count(1,2,3)", "1=\"1\"",
    "date() > 20200101", "dayofweek() < 8", "dayofmonth() < 32", "time() >= 0", "now() > 1600000000", "rand() >= 0",
    "now()-now()", "date(1)", "dayofmonth", "secret()", "last(/host/key)", "count(/h/k,5m)", "(1)(2)", "1()", "abs (1)",
    "abs( 1 )", "max(1 , 2)", "1\n+\n1", "\t1", "1 ", "+1", "1 + + 1", "!1", "1 != 2", "1 == 1", "1 >= = 1", "1 => 1",
]


def _argument(rng, kind, depth):
    if depth > 0 and rng.random() < 0.25:
        return expression(rng, depth - 1)
    if rng.random() < 0.06:
        kind = "s" if kind == "n" else "n"
    if kind == "v":
        kind = rng.choice("ns")
    return rng.choice(NUMBERS if kind == "n" else STRINGS)


def _call(rng, depth):
    name = rng.choice(sorted(FUNCTIONS))
    kinds = FUNCTIONS[name]
    if kinds.endswith("+"):
        kinds = kinds[:-1] + kinds[-2] * rng.randint(0, 4)
    if rng.random() < 0.05:
        kinds = kinds + "n" if rng.random() < 0.5 else kinds[:-1]
    return "%s(%s)" % (name, rng.choice([",", ", "]).join(_argument(rng, kind, depth) for kind in kinds))


def expression(rng, depth=3):
    """A random expression, mostly a right one."""
    die = rng.random()
    if depth == 0 or die < 0.15:
        return rng.choice(NUMBERS if rng.random() < 0.85 else STRINGS)
    if die < 0.55:
        return expression(rng, depth - 1) + rng.choice(BINARY) + expression(rng, depth - 1)
    if die < 0.63:
        return "(" + expression(rng, depth - 1) + ")"
    if die < 0.68:
        return rng.choice(["not ", "-", "not not "]) + expression(rng, depth - 1)
    return _call(rng, depth - 1)


def cases(rng, count):
    """Texts of expressions, the special ones first."""
    yield from SPECIAL
    for name in sorted(FUNCTIONS):
        kinds = FUNCTIONS[name].rstrip("+")
        for _ in range(5):
            yield "%s(%s)" % (name, ",".join(_argument(rng, kind, 0) for kind in kinds))
    for _ in range(count):
        yield expression(rng)
