"""Makes the scenario on one server and reads back what the server made of the macros."""

import time

import bed

from . import names

#: Inventory fields of the API by the macro that shows them; the rest is empty.
INVENTORY = {"os": "Plan 9", "os_full": "Plan 9 from Bell Labs", "alias": "other name", "name": "inv name",
             "location": "room 5", "serialno_a": "serial a", "poc_1_email": "a@example.com",
             "poc_2_phone_b": "+2", "macaddress_b": "mac b", "host_networks": "10/8", "tag": "inv tag",
             "type_full": "full type", "url_c": "http://c.example", "software_app_e": "app e",
             "site_address_c": "street", "hw_arch": "mips", "oob_router": "10.1.1.1"}
MACROS = [("{$PLAIN}", "plain value", 0), ("{$CTX}", "no context", 0), ("{$CTX:one}", "context one", 0),
          ("{$CTX:regex:^r[0-9]+$}", "context by pattern", 0), ("{$NESTED}", "<{HOST.HOST}>", 0),
          ("{$USERNEST}", "<{$PLAIN}>", 0), ("{$SECRET}", "never-show-this", 1),
          ("{$NUMBER}", "41", 0), ("{$EMPTY}", "", 0), ("{$HOSTED}", "of the host", 0)]
VAULT = ("{$VAULT}", "secret/path:never-show-key", 2)
#: Keys, types of values, units of the items of the first host.
ITEMS = [("u", 3, "B"), ("f", 0, "s"), ("text", 4, ""), ("str", 1, ""), ("log", 2, ""), ("map", 3, "")]
EXPRESSION = ("last(/scene-a/u)>=3000 and last(/scene-b/f)<50 and last(/scene-a/log)<>\"none\" "
              "and last(/scene-a/map)>=0 and length(last(/scene-a/text))>0")
#: Texts in the key of one item.
PER_KEY = 15
#: Triggers that are made by one call.
PORTION = 20
NEVER = "length(last(/scene-a/str))<0"


class Scene:
    """The scenario on one server."""

    def __init__(self, api, trapper):
        self.api, self.address = api, ("127.0.0.1", trapper)
        self.hosts = {}
        self.items = {}
        #: Text and place by trigger.
        self.made = {}
        self.refused = {}
        self.group = api.call("hostgroup.create", name="Scene")["groupids"][0]
        # The reference needs the global macro to be there before the triggers are read.
        api.call("usermacro.createglobal", macro="{$GLOBAL}", value="of all")
        self._hosts()
        self._items()

    def _hosts(self):
        for n, name in enumerate(("scene-a", "scene-b")):
            macros = [{"macro": m, "value": v, "type": t} for m, v, t in MACROS + [VAULT]]
            interface = {"type": 1, "main": 1, "useip": 1 - n, "ip": "127.0.0.%d" % (5 + n),
                         "dns": "%s.example" % name, "port": str(161 + n)}
            self.hosts[name] = self.api.call(
                "host.create", host=name, name="Visible %s" % name, description="About %s" % name,
                groups=[{"groupid": self.group}], interfaces=[interface], macros=macros if n == 0 else [],
                inventory_mode=0, inventory=INVENTORY if n == 0 else {"os": "second"},
                tags=[{"tag": "host {HOST.HOST}", "value": "{HOST.NAME} {INVENTORY.OS} {$HOSTED} {ITEM.VALUE}"}],
            )["hostids"][0]

    def _items(self):
        host = self.hosts["scene-a"]
        valuemap = self.api.call("valuemap.create", hostid=host, name="vm", mappings=[
            {"type": 0, "value": "5", "newvalue": "Five"}, {"type": 5, "newvalue": "Other"}])["valuemapids"][0]
        for key, kind, units in ITEMS:
            item = {"hostid": host, "name": "Item %s {$PLAIN}" % key, "key_": key, "type": 2, "value_type": kind,
                    "units": units, "description": "About %s {HOST.HOST} {$PLAIN}" % key,
                    "tags": [{"tag": "item %s {HOST.HOST}" % key,
                              "value": "{HOST.NAME} {INVENTORY.OS} {$HOSTED} {ITEM.VALUE} {ITEM.KEY}"}]}
            if key == "map":
                item["valuemapid"] = valuemap
            if not units:
                del item["units"]
            self.items["scene-a", key] = self.api.call("item.create", item)["itemids"][0]
        self.items["scene-b", "f"] = self.api.call("item.create", {
            "hostid": self.hosts["scene-b"], "name": "F", "key_": "f", "type": 2, "value_type": 0})["itemids"][0]

    def triggers(self, texts):
        """Two triggers for each text: its places without and with an event name."""
        wanted = []
        for n, text in enumerate(texts):
            common = {"expression": EXPRESSION, "priority": 3, "recovery_mode": 1,
                      "recovery_expression": NEVER}
            wanted.append((text, "description", dict(
                common, description="%d#%s" % (n, text), opdata=text, comments=text,
                tags=[{"tag": "value", "value": text}, {"tag": "t#" + text, "value": "name"},
                      {"tag": "own", "value": "own value"}])))
            wanted.append((text, "event_name", dict(
                common, description="%d named" % n, event_name=text)))
        for first in range(0, len(wanted), PORTION):
            part = wanted[first:first + PORTION]
            try:
                made = self.api.call("trigger.create", [trigger for _, _, trigger in part])["triggerids"]
            except bed.ApiError:
                made = [self._trigger(*one) for one in part]
            for (text, place, _), trigger in zip(part, made):
                if trigger:
                    self.made[trigger] = (text, place)

    def _trigger(self, text, place, trigger):
        try:
            return self.api.call("trigger.create", trigger)["triggerids"][0]
        except bed.ApiError as refused:
            self.refused[place, text] = refused.data
            return None

    def tagged(self, texts):
        """A host and an item with a tag for each text."""
        host = self.hosts["scene-t"] = self.api.call(
            "host.create", host="scene-t", name="Visible scene-t", groups=[{"groupid": self.group}],
            interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.9", "dns": "t.example",
                         "port": "169"}],
            macros=[{"macro": m, "value": v, "type": t} for m, v, t in MACROS],
            inventory_mode=0, inventory=INVENTORY,
            tags=[{"tag": "host %d" % n, "value": text} for n, text in enumerate(texts)])["hostids"][0]
        self.api.call("item.create", {
            "hostid": host, "name": "u", "key_": "u", "type": 2, "value_type": 3,
            "tags": [{"tag": "item %d" % n, "value": text} for n, text in enumerate(texts)]})
        self.tags_of = self.api.call("trigger.create", description="tags",
                                     expression="last(/scene-t/u)>10")["triggerids"][0]

    def tags(self, texts):
        """What the server made of each."""
        def event():
            bed.send(self.address, {"request": "sender data", "data": [
                {"host": "scene-t", "key": "u", "value": "100"}]})
            return self.api.call("event.get", objectids=self.tags_of, value=1, selectTags="extend")

        tags = {row["tag"]: row["value"] for row in bed.wait_for("the event with tags", event)[0]["tags"]}
        # Pairs of an empty value are kept, others that are alike are not.
        return {text: {"host tag": tags.get("host %d" % n), "item tag": tags.get("item %d" % n)}
                for n, text in enumerate(texts)}

    def polled(self, texts, port):
        """Items of an agent at `port` whose keys hold the texts; gives their numbers."""
        host = self.api.call(
            "host.create", host="scene-k", name="Visible scene-k", groups=[{"groupid": self.group}],
            interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "k.example",
                         "port": str(port)}],
            macros=[{"macro": m, "value": v, "type": t} for m, v, t in MACROS], inventory_mode=0,
            inventory=INVENTORY)["hostids"][0]
        interface = self.api.call("hostinterface.get", hostids=host)[0]["interfaceid"]
        rows = []
        for n, first in enumerate(range(0, len(texts), PER_KEY)):
            quoted = ['"%s"' % text.replace('"', '\\"') for text in texts[first:first + PER_KEY]]
            rows.append({"hostid": host, "name": "k%d" % n, "key_": "k[%d,%s]" % (n, ",".join(quoted)),
                         "type": 0, "value_type": 4, "delay": "5s", "interfaceid": interface})
        self.api.call("item.create", rows)
        return set(range(len(rows)))

    def fire(self, clock):
        """Values that make every trigger a problem."""
        values = [("scene-b", "f", "1.5", {}), ("scene-a", "f", "3725.125", {}),
                  ("scene-a", "text", "line of text", {}), ("scene-a", "str", "s", {}),
                  ("scene-a", "log", "log line", {"timestamp": clock - 60, "source": "origin", "severity": 4,
                                                  "eventid": 77}),
                  ("scene-a", "map", "5", {}), ("scene-a", "u", "4000", {})]
        for n, (host, key, value, more) in enumerate(values):
            row = dict({"host": host, "key": key, "value": value, "clock": clock, "ns": n}, **more)
            answer = bed.send(self.address, {"request": "sender data", "data": [row]})
            assert "failed: 0" in answer["info"], answer
            if n == len(values) - 2:
                time.sleep(1)

    def read(self):
        """What came of each text in each place."""
        triggers = list(self.made)
        out = {}

        def events():
            found = self.api.call("event.get", objectids=triggers, value=1, output="extend", selectTags="extend")
            return found if len(found) >= len(triggers) else None

        found = bed.wait_for("events of %d triggers" % len(triggers), events)
        problems = {row["objectid"]: row for row in self.api.call(
            "problem.get", objectids=triggers, output="extend", selectTags="extend")}
        shown = {row["triggerid"]: row for row in self.api.call(
            "trigger.get", triggerids=triggers, output="extend", expandDescription=True, expandComment=True)}
        for event in found:
            text, place = self.made[event["objectid"]]
            of = out.setdefault(text, {})
            trigger = shown[event["objectid"]]
            if place == "event_name":
                of["event name"] = event["name"]
                continue
            of["description"] = event["name"].partition("#")[2]
            of["opdata"] = event["opdata"]
            of["problem opdata"] = problems[event["objectid"]]["opdata"]
            tags = event["tags"]
            of["tag value"] = next((row["value"] for row in tags if row["tag"] == "value"), None)
            of["tag name"] = next((row["tag"][2:] for row in tags if row["tag"].startswith("t#")), None)
            of["other tags"] = sorted([row["tag"], row["value"]] for row in tags if row["tag"] not in (
                "value", "own") and not row["tag"].startswith("t#"))
            of["shown description"] = trigger["description"].partition("#")[2]
            of["shown comments"] = trigger["comments"]
        return out
