#!/usr/bin/env python3
"""Every macro in every place of a trigger, on a real server 7.0 and on Vedette, compared."""

import os
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
from macroscene import agent, explained, names, scene  # noqa: E402

SECRETS = ("never-show-this", "never-show-key")


def known_ids(one):
    """What the ids of one server's objects are called, to compare them with the other's."""
    ids = {number: "<trigger>" for number in list(one.made) + [one.tags_of]}
    for objects in (one.hosts, one.items):
        ids.update((number, "<id of %s>" % (name,)) for name, number in objects.items())
    return ids


def settled(ids, text):
    """A text without what must differ: ids, times of day."""
    if not isinstance(text, str):
        return text
    text = re.sub(r"\b\d\d:\d\d:\d\d\b", "<time>", text)
    return re.sub(r"\b\d{2,}\b", lambda found: ids.get(found[0], found[0]), text)


class Macros(bed.unittest.TestCase):
    maxDiff = 10_000

    @classmethod
    def setUpClass(cls):
        base = os.environ.get("VEDETTE_REFERENCE_PORT")
        cls.reference = reference.Reference(int(base) if base else None)
        cls.addClassCleanup(cls.reference.stop)
        cls.folder = tempfile.mkdtemp(prefix="vedette-macros-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server = bed.Server(folder=cls.folder)
        cls.addClassCleanup(cls.server.stop)
        cls.server.start()
        sides = ((cls.reference.api(), cls.reference.trapper), (cls.server.api(), cls.server.trapper))
        cls.texts = names.ALL
        cls.scenes = [scene.Scene(api, trapper) for api, trapper in sides]
        for one in cls.scenes:
            one.triggers(cls.texts)
            one.tagged(cls.texts)
        cls.agents = [agent.Agent() for _ in cls.scenes]
        for one, other in zip(cls.scenes, cls.agents):
            cls.addClassCleanup(other.stop)
            cls.numbers = one.polled(cls.texts, other.port)
        # The reference reads its configuration every few seconds.
        time.sleep(8)
        clock = int(time.time()) - 30
        for one in cls.scenes:
            one.fire(clock)
        cls.read = [one.read() for one in cls.scenes]
        cls.ids = [known_ids(one) for one in cls.scenes]
        cls.tags = [one.tags(cls.texts) for one in cls.scenes]

    def compare(self, theirs, ours):
        differ, reasons = [], {}
        for text in self.texts:
            one, other = theirs.get(text, {}), ours.get(text, {})
            for place in sorted(set(one) | set(other)):
                pair = [settled(ids, side.get(place)) for ids, side in zip(self.ids, (one, other))]
                if pair[0] == pair[1]:
                    continue
                reason = explained.explain(text, place)
                if reason:
                    reasons[reason] = reasons.get(reason, 0) + 1
                else:
                    differ.append("%s in %s: %r, here %r" % (text, place, *pair))
        for reason, count in reasons.items():
            print("explained %d: %s" % (count, reason))
        self.assertEqual(differ, [], "\n" + "\n".join(differ))

    def test_texts_of_triggers_and_events(self):
        self.assertGreater(len(self.read[0]), 400)
        self.compare(*self.read)

    def test_tags_of_hosts_and_items(self):
        self.compare(*self.tags)

    def test_keys_that_agents_are_asked_for(self):
        def asked(one):
            return {int(key[2:key.index(",")]): key for key in one.keys if key.startswith("k[")}

        for one in self.agents:
            bed.wait_for("checks of all items", lambda: set(asked(one)) == self.numbers)
        theirs, ours = (asked(one) for one in self.agents)
        differ = ["%s, here %s" % (theirs[n], ours[n]) for n in sorted(theirs) if theirs[n] != ours[n]]
        self.assertEqual(differ, [], "\n" + "\n".join(differ))

    def test_the_same_is_refused(self):
        refused = [sorted(one.refused) for one in self.scenes]
        self.assertEqual(*refused)

    def test_secrets_are_in_no_answer_and_no_log(self):
        ours = self.scenes[1].api
        for method, options in (
                ("host.get", {"selectMacros": "extend", "selectInheritedTags": "extend"}),
                ("item.get", {}), ("trigger.get", {"expandExpression": 1, "expandDescription": 1,
                                                   "expandComment": 1}),
                ("event.get", {"selectTags": "extend"}), ("problem.get", {"selectTags": "extend"}),
                ("usermacro.get", {})):
            answer = ours.call(method, dict(options, output="extend"))
            self.assertTrue(answer, method)
            self.assertNotIn(SECRETS[0], bed.json.dumps(answer), method)
        export = ours.call("configuration.export", format="yaml", options={
            "hosts": list(self.scenes[1].hosts.values())})
        self.assertNotIn(SECRETS[0], export)
        self.assertNotIn(SECRETS[0], self.server.log(100_000))


if __name__ == "__main__":
    bed.main()
