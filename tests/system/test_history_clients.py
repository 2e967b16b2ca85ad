"""The clients of the history service where something goes wrong: connections that end, answers
that break off, unfit values, signals, forks. The server is a double that fails as it is told."""

import asyncio
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed
import historydouble as double
from certificates import Authority
from historyclients import CLIENTS, CLOCK, compile_c, run, run_until, vh

LINE = vh.Log("line", 9, "src", 2, 7)


def in_child(work):
    """What `work` gives in a child of fork(), as text."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(120)
        try:
            os.write(writing, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as told:
        text = told.read().decode()
    os.waitpid(pid, 0)
    return text


class Case(unittest.TestCase):
    def serve(self, *answers, **more):
        server = double.Double(*answers, **more)
        self.addCleanup(server.close)
        return server

    def client(self, server, **more):
        client = vh.Client(server.url, "x", **more)
        self.addCleanup(client.close)
        return client

    def assert_error(self, reason, work):
        with self.assertRaises(vh.Error) as caught:
            work()
        self.assertEqual(caught.exception.reason, reason, caught.exception)
        return caught.exception

    def assert_sent_again(self, server):
        """The same values came again, marked as such, with a moment of their own."""
        first, *more = server.messages()
        self.assertGreater(first["values"][0]["clock"], CLOCK)
        self.assertFalse(first["resend"])
        self.assertTrue(more)
        for message in more:
            self.assertTrue(message["resend"])
            self.assertEqual(message["values"], first["values"])


class TestPython(Case):
    def test_an_answer_that_breaks_off_is_an_error(self):
        for answer in (double.pages(double.page(CLOCK, 3), cut=True), double.pages(cut=True)):
            server = self.serve(answer)
            rows = []
            error = self.assert_error(
                "network", lambda: rows.extend(self.client(server).newest([1])))
            self.assertTrue(error.retry)

            async def read():
                async with vh.AsyncClient(server.url, "x") as history:
                    return [row async for row in history.newest([1])]

            self.assertTrue(self.assert_error("network", lambda: asyncio.run(read())).retry)

    def test_an_answer_whose_connection_another_call_took(self):
        history = self.client(self.serve(
            double.pages(double.page(CLOCK, 2), double.page(CLOCK + 2, 2), pause=0.2), double.kept))
        rows = history.range([1])
        self.assertEqual(next(rows).clock, CLOCK)
        self.assertEqual(history.write([vh.value(1, 1)]).kept, 1)
        self.assert_error("interrupted", lambda: list(rows))
        self.assertEqual(history.write([vh.value(1, 1)]).kept, 1)

    def test_a_long_line_in_an_answer(self):
        pages = double.page(CLOCK, 2, text="x" * 300_000), double.page(CLOCK + 2, 1)
        history = self.client(self.serve(double.pages(*pages)))
        self.assertEqual([row.clock for row in history.range([1])], [CLOCK, CLOCK + 1, CLOCK + 2])

    def test_idle_connections_that_the_server_ended(self):
        for answer in (double.kept_and_ended, double.kept_and_reset):
            server = self.serve(answer)
            history = self.client(server)

            def wait_for_end(connections):
                bed.wait_for("the end of the connection", lambda: server.ended == connections, pause=0.01)

            async def write():
                async with vh.AsyncClient(server.url, "x") as history:
                    for number in (3, 4):
                        await history.write([])
                        # The loop does not see it.
                        wait_for_end(number)

            for number in (1, 2):
                history.write([])
                wait_for_end(number)
            asyncio.run(write())

    def test_a_connection_that_stays_is_used_again(self):
        server = self.serve(double.pages(double.page(CLOCK, 1)), double.kept)
        history = self.client(server)
        list(history.newest([1]))
        history.write([])
        history.write([])
        self.assertEqual({number for number, _, _ in server.requests}, {1})

    def test_a_child_has_a_connection_of_its_own(self):
        server = self.serve(double.kept)
        history = self.client(server)
        history.write([])
        self.assertEqual(in_child(lambda: history.write([]).kept), "0")
        history.write([])
        self.assertEqual([number for number, _, _ in server.requests], [1, 2, 1])

    def test_unfit_values_are_refused_when_they_are_made(self):
        for error, arguments in [
            (ValueError, (1, 1, 1 << 32)), (ValueError, (1, 1, -1)), (TypeError, (1, 1, "now")),
            (ValueError, (1, 1, 1, 1 << 32)), (ValueError, (1, 1, float("nan"))),
            (ValueError, (1 << 64, 1)), (ValueError, (-1, 1)), (ValueError, ("x", 1)),
            (TypeError, (1.5, 1)), (TypeError, ((b"h", "k"), 1)), (TypeError, (("h", None), 1)),
            (TypeError, (1, b"text")),
            (TypeError, (1, vh.Log(5))), (TypeError, (1, vh.Log("x", source=None))),
            (ValueError, (1, vh.Log("x", -1))),
        ]:
            with self.assertRaises(error, msg=arguments):
                vh.value(*arguments)

    def test_writers_send_the_same_again(self):
        answers = (double.lost, double.status("408 Request Timeout"),
                   double.status("429 Too Many Requests"), double.kept)
        server = self.serve(*answers)
        writer = vh.Writer(self.client(server))
        writer.put(1, LINE)
        self.assertEqual((writer.close(60), writer.kept, len(server.messages())), (0, 1, 4))
        self.assert_sent_again(server)
        self.assertEqual(server.messages()[0]["values"][0]["log"], LINE._asdict())
        server = self.serve(*answers)

        async def write():
            async with vh.AsyncClient(server.url, "x") as history:
                async with vh.AsyncWriter(history) as writer:
                    await writer.put(1, 7)
                return writer.kept

        self.assertEqual(asyncio.run(write()), 1)
        self.assert_sent_again(server)

    def test_an_unfit_value_costs_no_other(self):
        server = self.serve(double.kept)
        refusals = []
        wide = "\u4f60" * (1 << 20)

        def unfit():
            return [(ValueError, (1, "x" * vh.MESSAGE_MAX)), (TypeError, (1, vh.Log(object()))),
                    (ValueError, (1, 1, 1 << 40))]

        writer = vh.Writer(self.client(server), refused=lambda *told: refusals.append(told))
        writer.put((wide[:1000], "half of a pair \ud800"), "\udc00 another")
        for error, arguments in unfit():
            with self.assertRaises(error):
                writer.put(*arguments)
        for n in range(4):
            writer.put((wide, "key"), n, CLOCK)
        self.assertEqual((writer.close(60), refusals, writer.kept), (0, [], 5))

        async def write():
            async with vh.AsyncClient(server.url, "x") as history:
                async with vh.AsyncWriter(history) as writer:
                    for error, arguments in unfit():
                        with self.assertRaises(error):
                            await writer.put(*arguments)
                    for n in range(4):
                        await writer.put((wide, "key"), n, CLOCK)
                return writer.kept

        self.assertEqual(asyncio.run(write()), 4)
        texts = [one for message in server.messages() for one in message["values"]]
        self.assertEqual(texts[0]["text"], "\ufffd another")
        self.assertEqual(texts[0]["key"], "half of a pair \ufffd")
        for message in server.messages():
            size = sum(len(one["host"].encode()) for one in message["values"])
            self.assertLess(size, vh.BATCH_BYTES)

    def test_writers_keep_values_while_access_is_refused(self):
        answers = (double.failure("401 Unauthorized", "not_signed_in"),
                   double.failure("403 Forbidden", "denied"), double.status("404 Not Found"),
                   double.kept)
        server, refusals = self.serve(*answers), []
        writer = vh.Writer(self.client(server), refused=lambda *told: refusals.append(told))
        writer.put(1, LINE)
        self.assertEqual((writer.close(60), writer.kept, refusals), (0, 1, []))
        self.assertIsNone(writer.last_error)
        server = self.serve(*answers)

        async def write():
            async with vh.AsyncWriter(vh.AsyncClient(server.url, "x")) as writer:
                await writer.put(1, 7)
            return writer.kept
        self.assertEqual(asyncio.run(write()), 1)
        # What is wrong with the values themselves is refused at once.
        for answer in (double.failure("400 Bad Request", "invalid"),
                       double.status("413 Content Too Large")):
            refusals.clear()
            writer = vh.Writer(self.client(self.serve(answer)),
                               refused=lambda *told: refusals.append(told))
            writer.put(1, 7)
            self.assertEqual((writer.close(60), writer.kept, len(refusals)), (0, 0, 1))

    def test_writers_end_when_access_is_refused_for_too_long(self):
        before, threading.excepthook = threading.excepthook, lambda *_: None
        self.addCleanup(setattr, threading, "excepthook", before)
        put = threading.Event()
        server = self.serve(double.held(put, double.failure("401 Unauthorized", "not_signed_in")))
        refusals = []
        for told, left in ((lambda *told: refusals.append(told), 0), (None, 3)):
            writer = vh.Writer(self.client(server), refused=told, patience=0.3)
            for n in range(3):
                writer.put(1, n)
            put.set()
            error = self.assert_error("ended", lambda: writer.flush(60))
            put.clear()
            self.assertEqual(error.__cause__.reason, "no_access")
            self.assertEqual(writer.last_error.reason, "not_signed_in")
            self.assertEqual(writer.close(60), left)
        self.assertEqual([value["unsigned"] for value, _ in refusals], ["0", "1", "2"])

    def test_a_surprise_ends_a_writer_with_its_error(self):
        def surprise(*_):
            raise LookupError("a bug of the caller")

        before, threading.excepthook = threading.excepthook, lambda *_: None
        self.addCleanup(setattr, threading, "excepthook", before)
        server = self.serve(double.failure("400 Bad Request", "invalid"))
        writer = vh.Writer(self.client(server), queue_max=1, refused=surprise)
        writer.put(1, 7)
        for work in (writer.flush, lambda: writer.put(1, 8), lambda: writer.flush(0)):
            error = self.assert_error("ended", work)
            self.assertIsInstance(error.__cause__, LookupError)
        self.assertEqual(writer.close(60), 1)

        async def write():
            writer = vh.AsyncWriter(vh.AsyncClient(server.url, "x"), 1, surprise)
            await writer.__aenter__()
            await writer.put(1, 7)
            for _ in range(2):
                for work in (writer.flush(), writer.put(1, 8)):
                    with self.assertRaises(vh.Error) as caught:
                        await asyncio.wait_for(work, 60)
                    self.assertEqual(caught.exception.reason, "ended")
            self.assertEqual(await writer.close(), 1)
            with self.assertRaises(vh.Error):
                async with vh.AsyncWriter(vh.AsyncClient(server.url, "x"), 1, surprise) as writer:
                    await writer.put(1, 7)

        asyncio.run(write())

    def test_writers_tell_what_is_left(self):
        server = self.serve(double.lost)
        writer = vh.Writer(self.client(server))
        for n in range(3):
            writer.put(1, n)
        self.assertFalse(writer.flush(0.2))
        self.assertEqual(writer.close(0.2), 3)
        with self.assertRaises(ValueError):
            writer.put(1, 3)

        async def write():
            async with vh.AsyncWriter(vh.AsyncClient(server.url, "x")) as writer:
                for n in range(3):
                    await writer.put(1, n)
                self.assertFalse(await writer.flush(0.2))
                self.assertEqual(await writer.close(0.2), 3)
                with self.assertRaises(ValueError):
                    await writer.put(1, 3)

        asyncio.run(write())

    def test_writers_of_a_parent_say_so(self):
        server = self.serve(double.lost)
        writer = vh.Writer(self.client(server))
        writer.put(1, 7)

        def tell():
            told = []
            for work in (writer.flush, lambda: writer.put(1, 8)):
                try:
                    work()
                except vh.Error as error:
                    told.append(error.reason)
            return told, writer.close()

        self.assertEqual(in_child(tell), "(['forked', 'forked'], 0)")
        self.assertEqual(writer.close(0), 1)


class TestC(Case):
    @classmethod
    def setUpClass(cls):
        cls.build = tempfile.mkdtemp(prefix="vedette-client-")
        cls.addClassCleanup(shutil.rmtree, cls.build, ignore_errors=True)
        cls.program = os.path.join(cls.build, "faults")
        compile_c("historyfaults.c", cls.program, "-DVH_TLS", "-Wl,--wrap=realloc",
                  "-lssl", "-lcrypto")
        authority = Authority(cls.build)
        authority.sign("server", "IP:127.0.0.1")
        cls.ca_file = authority.pem
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(os.path.join(cls.build, "server.pem"),
                                    os.path.join(cls.build, "server.key"))

    def check(self, case, url, **environment):
        said = run([self.program, case, url, self.ca_file], **environment)
        self.assertEqual(said.splitlines()[-1], "all well")

    def test_values_without_a_clock_are_sent_again_as_they_were(self):
        server = self.serve(double.lost, double.kept)
        self.check("moment", server.url)
        self.assert_sent_again(server)
        self.assertEqual(server.messages()[0]["values"][0]["log"], LINE._asdict())

    def test_answers_that_mean_later(self):
        server = self.serve(double.status("408 Request Timeout"),
                            double.status("429 Too Many Requests"), double.kept)
        self.check("later", server.url)
        self.assertEqual(len(server.messages()), 3)

    def test_a_writer_keeps_values_while_access_is_refused(self):
        server = self.serve(double.failure("401 Unauthorized", "not_signed_in"),
                            double.failure("403 Forbidden", "denied"),
                            double.status("404 Not Found"), double.kept)
        self.check("later", server.url)
        self.assertEqual(len(server.messages()), 4)
        server = self.serve(double.failure("401 Unauthorized", "not_signed_in"))
        self.check("no access", server.url)

    def test_a_locale_with_a_decimal_comma(self):
        source = os.path.join(self.build, "comma.source")
        with open(source, "w") as f:
            f.write('LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\n'
                    'END LC_NUMERIC\n')
        # It warns of all that the locale does not say.
        folder = os.path.join(self.build, "comma")
        made = subprocess.run(["localedef", "-c", "-i", source, folder],
                              capture_output=True, text=True)
        self.assertTrue(os.path.exists(os.path.join(folder, "LC_NUMERIC")), made.stderr)
        server = self.serve(double.kept, double.pages(double.page(CLOCK, 1)))
        self.check("comma", server.url, LOCPATH=self.build, LC_ALL="", LC_NUMERIC="comma")
        self.assertEqual(server.messages()[0]["values"][0]["float"], 0.5)

    def test_an_unfit_value_costs_no_other(self):
        server = self.serve(double.kept)
        self.check("unfit", server.url)
        *writer, alone = server.messages()
        values = [one for message in writer for one in message["values"]]
        text = "\ufffd\u00e9" + "\ufffd" * 4 + "\U0001f600\ufffd\ufffd"
        self.assertEqual(values[0]["text"], text)
        self.assertEqual([one["ns"] for one in values], [0, 1, 2, 3, 4])
        for message in writer:
            size = sum(len(one["text"]) for one in message["values"])
            self.assertTrue(size < 4 << 20 or len(message["values"]) == 1)
        self.assertEqual(len(alone["values"]), 1)

    def test_idle_connections_that_the_server_ended(self):
        for answer in (double.kept_and_ended, double.kept_and_reset):
            for context in (None, self.context):
                server = self.serve(answer, context=context)
                said = run_until(lambda server=server: server.ended, [self.program, "idle", server.url, self.ca_file])
                self.assertEqual(said.splitlines()[-1], "all well")

    def test_no_signal_of_a_torn_connection_ends_the_program(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def tear():
            # First its end, then a reset: what is written after that raises SIGPIPE.
            connection = self.context.wrap_socket(listener.accept()[0], server_side=True)
            connection.recv(100)
            connection.shutdown(socket.SHUT_WR)
            time.sleep(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        thread = threading.Thread(target=tear)
        thread.start()
        self.check("torn", "https://127.0.0.1:%d" % listener.getsockname()[1])
        thread.join()

    def test_interrupted_waits_go_on(self):
        answer = double.pages(double.page(CLOCK, 2), double.page(CLOCK + 2, 2), pause=0.3)
        for context in (None, self.context):
            self.check("signals", self.serve(answer, context=context).url)

    def test_an_answer_that_breaks_off_is_an_error(self):
        self.check("cut", self.serve(double.pages(double.page(CLOCK, 1), cut=True)).url)

    def test_times_below_zero_do_not_wait(self):
        self.check("impatient", "http://127.0.0.1:1")

    def test_a_text_without_memory_is_no_short_text(self):
        page = {"itemid": "1", "samples": [dict(clock=CLOCK, ns=0, text=text)
                                           for text in ("short", "x" * (3 << 20))]}
        self.check("memory", self.serve(double.pages(page), double.kept).url)

    def test_a_child_of_fork(self):
        server = self.serve(double.kept)
        self.check("forked", server.url)
        self.assertEqual([number for number, _, _ in server.requests], [1, 2, 1])

    def test_the_library_shows_its_own_names_alone(self):
        run(["make", "-s", "-C", CLIENTS, "OUT=" + self.build])
        library = os.path.join(self.build, "libvedette-history")
        shown = re.findall(r" T (\w+)", run(["nm", "-D", "--defined-only", library + ".so"]))
        with open(os.path.join(CLIENTS, "vedette_history.h")) as header:
            told = set(re.findall(r"^(?:\w+ )+\*?(vh_\w+)\(", header.read(), re.M))
        self.assertEqual(set(shown), told)
        linked = re.findall(r" [A-TV-Z] (\w+)", run(["nm", "-g", library + ".a"]))
        self.assertEqual([one for one in linked if not re.match("vhi?_", one)], [])

    def test_php_reports_a_failed_read(self):
        run(["make", "-s", "-C", CLIENTS, "OUT=" + self.build])
        # 2^63 and more, which PHP has as a negative number.
        page = double.page(CLOCK, 1, unsigned=str((1 << 64) - 1))
        for read, code, said in [
            (double.pages(page), 0, "read 18446744073709551615\n"),
            (double.pages(page, cut=True), 1, "read 18446744073709551615\n"),
            (double.status("503 Service Unavailable"), 1, ""),
        ]:
            server = self.serve(double.kept, read)
            done = subprocess.run(
                ["php", os.path.join(CLIENTS, "examples", "history.php"),
                 os.path.join(self.build, "libvedette-history.so"), server.url, "x", "h", "k"],
                capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (code, "kept 3\n" + said), done.stderr)
            self.assertEqual(bool(done.stderr), bool(code))


if __name__ == "__main__":
    bed.main()
