#!/usr/bin/env python3
"""Large answers of the API: bounded memory, also for clients that do not read, and work that ends with its client."""

import concurrent.futures
import json
import os
import socket
import sqlite3
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

ITEMS = 20_000
# At once: an answer has about 32 MB.
ANSWERS = 8
# What all of them may take together: their room of 64 MiB, the caches of eight database connections (128 MiB), rows in
# hand and what the allocator keeps.
MEMORY_MIB_MAX = 400
BIG = {"output": "extend", "selectTags": "extend", "selectHosts": ["hostid", "name"]}


class Answers(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hostid, ids = cls.host(cls, "many", [{"key_": "k", "value_type": 3, "description": "d" * 500}])
        cls.server.stop()
        path = os.path.join(cls.server.folder, "data", "config.db")
        database = sqlite3.connect(path)
        # Without foreign keys of its own: the rows are copies of one that is whole.
        columns = [row[1] for row in database.execute("PRAGMA table_info(items)")]
        item = dict(zip(columns, database.execute("SELECT * FROM items WHERE itemid = ?",
                                                  [ids["k"]]).fetchone()))
        first = item["itemid"] + 1
        rows = (dict(item, itemid=n, key_="k%d" % n, name="A name of item %d" % n, uuid="")
                for n in range(first, first + ITEMS))
        marks = ", ".join(":" + name for name in columns)
        database.executemany("INSERT INTO items VALUES (%s)" % marks, rows)
        database.execute("UPDATE ids SET next = ? WHERE name = 'items'", [first + ITEMS])
        database.commit()
        database.close()
        cls.server.start()
        cls.api = cls.server.api()

    def big(self):
        return dict(BIG, hostids=self.hostid)

    def request(self, method, params):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1})
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self.api.token}
        return urllib.request.Request(self.server.url, body.encode(), headers)

    def peak(self):
        """Largest resident memory since `reset_peak`, in MiB."""
        with open("/proc/%d/status" % self.server.process.pid) as status:
            kib = next(line for line in status if line.startswith("VmHWM")).split()[1]
        return int(kib) / 1024

    def reset_peak(self):
        with open("/proc/%d/clear_refs" % self.server.process.pid, "w") as file:
            file.write("5")
        return self.peak()

    def cpu_ticks(self):
        with open("/proc/%d/stat" % self.server.process.pid) as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def unread(self, method, params, receive_bytes=4096):
        """A connection with a request whose answer nobody reads."""
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).encode()
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.connect(("127.0.0.1", self.server.http))
        self.addCleanup(client.close)
        client.sendall(b"POST /api_jsonrpc.php HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                       b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
                       % (self.api.token.encode(), len(body)) + body)
        return client

    def test_large_answers_at_once_are_bounded_and_whole(self):
        def get(_):
            with urllib.request.urlopen(self.request("item.get", self.big()), timeout=300) as answer:
                return answer.read()

        before = self.reset_peak()
        with concurrent.futures.ThreadPoolExecutor(ANSWERS) as pool:
            answers = list(pool.map(get, range(ANSWERS)))
        grown = self.peak() - before
        size = len(answers[0])
        print("%d answers of %.1f MB at once: +%.0f MiB" % (ANSWERS, size / 1e6, grown))
        self.assertGreater(size, 20e6)
        self.assertLess(grown, MEMORY_MIB_MAX)
        self.assertEqual({len(answer) for answer in answers}, {size})
        rows = json.loads(answers[0])["result"]
        self.assertEqual(len(rows), ITEMS + 1)
        ids = [int(row["itemid"]) for row in rows]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertTrue(all(row["hosts"][0]["name"] == "many" for row in rows))

    def test_clients_that_do_not_read_delay_no_other(self):
        before = self.reset_peak()
        for params in (BIG, {"output": ["itemid", "name", "description"]}) * 10:
            self.unread("item.get", params)
        # Each holds what it may hold once the others are answered.
        for _ in range(20):
            hosts = self.api.call("host.get", output=["host"], hostids=self.hostid)
            self.assertEqual(hosts[0]["host"], "many")
            rows = self.api.call("item.get", output=["itemid", "key_"], limit=100)
            self.assertEqual(len(rows), 100)
        grown = self.peak() - before
        print("20 answers that nobody reads: +%.0f MiB" % grown)
        self.assertLess(grown, MEMORY_MIB_MAX)

    def test_work_ends_with_its_client(self):
        # About 200 million comparisons of texts in one statement.
        texts = ["text number %d that no item has" % n for n in range(900)]
        names = ("name", "key_", "description", "params", "username", "units", "url", "posts",
                 "snmp_oid", "ipmi_sensor", "delay")
        params = {"output": ["itemid"], "excludeSearch": True,
                  "search": {name: texts for name in names}}
        start = self.cpu_ticks()
        client = self.unread("item.get", params)
        bed.wait_for("the work to begin", lambda: self.cpu_ticks() > start + 50, pause=0.02)
        client.close()
        closed = self.cpu_ticks()

        def rests():
            before = self.cpu_ticks()
            time.sleep(0.5)
            return self.cpu_ticks() < before + 10

        bed.wait_for("the work to end", rests)
        # Processor time: on a busy machine the end takes longer, but no more work.
        self.assertLess(self.cpu_ticks() - closed, 150)


if __name__ == "__main__":
    bed.main()
