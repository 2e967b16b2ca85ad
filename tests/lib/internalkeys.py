"""Internal items, good and bad: keys that a server 7.0 and Vedette have to accept or refuse alike."""

PLAIN = ("boottime", "connector_queue", "discovery_queue", "hosts", "items", "items_unsupported", "lld_queue",
         "preprocessing", "preprocessing_queue", "requiredperformance", "triggers", "uptime", "version")
PROCESSES = (
    "agent poller", "alert manager", "alert syncer", "alerter", "availability manager", "browser poller",
    "configuration syncer", "configuration syncer worker", "connector manager", "connector worker",
    "discovery manager", "discovery worker", "escalator", "ha manager", "history poller", "history syncer",
    "housekeeper", "http agent poller", "http poller", "icmp pinger", "internal poller", "ipmi manager",
    "ipmi poller", "java poller", "lld manager", "lld worker", "odbc poller", "poller", "preprocessing manager",
    "preprocessing worker", "proxy group manager", "proxy poller", "report manager", "report writer",
    "self-monitoring", "service manager", "snmp poller", "snmp trapper", "task manager", "timer", "trapper",
    "trigger housekeeper", "unreachable poller", "vmware collector")
#: Processes of agents and proxies, and none at all.
OTHERS = ("active checks", "collector", "listener", "main", "data sender", "discoverer", "heartbeat sender", "no such")
MODES = ("", "avg", "max", "min", "count", "1", "01", "0", "-1", "+1", "300", "65536", "x", "AVG", "sum", "1.5")
STATES = ("", "busy", "idle", "x", "BUSY")
#: Bounds of the queue.
INTERVALS = (("10m", ""), ("", ""), ("10m", "20m"), ("20m", "10m"), ("10m", "10m"), ("x", ""), ("", "x"), ("-1", ""),
             ("0", ""), ("1", ""), ("5s", ""), ("6", "7"), ("1w", ""), ("1M", ""), ("1y", ""), ("1.5m", ""), ("", "0"),
             ("", "6"), ("", "5"), ("10 m", ""), ("10m ", ""), ("1000w", ""), ("99999999999", ""), ("24h", "1d"))
CACHES = {
    "wcache": ("values", "history", "index", "trend", "text", "x", ""),
    "rcache": ("buffer", "cache", "x", ""),
    "vcache": ("buffer", "cache", "x", ""),
    "tcache": ("buffer", "cache", "x", ""),
    "vmware": ("buffer", "cache", "x", ""),
}
CACHE_MODES = ("", "total", "free", "pfree", "used", "pused", "x", "hits", "misses", "requests", "mode", "pmisses",
               "phits", "pitems", "items", "all", "float", "uint", "str", "log", "text", "bin", "not supported", "ALL")
#: Old items, items of proxies, and what never was one.
UNKNOWN = ("", "nothing", " uptime ", "UPTIME", "history", "trends", "ha_failover", "proxy_history", "proxy_buffer",
           "proxy_buffer,buffer,pused", "cache", "preprocessing_vps_direct")


def keys(port):
    """All keys; `port` is that of a server whose statistics are requested."""
    found = ["zabbix", "zabbix[[uptime]]", 'zabbix["uptime"]', "zabbixx[uptime]"]

    def add(text):
        found.append("zabbix[%s]" % text)

    for name in UNKNOWN + PLAIN:
        add(name)
    for name in PLAIN + ("cluster", "stats", "process", "queue", "wcache", "rcache", "vcache", "tcache", "vmware",
                         "java", "proxy", "proxy group", "host", "nothing"):
        # The reference crashes on zabbix[vps] alone.
        for more in ("", ",", ",x", ",,x", ",x,y", ",,,x", ",,,,,x", ",,,,,,x"):
            add(name + more)
    for name in PROCESSES + OTHERS:
        for more in ("", ",avg,busy", ",count", ",max,idle", ",1", ",x"):
            add("process,%s%s" % (name, more))
    for mode in MODES:
        for state in STATES:
            add("process,trapper,%s,%s" % (mode, state))
    for text in ("process,,avg,busy", "process,trapper,avg,busy,", "process,Trapper", "process, trapper ,avg"):
        add(text)
    for bounds in INTERVALS:
        add("queue,%s,%s" % bounds)
        add("stats,,,queue,%s,%s" % bounds)
        add("stats,127.0.0.1,%d,queue,%s,%s" % (port, *bounds))
    add("queue,10m")
    add("queue,,,")
    for text in ("stats,127.0.0.1,%d", "stats,localhost,%d", "stats,,%d", "stats,,%d,queue", "stats,127.0.0.1,%d,",
                 "stats,127.0.0.1,%d,x", "stats,127.0.0.1,%d,Queue", "stats,127.0.0.1,%d,queue",
                 "stats,127.0.0.1,%d,queue,,,x", "stats,no.such.name.invalid,%d", "stats,::1,%d", "stats,[::1],%d"):
        add(text % port)
    for text in ("stats,,", "stats,127.0.0.1", "stats,127.0.0.1,x", "stats,127.0.0.1,0", "stats,127.0.0.1,1",
                 "stats,127.0.0.1,65536", "stats,127.0.0.1,-1", "stats,,,queue", "stats,,,queue,,,x", "stats,,,"):
        add(text)
    for cache, parts in CACHES.items():
        for part in parts:
            add("%s,%s" % (cache, part))
            add("%s,%s,pfree,x" % (cache, part))
            for mode in CACHE_MODES:
                add("%s,%s,%s" % (cache, part, mode))
    for text in ("written", "written,", "written,x", "written,,", "Written", "x", "", "x,x"):
        add("vps," + text)
    for text in ("discovery,nodes", "discovery", "discovery,x", "x,nodes", "discovery,nodes,"):
        add("cluster," + text)
    for text in ("discovery", "discovery,x", "x,lastaccess", "x,delay", "x,x", "x", "x,lastaccess,y", ",lastaccess"):
        add("proxy," + text)
    for text in ("discovery", "discovery,x", "x,state", "x,available", "x,x", "x", "x,state,y", ",state"):
        add("proxy group," + text)
    for kind in ("agent", "snmp", "ipmi", "jmx", "active_agent", "x", "", "discovery"):
        add("host,%s" % kind)
        for what in ("available", "interfaces", "maintenance", "items", "items_unsupported", "x", ""):
            add("host,%s,%s" % (kind, what))
            add("host,%s,%s,x" % (kind, what))
    return list(dict.fromkeys(found))
