#!/usr/bin/env python3
"""The whole server with its configuration on a real PostgreSQL."""
# separate: Faults, LostCommits

import os
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from commit_cutter import CommitCutter  # noqa: E402
from databases import Postgres  # noqa: E402
from portioncases import PortionCases  # noqa: E402


class OnPostgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.stop)

    def test_the_server_starts_works_and_starts_again(self):
        url = self.postgres.create("vedette")
        server = bed.Server(arguments=["--database", url])
        self.addCleanup(server.clean)
        server.start()
        api = server.api()
        names = {host["host"] for host in api.call("host.get", output=["host"])}
        self.assertEqual(names, {"Vedette"})
        group = api.call("hostgroup.create", name="Pg ?'x")["groupids"][0]
        templates = api.call("template.get", output=["templateid"], filter={"host": "Bare host by agent"})
        hostid = api.call(
            "host.create", host="pg", groups=[{"groupid": group}],
            templates=[{"templateid": templates[0]["templateid"]}],
            interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "1"}],
        )["hostids"][0]
        items = api.call("item.get", hostids=hostid, output=["key_"], sortfield="key_")
        self.assertEqual([item["key_"] for item in items],
                         ["agent.ping", "agent.version", "system.hostname", "system.uptime"])
        found = api.call("item.get", hostids=hostid, search={"key_": "AGENT"}, countOutput=True)
        self.assertEqual(found, "2")
        item = api.call("item.create", name="v", key_="v", hostid=hostid, type=2, value_type=0)
        item = item["itemids"][0]
        api.call("trigger.create", description="high", expression="last(/pg/v)>1", priority=3)
        bed.send(server.address, {"request": "sender data",
                                  "data": [{"host": "pg", "key": "v", "value": "2"}]})
        bed.wait_for("the problem", lambda: api.call("problem.get", hostids=hostid))
        server.stop()
        server.start()
        api = server.api()
        self.assertEqual(len(api.call("problem.get", hostids=hostid)), 1)
        self.assertEqual(api.call("history.get", history=0, itemids=item)[0]["value"], "2")
        api.call("host.delete", [hostid])
        self.assertEqual(api.call("item.get", hostids=hostid, countOutput=True), "0")

    def test_the_load_balancer_is_configured(self):
        engines = "127.0.0.1:%d" % bed.free_port()
        server = bed.Server(arguments=["--database", self.postgres.create("balancing"), "--engines", engines])
        self.addCleanup(server.clean)
        server.start()
        api = server.api()
        group = api.call("enginegroup.create", name="edge")["enginegroupids"][0]
        engine = api.call("engine.create", name="lb-1", enginegroupid=group)["engineids"][0]
        vip = api.call("vip.create", name="v", ipv4="192.0.2.1")["vipids"][0]
        monitor = api.call("healthmonitor.create", name="m", type="http", interval="1s")["healthmonitorids"][0]
        servers = [{"name": "s1", "address": "10.0.0.1", "port": 8000}]
        app, other = (
            api.call("pool.create", name=name, servers=servers, healthmonitorid=monitor)["poolids"][0]
            for name in ("app", "api"))
        api.call(
            "virtualservice.create", name="web", enginegroupid=group, vipid=vip, port=80, poolid=app,
            rules=[{"if": {"path_prefix": "/api"}, "then": {"poolid": other}}], tags=[{"tag": "t", "value": "v"}])
        found, = api.call("enginegroup.configuration", enginegroupids=[group])
        self.assertEqual([pool["name"] for pool in found["configuration"]["pools"]], ["app", "api"])
        shown, = api.call("engine.get", output=["name", "lastaccess", "desired_hash"])
        self.assertEqual(shown, {"name": "lb-1", "lastaccess": "0", "desired_hash": found["hash"]})
        with self.assertRaisesRegex(bed.ApiError, 'is used by virtual service "web"'):
            api.call("pool.delete", [other])
        with self.assertRaisesRegex(bed.ApiError, 'belongs to virtual service "web"'):
            api.call("virtualservice.create", name="w", enginegroupid=group, vipid=vip, port=80, poolid=app)
        change = {"healthmonitorid": monitor, "down": 9}
        touched = api.call("enginegroup.compare", {"method": "healthmonitor.update", "params": change})
        self.assertEqual([(one["name"], one["change"]) for one in touched], [("web", "changed")])
        self.assertEqual(api.call("enginegroup.configuration", enginegroupids=[group])[0]["hash"], found["hash"])
        token = api.call("engine.generate", [engine])[0]["token"]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen(
            [bed.BINARY, "engine", "--controller", engines, "--data", folder.name],
            env=dict(os.environ, VEDETTE_ENGINE_TOKEN=token), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def error():
            return api.call("engine.get", output=["error"])[0]["error"]

        # The VIP is an address that this machine does not have.
        bed.wait_for("the engine's report", lambda: "cannot listen on 192.0.2.1:80" in error())

    def test_the_error_of_a_wrong_address_hides_the_password(self):
        url = "postgresql://somebody:hidden@127.0.0.1:%d/none" % self.postgres.port
        server = bed.Server(arguments=["--database", url])
        self.addCleanup(server.clean)
        with self.assertRaises(AssertionError):
            server.start()
        self.assertIn("configuration database postgresql://somebody@127.0.0.1", server.log())
        self.assertNotIn("hidden", server.log())


class Portions(PortionCases, unittest.TestCase):
    def setUp(self):
        postgres = Postgres()
        self.addCleanup(postgres.stop)
        self.server = bed.Server(arguments=["--database", postgres.create("vedette")])
        self.addCleanup(self.server.clean)
        self.server.start()


class Faults(unittest.TestCase):
    """What can break a database connection while the server runs."""

    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.stop)
        cls.server = bed.Server(arguments=["--database", cls.postgres.create("vedette")])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()
        cls.group = cls.api.call("hostgroup.create", name="g")["groupids"][0]
        cls.hostid = cls.api.call("host.create", host="h", groups=[{"groupid": cls.group}])["hostids"][0]
        cls.hosts = 0

    def item(self, key, value_type=4):
        found = self.api.call("item.create", name=key, key_=key, hostid=self.hostid, type=2,
                              value_type=value_type)
        return found["itemids"][0]

    def send(self, key, value):
        answer = bed.send(self.server.address, {"request": "sender data",
                                                "data": [{"host": "h", "key": key, "value": value}]})
        self.assertIn("processed: 1", answer["info"])

    def change(self):
        """A change of the configuration; whether it was done."""
        type(self).hosts += 1
        name = "new%d" % self.hosts
        self.api.call("host.create", host=name, groups=[{"groupid": self.group}])
        return self.api.call("host.get", filter={"host": name}, countOutput=True) == "1"

    def problems(self):
        return [row["name"] for row in self.api.call("problem.get", output=["name"], sortfield="eventid")]

    def trigger(self, name, expression="length(last(/h/%s))>0"):
        self.item(name)
        self.api.call("trigger.create", description=name, expression=expression % name,
                      event_name=name + " {ITEM.LASTVALUE}", opdata="{ITEM.LASTVALUE}")

    def works(self, name):
        """Sign-in, a change, and a new problem."""
        bed.wait_for("sign-in", self.server.api)
        bed.wait_for("a change", self.change)
        bed.wait_for("the trigger", lambda: self.trigger(name) is None)
        self.send(name, "x")
        bed.wait_for("the problem " + name, lambda: name + " x" in self.problems())

    def test_restart_of_the_database_is_survived(self):
        self.trigger("before")
        self.postgres.run("pg_ctl", "-D", self.postgres.data, "-m", "fast", "stop")
        self.send("before", "while down")
        with self.assertRaises(bed.ApiError):
            self.change()
        self.postgres.start()
        bed.wait_for("the problem", lambda: "before while down" in self.problems())
        self.works("restart")

    def test_killed_backends_are_replaced_without_an_error(self):
        self.api.call("host.get", countOutput=True)
        # With a timeout it returns when the backend has ended: one that has yet to notice ends a transaction.
        self.postgres.query("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                            "WHERE datname = 'vedette'")
        # The first call of each kind comes through: it is outside of a transaction or at its start.
        self.assertTrue(self.change())
        self.works("killed")

    def test_read_only_database_refuses_changes(self):
        self.trigger("readonly")
        self.postgres.query("ALTER SYSTEM SET default_transaction_read_only = on")
        self.postgres.query("SELECT pg_reload_conf()")
        bed.wait_for("read-only", lambda: self.postgres.query(
            "SHOW default_transaction_read_only") == "on")
        with self.assertRaisesRegex(bed.ApiError, "read-only.*Nothing was changed"):
            self.change()
        self.assertGreater(int(self.api.call("host.get", countOutput=True)), 0)
        self.send("readonly", "x")
        self.postgres.query("ALTER SYSTEM RESET default_transaction_read_only")
        self.postgres.query("SELECT pg_reload_conf()")
        bed.wait_for("the problem", lambda: "readonly x" in self.problems())
        self.works("writable")

    def test_texts_that_postgresql_does_not_take_hold_up_no_event(self):
        self.trigger("nul")
        self.trigger("after")
        self.send("nul", "fail\u0000x")
        self.send("after", "y")
        bed.wait_for("both", lambda: {"nul fail\u2400x", "after y"} <= set(self.problems()))
        self.assertEqual(
            self.api.call("host.create", host="hn", name="a\u0000b", groups=[{"groupid": self.group}])
            and self.api.call("host.get", filter={"host": "hn"}, output=["name"])[0]["name"],
            "a\u2400b")

    def test_refused_event_is_set_aside_alone(self):
        for name in ("refused", "kept"):
            self.trigger(name)
        self.postgres.query("ALTER TABLE events ADD CONSTRAINT short CHECK (name <> 'refused z')",
                            "vedette")
        self.send("refused", "z")
        self.send("kept", "z")
        bed.wait_for("the other", lambda: "kept z" in self.problems())
        self.assertNotIn("refused z", self.problems())
        self.assertIn("skipping an event that cannot be written", self.server.log(200))
        self.postgres.query("ALTER TABLE events DROP CONSTRAINT short", "vedette")

    def test_statement_of_a_client_that_leaves_is_canceled(self):
        waiting = ("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                   "query LIKE 'SELECT t.hostid%'")
        holder = self.postgres.session("vedette")
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdin.close)
        holder.stdin.write(b"BEGIN; LOCK TABLE hosts IN ACCESS EXCLUSIVE MODE;\n")
        holder.stdin.flush()
        held = "SELECT COUNT(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'hosts'::regclass AND granted"
        bed.wait_for("the lock", lambda: self.postgres.query(held, "vedette").strip() == "1")
        body = b'{"jsonrpc":"2.0","method":"host.get","params":{"output":["host"]},"id":1}'
        with socket.create_connection(("127.0.0.1", self.server.http)) as client:
            client.sendall(b"POST /api_jsonrpc.php HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                           b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
                           % (self.api.token.encode(), len(body)) + body)
            bed.wait_for("the statement", lambda: self.postgres.query(waiting, "vedette").strip() == "1")
        bed.wait_for("its end", lambda: self.postgres.query(waiting, "vedette").strip() == "0")
        holder.stdin.close()
        self.assertTrue(self.api.call("host.get", output=["host"]))

    def test_z_stop_while_the_database_is_down_keeps_the_events(self):
        self.trigger("stopped")
        self.postgres.run("pg_ctl", "-D", self.postgres.data, "-m", "immediate", "stop")
        self.send("stopped", "v")
        bed.wait_for("the failure", lambda: "cannot write events" in self.server.log(200))
        self.server.stop()
        self.assertTrue(os.path.exists(os.path.join(self.server.folder, "data", "unsent-events")))
        self.postgres.start()
        self.server.start()
        type(self).api = self.server.api()
        self.assertIn("stopped v", self.problems())
        self.assertFalse(os.path.exists(os.path.join(self.server.folder, "data", "unsent-events")))


# What the schema of version 5 had: the state among the tables of the configuration.
VERSION_5 = """
    ALTER TABLE triggers ADD COLUMN value BIGINT NOT NULL DEFAULT 0,
        ADD COLUMN lastchange BIGINT NOT NULL DEFAULT 0, ADD COLUMN state BIGINT NOT NULL DEFAULT 0,
        ADD COLUMN error TEXT NOT NULL DEFAULT '';
    CREATE INDEX triggers_value ON triggers (value);
    UPDATE triggers t SET value = s.value, lastchange = s.lastchange FROM trigger_states s
        WHERE s.triggerid = t.triggerid;
    ALTER TABLE tokens ADD COLUMN lastaccess BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE users DROP COLUMN session_epoch;
    ALTER TABLE sessions DROP COLUMN epoch,
        ADD CONSTRAINT sessions_userid_fkey FOREIGN KEY (userid) REFERENCES users ON DELETE CASCADE;
    ALTER TABLE event_suppress ADD CONSTRAINT event_suppress_maintenanceid_fkey
        FOREIGN KEY (maintenanceid) REFERENCES maintenances ON DELETE CASCADE;
    INSERT INTO ids (name, next) SELECT name, next FROM state_ids;
    DROP TABLE state_ids, state_settings, trigger_states, token_accesses, engine_states, state_version;
    DELETE FROM schema_version;
    INSERT INTO schema_version (version) VALUES (5);
"""


class Upgrade(unittest.TestCase):
    def test_the_state_of_an_older_version_is_taken_over(self):
        postgres = Postgres()
        self.addCleanup(postgres.stop)
        server = bed.Server(arguments=["--database", postgres.create("vedette")])
        self.addCleanup(server.clean)
        server.start()
        api = server.api()
        group = api.call("hostgroup.create", name="g")["groupids"][0]
        hostid = api.call("host.create", host="h", groups=[{"groupid": group}])["hostids"][0]
        api.call("item.create", name="v", key_="v", hostid=hostid, type=2, value_type=3)
        api.call("trigger.create", description="high", expression="last(/h/v)>1")
        def send(value):
            bed.send(server.address, {"request": "sender data",
                                      "data": [{"host": "h", "key": "v", "value": value}]})
        def state():
            problems = api.call("problem.get", hostids=hostid, output=["eventid", "name"])
            triggers = api.call("trigger.get", hostids=hostid, output=["value", "lastchange"])
            return problems, triggers
        send(5)
        bed.wait_for("the problem", lambda: state()[0])
        before = state()
        self.assertEqual(before[1][0]["value"], "1")
        server.stop()
        postgres.query(VERSION_5, "vedette")
        server.start()
        # With the session of before.
        self.assertEqual(state(), before)
        send(0)
        bed.wait_for("the recovery", lambda: not state()[0])
        events = api.call("event.get", hostids=hostid, output=["value"], sortfield="eventid")
        self.assertEqual([event["value"] for event in events], ["1", "0"])
        version = postgres.query("SELECT MAX(version) FROM schema_version", "vedette")
        self.assertGreaterEqual(int(version), 18)


class LostCommits(unittest.TestCase):
    """The connection ends between a COMMIT and its response."""

    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.stop)
        cls.cutter = CommitCutter(cls.postgres.port)
        cls.addClassCleanup(cls.cutter.stop)
        cls.postgres.create("vedette")
        url = "postgresql://postgres@127.0.0.1:%d/vedette" % cls.cutter.port
        cls.server = bed.Server(arguments=["--database", url])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()
        cls.group = cls.api.call("hostgroup.create", name="g")["groupids"][0]

    def create(self, name, **how):
        self.cutter.arm(name, **how)
        cut = self.cutter.cut
        try:
            return self.api.call("host.create", host=name, groups=[{"groupid": self.group}])
        finally:
            self.assertEqual(self.cutter.cut, cut + 1)

    def hosts(self, name):
        return int(self.api.call("host.get", filter={"host": name}, countOutput=True))

    def test_change_that_was_committed_is_reported_as_made(self):
        self.create("kept-host", reaches=True, refused=1)
        self.assertEqual(self.hosts("kept-host"), 1)
        self.create("kept-later", reaches=True, refused=30)
        self.assertEqual(self.hosts("kept-later"), 1)

    def test_change_that_was_rolled_back_is_reported_as_failed(self):
        with self.assertRaisesRegex(bed.ApiError, "configuration database refused"):
            self.create("undone-host", reaches=False, refused=1)
        self.assertEqual(self.hosts("undone-host"), 0)
        self.create("undone-host", reaches=True, refused=0)
        self.assertEqual(self.hosts("undone-host"), 1)

    def test_events_of_an_uncertain_commit_are_written_once(self):
        hostid = self.api.call("host.create", host="many", groups=[{"groupid": self.group}])["hostids"][0]
        self.api.call("item.create", name="k", key_="k", hostid=hostid, type=2, value_type=3)
        # Each value above 0 is a problem of its own.
        self.api.call("trigger.create", description="many", expression="last(/many/k)>0", type=1,
                      event_name="many problems {ITEM.LASTVALUE}")

        def send(value):
            answer = bed.send(self.server.address, {"request": "sender data",
                                                    "data": [{"host": "many", "key": "k", "value": value}]})
            self.assertIn("processed: 1", answer["info"])

        def events():
            return [row["name"] for row in self.api.call("event.get", output=["name"], value=1,
                                                         hostids=hostid, sortfield="eventid")]

        self.cutter.arm("many problems", reaches=True, refused=100_000)
        send(1)
        bed.wait_for("the unknown outcome", lambda: "outcome of the change is unknown" in self.server.log(200))
        self.cutter.refused = 0
        send(2)
        bed.wait_for("the next event", lambda: "many problems 2" in events())
        self.assertEqual(events(), ["many problems 1", "many problems 2"])
        problems = self.api.call("problem.get", hostids=hostid, countOutput=True)
        self.assertEqual(problems, "2")

    def test_tokens_do_not_pile_up(self):
        for n in range(5):
            self.api.call("hostgroup.create", name="token %d" % n)
        rows = self.postgres.query("SELECT COUNT(*) FROM write_tokens", "vedette")
        self.assertLessEqual(int(rows), 2)


class OnStandby(unittest.TestCase):
    def test_start_on_a_standby_says_what_to_do(self):
        postgres = Postgres()
        self.addCleanup(postgres.stop)
        url = postgres.create("vedette")
        server = bed.Server(arguments=["--database", url])
        self.addCleanup(server.clean)
        server.start()
        server.stop()
        postgres.run("pg_ctl", "-D", postgres.data, "-m", "fast", "stop")
        open(os.path.join(postgres.data, "standby.signal"), "w").close()
        postgres.start()
        self.assertEqual(postgres.query("SELECT pg_is_in_recovery()"), "t")
        with self.assertRaises(AssertionError):
            server.start()
        self.assertRegex(server.log(), "127.0.0.1:.* is read-only: it is a standby")
        self.assertIn("promote this server", server.log())
        postgres.run("pg_ctl", "-D", postgres.data, "-w", "promote")
        server.start()


class Pairing(unittest.TestCase):
    def test_history_of_another_database_is_refused(self):
        postgres = Postgres()
        self.addCleanup(postgres.stop)
        server = bed.Server(arguments=["--database", postgres.create("one")])
        self.addCleanup(server.clean)
        server.start()
        server.stop()
        server.arguments[-1] = postgres.create("two")
        with self.assertRaises(AssertionError):
            server.start()
        self.assertIn("--new-configuration", server.log())
        server.arguments[-1] = postgres.url("one")
        server.start()


if __name__ == "__main__":
    bed.main()
