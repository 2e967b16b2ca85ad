"""Expressions that an API is to take or to refuse: each function with its parameters, right and
wrong ones, references to what is there and what is not."""

FLOAT, CHAR, LOG, UNSIGNED, TEXT = 0, 1, 2, 3, 4
ITEMS = [("f", FLOAT), ("u", UNSIGNED), ("c", CHAR), ("l", LOG), ("t", TEXT), ("k[a,\"b c\"]", FLOAT)]
PROTOTYPES = [("p[{#A}]", FLOAT), ("q[{#A}]", TEXT)]

#: Calls over /C/f alone, in triggers and in formulas.
CALLS = """
last(/C/f) last(/C/f,#2) last(/C/f,5m) last(/C/f,#0) last(/C/f,#1:now-1h) last(/C/f,0) last(/C/f,"") last(/C/f,#1,1)
first(/C/f,5m) first(/C/f,#5) first(/C/f) first(/C/f,1h:now/h)
avg(/C/f,5m) avg(/C/f,#5) avg(/C/f) avg(/C/f,) avg(/C/f,0) avg(/C/f,-1) avg(/C/f,1h,2) avg(/C/f,1h:now-1d) avg(/C/t,5m)
avg(/C/f,1h:now/x) avg(/C/f,5x) avg(/C/f,1.5h) avg(/C/f,{$P}) avg(/C/f,#{$P}) avg(/C/f,{$P}:now-{$S}) avg(/C/f,"5m")
avg(/C/f,1h:later) avg(/C/f,1M) avg(/C/f,1y) avg(/C/f,100000w) avg(/C/c,5m) avg(/C/l,5m) avg(/C/u,5m)
min(/C/f,5m) max(/C/t,5m) sum(/C/f,5m) kurtosis(/C/f,5m) mad(/C/f,5m) skewness(/C/f) stddevpop(/C/t,5m) varsamp(/C/f,#3)
count(/C/f,5m) count(/C/f) count(/C/f,5m,"gt",1) count(/C/f,5m,"xx",1) count(/C/f,5m,gt,1) count(/C/t,5m,"like","a")
count(/C/f,5m,,1) count(/C/f,5m,"regexp","(") count(/C/f,5m,"gt") count(/C/f,5m,"gt",1,1) count(/C/f,5m,"bitand","6/x")
countunique(/C/t,5m) countunique(/C/f) countunique(/C/f,5m,"eq",1) countunique(/C/f,5m,"xx",1)
changecount(/C/t,5m) changecount(/C/f,5m,"inc") changecount(/C/f,5m,"up") changecount(/C/f)
change(/C/f) change(/C/t) change(/C/f,1) find(/C/t,5m,"like","a") find(/C/t) find(/C/t,,"like","a") find(/C/t,5m,"bad","a")
find(/C/f,5m,"like","a") find(/C/t,#5,"iregexp","^a") find(/C/t,5m,"like","a",1)
nodata(/C/f,5m) nodata(/C/f,10s) nodata(/C/f,30s) nodata(/C/f) nodata(/C/f,0) nodata(/C/f,5m,"strict") nodata(/C/f,5m,"x")
nodata(/C/f,#5) nodata(/C/f,5m:now-1h) nodata(/C/f,{$P}) fuzzytime(/C/f,1m) fuzzytime(/C/f) fuzzytime(/C/t,1m) fuzzytime(/C/f,0)
fuzzytime(/C/f,#3) fuzzytime(/C/f,1y)
percentile(/C/f,5m,95) percentile(/C/f,5m) percentile(/C/f,5m,101) percentile(/C/f,5m,-1) percentile(/C/f,5m,{$P}) percentile(/C/t,5m,5)
monoinc(/C/f,5m) monoinc(/C/f,5m,"weak") monodec(/C/f,5m,"strict") monodec(/C/f,5m,"x") monoinc(/C/t,5m) monoinc(/C/f)
rate(/C/f,5m) rate(/C/f,#5) rate(/C/f) rate(/C/t,5m) rate(/C/f,5m,1)
forecast(/C/f,5m,1h) forecast(/C/f,5m) forecast(/C/f,5m,1h,"linear","max") forecast(/C/f,5m,1h,"x") forecast(/C/f,5m,1h,"linear","x")
forecast(/C/f,5m,-1h) forecast(/C/f,#5,0) forecast(/C/f,5m,1h,"polynomial6") forecast(/C/f,5m,1h,"polynomial7") forecast(/C/f,5m,1h,,"avg")
forecast(/C/t,5m,1h) forecast(/C/f,5m,1h,"") timeleft(/C/f,5m,100) timeleft(/C/f,5m) timeleft(/C/f,5m,1K) timeleft(/C/f,5m,x)
timeleft(/C/f,5m,1,"power") timeleft(/C/f,5m,1,"power","avg") timeleft(/C/f,5m,-5)
bitand(/C/u,#1,7) bitand(/C/u,,7) bitand(/C/u,#1) bitand(/C/t,#1,7) bitand(last(/C/u),7) bitand(last(/C/u)) bitand(last(/C/u),7,8)
logeventid(/C/l) logeventid(/C/l,#1,"x") logeventid(/C/f) logseverity(/C/l) logseverity(/C/t) logsource(/C/l,,"a") logsource(/C/l,5m,"a")
logsource(/C/l,#1:now-1h,"a") logseverity(/C/l,#3) logseverity(/C/l,#1,1)
trendavg(/C/f,1h:now/h) trendavg(/C/f,1h) trendavg(/C/f) trendavg(/C/t,1h:now/h) trendavg(/C/f,1M:now/M) trendavg(/C/f,1h:now/M)
trendavg(/C/f,30m:now/h) trendavg(/C/f,1h:now-1h) trendavg(/C/f,1h:now/h,1) trendcount(/C/f,1d:now/d) trendmax(/C/f,1w:now/w) trendmin(/C/f,1y:now/y)
trendsum(/C/f,2y:now/y) trendsum(/C/f,#1:now/h) trendavg(/C/f,1h:now/h-1h) trendavg(/C/f,1h:{$P}) trendavg(/C/f,1d:now/h)
baselinewma(/C/f,1h:now/h,"d",3) baselinewma(/C/f,1h:now/h,"d") baselinewma(/C/f,1h:now/h,"x",3) baselinewma(/C/f,1h:now/h,"d",0)
baselinewma(/C/f,1h:now/h,"h",3) baselinedev(/C/f,1d:now/d,"M",6) baselinedev(/C/f,1d:now/d,"h",6) baselinedev(/C/f,1d:now/d,M,6)
baselinedev(/C/f,1h:now/h,"d",{$P}) baselinedev(/C/t,1h:now/h,"d",3) baselinewma(/C/f,1h,"d",3) baselinewma(/C/f,1h:now/h,"d",1.5)
trendstl(/C/f,100h:now/h,10h,2h) trendstl(/C/f,100h:now/h,10h) trendstl(/C/f,100h:now/h) trendstl(/C/f,100h:now/h,10h,2h,2,"mad",7)
trendstl(/C/f,100h:now/h,10h,2h,0) trendstl(/C/f,100h:now/h,10h,2h,,"x") trendstl(/C/f,100h:now/h,30m,2h) trendstl(/C/f,100h:now/h,10h,90m)
trendstl(/C/f,100h:now/h,10h,2h,2,"stddevsamp",6) trendstl(/C/f,100h:now/h,10h,2h,2,"stddevpop","8") trendstl(/C/f,100h:now/h,200h,2h)
nosuch(/C/f) nosuch(/C/f,5m) lastclock(/C/f) logtimestamp(/C/l) last(/C/nosuch) last(/nosuch/f) last(//f) last(/C/k[a,"b\u0020c"]) last(/C/k[a,b])
LAST(/C/f) last(/C/f last(/C/f)) last(C/f) last(/C) last(/C/) last(/C/f[) abs(/C/f) length(/C/t) date(/C/f)
""".split()

#: Whole expressions.
WHOLE = [
    "last(/C/f)>1", "last(/C/f)>1 and", "last(/C/f) > {$M}", "last(/C/f)>{$M:\"x\"}", "{$M}>1", "1=1", "last(/C/f)>\"a\"",
    "last(/C/f)>{#A}", "last(/C/f)>{TRIGGER.VALUE}", "{TRIGGER.VALUE}=0 and last(/C/f)>1", "last(/C/f)>{HOST.HOST}",
    "last(/C/f)>{ITEM.VALUE}", "last(/C/f)>5m", "last(/C/f)>5x", "last(/C/f)>1K", "last(/C/f)>1e3", "last(/C/f)>.5",
    "abs(last(/C/f))>1", "abs(last(/C/f),1)>1", "abs()>last(/C/f)", "nosuch(last(/C/f))>1", "max(last(/C/f),1,2)>1",
    "max()+last(/C/f)", "concat(last(/C/t),\"x\")=\"x\"", "concat(last(/C/t))=\"x\"", "jsonpath(last(/C/t),\"$.a\")=1",
    "jsonpath(last(/C/t),\"$[\")=1", "xmlxpath(last(/C/t),\"/a\")=1", "between(last(/C/f),1,2)=1", "between(last(/C/f),1)=1",
    "in(last(/C/f),1,2)=1", "in(last(/C/f))=1", "date()>1 and last(/C/f)>1", "date(1)>1 and last(/C/f)>1", "now()>last(/C/f)",
    "rand()>last(/C/f)", "pi()>last(/C/f)", "power(last(/C/f),2)>1", "round(last(/C/f),2)>1", "round(last(/C/f))>1",
    "histogram_quantile(0.5,1,last(/C/f),2,3)>1", "count(last(/C/f))>1", "count(last(/C/f),\"gt\",1)>1",
    "item_count(/*/f)>1", "item_count(/C/*)>1", "sum(last_foreach(/*/f))>1", "sum(last_foreach(/C/k[*]))>1", "last_foreach(/*/f)>1",
    "avg(avg_foreach(/*/f?[group=\"g\"],5m))>1", "avg(avg_foreach(/*/f?[group=\"g\"]))>1", "avg(avg_foreach(/*/f?[group=g],5m))>1",
    "count(exists_foreach(/*/f))>1", "sum(exists_foreach(/*/f,5m))>1", "sum(count_foreach(/*/f,5m,\"gt\",1))>1",
    "sum(count_foreach(/*/f,5m,\"xx\",1))>1", "sum(max_foreach(/*/f,#5))>1", "sum(last_foreach(/*/f,#2))>1", "sum(nosuch_foreach(/*/f))>1",
    "sum(last_foreach(/*/*))>1", "sum(last_foreach(/*/f?[tag=\"a:b\" and group=\"g\"]))>1", "sum(last_foreach(/*/f?[tag=\"a\" or]))>1",
    "abs(last_foreach(/*/f))>1", "concat(last_foreach(/*/f),1)>1", "min(last_foreach(/*/f),1)>1", "kurtosis(last_foreach(/*/f))>1",
    "histogram_quantile(0.5,bucket_rate_foreach(/*/k[*],5m))>1", "histogram_quantile(0.5,bucket_rate_foreach(/*/k[*],5m,1))>1",
    "histogram_quantile(2,bucket_rate_foreach(/*/k[*],5m))>1", "bucket_percentile(/*/k[*],5m,90)>1", "bucket_percentile(/*/k[*],5m)>1",
    "bucket_percentile(/*/k[*],5m,101)>1", "sum(bucket_rate_foreach(/*/k[*],5m))>1", "last(/*/f)>1", "avg(/*/k[*],5m)>1", "last(/C/f?[group=\"g\"])>1",
    "not last(/C/f)", "not not last(/C/f)", "- last(/C/f)>1", "--last(/C/f)>1", "last(/C/f)>-1", "last(/C/f)- -1>1",
    "last(/C/f)=not 1", "(last(/C/f)>1)", "((last(/C/f)>1)", "last(/C/f)>1)", "last(/C/f)>1 or1", "last(/C/f)>1 OR 1", "", " ", "5",
    "last(/C/f) 5", "last(/C/f)!=1", "last(/C/f)==1", "last(/C/f)<>1", "last(/C/f)>=1", "last(/C/f)=>1", "last(/C/f)&1",
    "last(/C/f)/0>1", "1/0>last(/C/f)", "\"a\"+last(/C/f)>1", "last(/C/t)=\"x\"", "last(/C/t)=\"x", "last(/C/t)=\"\\x\"",
    "last(/C/t)=\"\\\"\"", "{1}>1", "{$}>last(/C/f)", "{$m}>last(/C/f)", "last(/C/f)>{{$M}.regsub(\"(a)\",\\1)}",
    "last(/C/f)>{{#A}.regsub(\"(a)\",\\1)}", "last(/C/p[{#A}])>1", "last(/C/p[{#A}],{#B})>1", "last(/C/p[{#A}],#{#B})>1",
    "last(/C/q[{#A}])=\"x\"", "avg(/C/q[{#A}],5m)>1", "avg(/C/p[{#A}],{#B})>1", "avg(/C/p[{#A}],{$P:\"{#B}\"})>1",
    "last(/C/p[{#A}])>{#B}", "last(/C/p[{#A}])>{{#B}.regsub(\"(a)\",\\1)}", "last(/C/p[{#B}])>1", "last(/C/p[{#A}])>1 and last(/C/f)>1",
    "nosuch(/C/p[{#A}])", "last(/{HOST.HOST}/f)>1", "last(/{HOST.HOST2}/f)>1", "last(/C/rule)>1", "find(/C/p[{#A}],,\"like\",\"{#B}\")=1",
    "avg(/C/f,\"{$P}\")>1", "count(/C/f,\"5m\",\"gt\",1)>1", "forecast(/C/f,5m,\"1h\")>1", "percentile(/C/f,5m,\"95\")>1",
    "baselinedev(/C/f,1d:now/d,\"w\",\"6\")>1", "trendavg(/C/f,\"1h:now/h\")>1", "nodata(/C/f,\"5m\")=1", "fuzzytime(/C/f,\"1m\")=1",
    "last(/C/f,\"#1\")>1", "last(/C/f,)>1", "find(/C/t,,,\"a\")=1", "count(/C/t,5m,\"{$P}\",\"a\")>1", "count(/C/t,5m,{$P},\"a\")>1",
    "trendavg(/C/f,13M:now/M)>1", "trendavg(/C/f,8785h:now/h)>1", "trendavg(/C/f,1s:now/h)>1", "baselinewma(/C/f,1h:now/h,\"m\",3)>1",
    "kurtosis(last(/C/f))>1", "kurtosis(1,2)>1", "stddevpop(1)>1", "mad(1,2,3)>1", "sum(1,2,3)>1", "avg(last(/C/f),2)>1", "count(1)>1",
    "histogram_quantile(0.5,1,1,2,2)>1", "histogram_quantile(0.5)>1", "histogram_quantile({$Q},bucket_rate_foreach(/*/k[*],5m))>1",
    "count(last_foreach(/*/f),\"gt\",1)>1", "count(last_foreach(/*/f),\"xx\",1)>1", "count(last_foreach(/*/f),\"gt\",1,2)>1",
    "count(last_foreach(/*/f),{$Q},1)>1", "count(last_foreach(/*/f),last(/C/t),1)>1", "item_count(/*/f,5m)>1", "item_count(/*/f?[tag=\"a\"])>1",
    "max(item_count(/*/f),2)>1", "sum(item_count(/*/f))>1", "count(bucket_rate_foreach(/*/k[*],5m))>1", "count(count_foreach(/*/f,5m))>1",
    "count(exists_foreach(/*/f),\"gt\",1)>1", "avg(exists_foreach(/*/f))>1", "sum(count_foreach(/*/f,5m,\"gt\",1,2))>1",
    "sum(count_foreach(/*/f))>1", "sum(last_foreach(/*/f,5m))>1", "sum(last_foreach(/*/f,\"5m\"))>1", "sum(last_foreach(/*/f,{$P}))>1",
    "sum(avg_foreach(/*/f,5m:now-1h))>1", "sum(avg_foreach(/*/f,0))>1", "sum(avg_foreach(/C/f,5m))>1", "sum(avg_foreach(//k[*],5m))>1",
    "sum(avg_foreach(/{HOST.HOST}/k[*],5m))>1", "sum(bucket_rate_foreach(/*/k[*],5m,1))>1", "sum(sum_foreach(/*/f,1h),sum_foreach(/*/u,1h))>1",
    "histogram_quantile(0.5,bucket_rate_foreach(/*/k[*],5m),1)>1", "histogram_quantile(0.5,bucket_rate_foreach(/*/k[*],5m,0))>1",
    "bucket_percentile(/*/k[*],5m,{$Q})>1", "bucket_percentile(/*/k[*],5m,\"90\")>1", "bucket_percentile(/*/k[*],#5,90)>1",
    "bucket_percentile(/*/k[*],5m,90,1)>1", "histogram_quantile(0.5,bucket_rate_foreach(/*/k[*],5m,x))>1", "trendavg(/*/f,1h:now/h)>1",
    "max(avg_foreach(/*/f,5m))-min(avg_foreach(/*/f,5m))", "round(avg(avg_foreach(/*/f,5m)),2)", "100*sum(last_foreach(/*/k[*,\"b c\"]))",
    "sum(last_foreach(/*/f?[group={$G}]))", "sum(last_foreach(/*/f?[group=\"{$G}\"]))", "sum(last_foreach(/*/f?[group={#G}]))",
    "last(/C/f)>{$P:regex:\"a\"}", "last(//nosuch)", "last(//f,5m)", "last({HOST.HOST}/f)", "change(//t)>\"a\"", "-{$M}", "{$M}", "not {$M}",
    "timeleft(/C/p[{#A}],{#B},{#B})>1", "count(/C/p[{#A}],5m,\"{#B}\",1)>1",
]


def cases():
    """(kind, text)"""
    for text in CALLS:
        text = text.replace("\\u0020", " ")
        yield "trigger", text + ">0"
        yield "formula", text
    for text in WHOLE:
        for kind in ("trigger", "formula", "formula prototype"):
            yield kind, text
        yield "prototype", text.replace("/C/f", "/C/p[{#A}]")
    for text in WHOLE[::7]:
        yield "recovery", text
