#!/usr/bin/env python3
"""History on a real OpenSearch: everything acknowledged is there exactly once, whatever is killed,
and the API reads what the data folder keeps no longer."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
import tlscase  # noqa: E402
from opensearch import OpenSearch  # noqa: E402
from storecase import DAY, FLOAT, LOG, SECRET, UNSIGNED  # noqa: E402

KINDS = {FLOAT: "float", LOG: "log", UNSIGNED: "uint"}


# When less is free, the node makes indices read-only; it looks every ten seconds, and takes new
# indices again as soon (a minute is usual).
WATERMARKS = """cluster.info.update.interval: 10s
cluster.routing.allocation.disk.reroute_interval: 10s
cluster.routing.allocation.disk.watermark.low: 60mb
cluster.routing.allocation.disk.watermark.high: 50mb
cluster.routing.allocation.disk.watermark.flood_stage: 40mb"""


class OnOpenSearch(tlscase.OverHttps, storecase.PromisesOnSmallDisk):
    left_when_full = 20 << 20
    says_when_full = ("flood-stage watermark",)

    @classmethod
    def make_store(cls):
        store = OpenSearch(WATERMARKS)
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        # This node asks nobody for a password; what is sent must not be told anywhere.
        return "opensearch=" + cls.store.url("vedette", "user:%s@" % SECRET)

    def rows(self, item, kind):
        kind = KINDS.get(kind, "text")
        self.store.call("POST", "vedette-*/_refresh")
        rows, after = [], {}
        while True:
            hits = self.store.call("POST", "vedette-history-*/_search", dict({
                "size": 1000, "sort": [{"clock": "asc"}, {"ns": "asc"}],
                "query": {"bool": {"filter": [{"term": {"itemid": int(item)}},
                                              {"term": {"kind": kind}}]}},
            }, **after))["hits"]["hits"]
            if not hits:
                return rows
            for hit in hits:
                row = hit["_source"]
                value = row["value"] if kind in ("float", "uint") else row["text"]
                rows.append((row["clock"], row["ns"], value))
            after = {"search_after": hits[-1]["sort"]}

    def trends(self, item):
        self.store.call("POST", "vedette-*/_refresh")
        hits = self.store.call("POST", "vedette-trends-*/_search", {
            "size": 1000, "sort": [{"clock": "asc"}], "query": {"term": {"itemid": int(item)}},
        })["hits"]["hits"]
        names = ("clock", "num", "min", "avg", "max")
        return [tuple(hit["_source"][name] for name in names) for hit in hits]

    def insert(self, item, clock, ns, value):
        place = "vedette-history-31d-%d/_doc/by-hand?refresh=true" % (clock // DAY)
        self.store.call("PUT", place, {
            "itemid": int(item), "kind": "uint", "clock": clock, "ns": ns, "value": value})

    def set_version(self, version):
        [found] = self.store.call("GET", "_index_template/vedette")["index_templates"]
        self.store.call("PUT", "_index_template/vedette",
                        dict(found["index_template"], version=version))

    def test_a_row_that_is_refused_blocks_no_other(self):
        _, items = self.host("refused", [{"key_": "l", "value_type": 2}])
        now = int(time.time())
        self.assertTrue(self.send([("refused", "l", "a line", now - 9, 0)]))
        self.wait_for_rows(items["l"], LOG, 1)
        # Tomorrow's index was made by hand and takes no logs.
        tomorrow = now // DAY + 1
        # After a full disk the node takes new indices some seconds later than rows.
        bed.wait_for("the index", lambda: self.store.call(
            "PUT", "vedette-history-31d-%d" % tomorrow,
            {"mappings": {"properties": {"severity": {"type": "ip"}}}}))
        clock = tomorrow * DAY + 5
        self.assertTrue(self.send([("refused", "l", "refused", clock, 0),
                                   ("refused", "l", "good", now - 8, 0)]))
        rows = self.wait_for_rows(items["l"], LOG, 2)
        self.assertEqual([value for _, _, value in rows], ["a line", "good"])
        refused = bed.wait_for("the file", self.refused)
        self.assertEqual(len(refused), 1)
        self.assertTrue(refused[0].startswith("%s\t%d." % (items["l"], clock)), refused[0][:80])

    def test_what_the_cluster_may_not_have_is_no_fault_of_rows(self):
        _, items = self.host("shards", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time())
        self.assertTrue(self.send([("shards", "n", "1", now - 9, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)

        def limit(shards):
            self.store.call("PUT", "_cluster/settings",
                            {"persistent": {"cluster.max_shards_per_node": shards}})

        limit(1)
        try:
            # No other day has an index.
            self.assertTrue(self.send([("shards", "n", "2", now + 3 * DAY, 0)]))
            bed.wait_for("the complaint", lambda: "maximum shards open" in self.server.log(100000))
        finally:
            limit(None)
        self.wait_for_rows(items["n"], UNSIGNED, 2)
        self.assertEqual(self.refused(items["n"]), [])


class Refused(bed.unittest.TestCase):
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self, ("opensearch=htp://u:%s@h/x" % SECRET, "is not like"))


if __name__ == "__main__":
    bed.main()
