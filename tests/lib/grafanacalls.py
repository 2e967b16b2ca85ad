"""What Grafana's Zabbix plugin 6.6 asks of the API of a server 7.0: methods and parameters.

Source: the calls of `zabbixAPIConnector.ts` and `methods.go` in the repository grafana/grafana-zabbix.
Its calls for alerts, scripts, proxies, services and SLAs are not among
them. Words that begin with @ stand for ids of the scene in `test_grafana.py`, such as "@host web1".
"""

ITEM = ["itemid", "name", "key_", "value_type", "hostid", "status", "state", "units", "valuemapid", "delay"]
HOST = ["hostid", "name", "host"]
SEVERITIES = [0, 1, 2, 3, 4, 5]
#: What every question for triggers has.
EXPANDED = {"output": "extend", "expandDescription": True, "expandData": True, "expandComment": True,
            "monitored": True, "skipDependent": True}
EVENTS = {"output": "extend", "source": "0", "object": "0", "evaltype": "0", "sortfield": ["eventid"],
          "sortorder": "DESC", "selectTags": "extend", "selectAcknowledges": "extend"}


def items(**more):
    return dict({"output": ITEM, "sortfield": "name", "webitems": True, "filter": {},
                 "selectHosts": HOST, "selectTags": "extend"}, **more)


def series(**more):
    return dict({"output": "extend", "sortfield": "clock", "sortorder": "ASC"}, **more)


def calls(begin, hour):
    """Name of the call, method, parameters. `begin` = unix time of the first value of the last minutes;
    `hour` = that of the first of three full hours with one value each."""
    till = begin + 300
    yield "version", "apiinfo.version", {}
    yield "groups", "hostgroup.get", {"output": ["name", "groupid"], "sortfield": "name", "with_hosts": True}
    yield "groups of older plugins", "hostgroup.get", {"output": ["name"], "sortfield": "name", "real_hosts": True}
    yield "hosts", "host.get", {"output": HOST, "sortfield": "name", "groupids": ["@group Web", "@group Shop databases"]}
    yield "hosts and tags", "host.get", {"output": HOST, "sortfield": "name", "selectTags": "extend", "evaltype": 0,
                                         "tags": [{"tag": "site", "value": "north", "operator": 1}]}
    yield "hosts of the backend", "host.get", {"output": ["name", "host"], "sortfield": "name",
                                               "groupids": ["@group Web"]}
    yield "applications", "application.get", {"output": "extend", "hostids": ["@host web1"]}
    hosts = ["@host web1", "@host web2", "@host db1"]
    yield "numbers", "item.get", items(hostids=hosts, filter={"value_type": [0, 3]})
    yield "texts", "item.get", items(hostids=hosts, filter={"value_type": [1, 2, 4]})
    yield "items by tags", "item.get", items(hostids=hosts, evaltype=2, tags=[
        {"tag": "component", "value": "cpu", "operator": "1"}, {"tag": "component", "value": "log", "operator": "1"}])
    yield "items of the backend", "item.get", items(hostids=hosts, applicationids=None, selectHosts=["hostid", "name"])
    yield "items by ids", "item.get", {"itemids": ["@item web1 load", "@item web1 state"], "output": ITEM,
                                       "webitems": True, "selectHosts": ["hostid", "name"], "selectTags": "extend"}
    yield "last value", "item.get", {"output": ["lastvalue"], "itemids": "@item web1 load"}
    for kind, key in ((0, "load"), (3, "state"), (4, "text"), (1, "word"), (2, "log")):
        yield "history " + key, "history.get", series(
            history=str(kind), itemids=["@item web1 " + key, "@item web2 " + key], time_from=begin, time_till=till)
    yield "history without end", "history.get", series(history=0, itemids=["@item web1 load"], time_from=begin)
    yield "trends", "trend.get", series(trend="0", itemids=["@item web1 load"], time_from=hour,
                                        time_till=hour + 7199)
    yield "trends of older plugins", "trend.get", {"output": ["itemid", "clock", "value_avg"],
                                                   "itemids": ["@item web1 load"], "time_from": hour,
                                                   "time_till": hour + 7199}
    yield "value maps", "valuemap.get", {"output": "extend", "selectMappings": "extend"}
    yield "macros", "usermacro.get", {"output": "extend", "hostids": ["@host web1"]}
    yield "macros by id", "usermacro.get", {"output": "extend", "hostmacroids": ["@macro web1"],
                                            "selectHosts": ["hostid", "name"]}
    yield "global macros", "usermacro.get", {"output": "extend", "globalmacro": True, "filter": {"macro": "{$LIMIT}"}}
    problems = dict(EVENTS, selectSuppressionData="extend")
    yield "problems", "problem.get", dict(problems, recent=True, groupids=["@group Web", "@group Shop databases"])
    yield "problems of a host", "problem.get", dict(
        problems, recent=True, hostids=["@host web1"], severities=[3, 4, 5], acknowledged=False, limit=101,
        tags=[{"tag": "service", "value": "shop", "operator": "0"}], evaltype="2")
    yield "problems of a time", "problem.get", dict(problems, hostids=hosts, time_from=begin, time_till=till)
    triggers = dict(EXPANDED, selectHostGroups=["name", "groupid"],
                    selectItems=["itemid", "name", "key_", "lastvalue"])
    yield "triggers by ids", "trigger.get", dict(
        triggers, triggerids=["@trigger High load", "@trigger Not well"], expandExpression=True, preservekeys="1",
        selectHosts=["hostid", "name", "host", "maintenance_status", "description", "proxyid"])
    shown = dict(triggers, hostids=hosts, selectLastEvent="extend", selectTags="extend",
                 selectHosts=["hostid", "name", "host", "maintenance_status", "proxyid"], sortfield="description")
    yield "triggers with problems", "trigger.get", dict(shown, filter={"value": 1})
    yield "triggers of a time", "trigger.get", dict(shown, filter={"value": [0, 1]}, maintenance=True,
                                                    lastChangeSince=begin, lastChangeTill=till)
    yield "triggers of a time, without maintenance", "trigger.get", dict(
        shown, filter={"value": [0, 1]}, lastChangeSince=begin, lastChangeTill=till)
    alerts = dict(EXPANDED, hostids=hosts, min_severity=2, filter={"value": 1}, selectLastEvent="extend",
                  selectHostGroups="extend", selectHosts=HOST, sortfield="description")
    yield "alerts of hosts", "trigger.get", alerts
    yield "number of alerts", "trigger.get", dict(alerts, countOutput=True, withLastEventUnacknowledged=True)
    yield "alerts by tags", "trigger.get", dict(alerts, evaltype=0, tags=[
        {"tag": "service", "value": "shop", "operator": 1}])
    yield "alerts of items", "trigger.get", dict(alerts, itemids=["@item web1 load"], selectHosts=["host", "name"],
                                                 selectItems=["name", "key_"])
    yield "annotations", "event.get", {
        "output": "extend", "time_from": begin, "time_till": till, "objectids": ["@trigger High load"],
        "selectHosts": "extend", "selectAcknowledges": "extend", "value": ["0", "1"], "limit": 10,
        "sortfield": "clock", "sortorder": "DESC"}
    yield "history of problems", "event.get", dict(
        EVENTS, time_from=begin, time_till=till, value="1", hostids=hosts, severities=SEVERITIES, limit=50,
        selectSuppressionData=["maintenanceid", "suppress_until"])
    yield "events by ids", "event.get", {
        "output": "extend", "eventids": ["@event 0", "@event 1"], "preservekeys": True, "selectTags": "extend",
        "selectAcknowledges": "extend", "sortfield": "clock", "sortorder": "DESC"}
    yield "acknowledge", "event.acknowledge", {"eventids": "@event 0", "message": "seen in Grafana", "action": 6}
    yield "change severity", "event.acknowledge", {"eventids": "@event 0", "message": "", "action": 8, "severity": 5}
    yield "acknowledges", "event.get", {
        "output": "extend", "eventids": ["@event 0"], "preservekeys": True, "sortfield": "clock",
        "sortorder": "DESC", "selectAcknowledges": "extend"}
    yield "alerts that were acknowledged", "trigger.get", alerts
    yield "users", "user.get", {"output": ["userid", "username", "name", "surname"]}
