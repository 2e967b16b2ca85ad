"""vcsim, the simulator of a vCenter that comes with govmomi: what VMware items ask in tests.

A `Front` stands between it and the servers under test: what vcsim says of counters is random, and of
an instance that no vCenter has, so the front says what a vCenter would say instead.
"""

import http.client
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
from xml.sax.saxutils import escape

import bed

USER = "monitor"
PASSWORD = "secret & <more>"
SIMPLE = 3
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def program():
    """The simulator's file; the first call builds it."""
    run = subprocess.run([os.path.join(ROOT, "scripts", "vcsim")], check=True,
                         stdout=subprocess.PIPE, text=True)
    return run.stdout.strip()


class Simulator:
    """A running vCenter (or ESXi host): a cluster of one host, two hosts beside it, two machines on
    each. In a larger cluster the simulator puts machines on hosts by chance."""

    def __init__(self, *more, tls=False):
        self.more, self.tls = more, tls
        self.port = bed.free_port()
        self.process = self.cookie = None
        self.start()

    @property
    def url(self):
        return "%s://127.0.0.1:%d/sdk" % ("https" if self.tls else "http", self.port)

    def start(self):
        self.cookie = None
        with tempfile.TemporaryFile() as log:
            self.process = subprocess.Popen(
                [program(), "-l", "127.0.0.1:%d" % self.port, "-tls=%s" % str(self.tls).lower(),
                 "-username", USER, "-password", PASSWORD, "-E", os.devnull,
                 "-host", "1", "-standalone-host", "2", "-pool", "1", *self.more],
                stdout=log, stderr=log)
        bed.wait_for("vcsim to listen", lambda: bed.listens(self.port))

    def stop(self):
        """Ends it; harmless when it has ended."""
        self.process.kill()
        self.process.wait()

    def call(self, method, this, arguments=""):
        """Calls a method of an object `(type, id)`, without TLS; returns the answer's text."""
        if self.cookie is None and method != "Login":
            self.call("Login", ("SessionManager", "SessionManager"),
                      "<userName>%s</userName><password>%s</password>"
                      % (escape(USER), escape(PASSWORD)))
        body = ('<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/" '
                'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><Body>'
                '<%s xmlns="urn:vim25"><_this type="%s">%s</_this>%s</%s></Body></Envelope>'
                % (method, *this, arguments, method))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "text/xml", "SOAPAction": "urn:vim25/6.5"}
        if self.cookie:
            headers["Cookie"] = self.cookie
        connection.request("POST", "/sdk", body, headers)
        answer = connection.getresponse()
        if method == "Login":
            self.cookie = answer.getheader("Set-Cookie", "").split(";")[0]
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise AssertionError("%s: %s" % (method, re.sub("<[^>]*>", " ", text)))
        return text

    def prepare(self):
        """Makes two snapshots of a machine, switches another one off, and one host to maintenance."""
        for name, text in (("one", "first &amp; only"), ("two", "")):
            self.call("CreateSnapshot_Task", ("VirtualMachine", "vm-69"),
                      "<name>%s</name><description>%s</description><memory>false</memory>"
                      "<quiesce>false</quiesce>" % (name, text))
        self.call("PowerOffVM_Task", ("VirtualMachine", "vm-72"))
        self.call("EnterMaintenanceMode_Task", ("HostSystem", "host-35"), "<timeout>0</timeout>")


# What a vCenter says to a request for a property that it does not know.
REFUSED = ("<faultcode>ServerFaultCode</faultcode><faultstring></faultstring><detail>"
           "<InvalidPropertyFault xsi:type=\"InvalidProperty\"><name>nosuch</name>"
           "</InvalidPropertyFault></detail>")
# Parts of objects that the front gives counters of; the empty one is the whole object.
INSTANCES = ["", "0", "vmnic0", "4000", "scsi0:0"]


class Front:
    """Passes requests on to a simulator, counts them by method, and mends what it says."""

    def __init__(self, simulator):
        self.simulator, self.methods = simulator, []
        front = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                front.serve(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = "http://127.0.0.1:%d/sdk" % self.port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def serve(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        method = re.search(rb"Body[^>]*>\s*<(?:\w+:)?(\w+)", body)
        self.methods.append(method.group(1).decode() if method else "?")
        passed = {name: handler.headers[name] for name in ("Content-Type", "SOAPAction", "Cookie")
                  if handler.headers.get(name)}
        connection = http.client.HTTPConnection("127.0.0.1", self.simulator.port, timeout=60)
        try:
            connection.request("POST", handler.path, body, passed)
            answer = connection.getresponse()
            data = self.mended(answer.read().decode(), body.decode()).encode()
            # The simulator passes over properties that it does not know.
            refused = b"pathSet>nosuch<" in body
            if refused:
                data = envelope("soapenv:Fault", REFUSED).encode()
            handler.send_response(500 if refused else answer.status)
            for name in ("Content-Type", "Set-Cookie"):
                if answer.getheader(name):
                    handler.send_header(name, answer.getheader(name))
        except OSError:
            data = b""
            handler.send_response(503)
        finally:
            connection.close()
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def mended(self, answer, request):
        # The machine's folder of a datastore has a number in its name that is random.
        answer = re.sub(r"govcsim-DC0-LocalDS_0-\d+", "govcsim-DC0-LocalDS_0", answer)
        # It says of one host alone that it has mounted the datastore that all of them have; the
        # field's server does not believe even that.
        answer = answer.replace("<mounted>true</mounted><accessible>true</accessible></mountInfo>"
                                "</DatastoreHostMount>", "</mountInfo></DatastoreHostMount>")
        # Its datastores are as large as this machine's disk.
        answer = re.sub(r"<capacity>\d+</capacity><freeSpace>\d+</freeSpace>"
                        r"(<uncommitted>\d+</uncommitted>)?(?=<multiple|<accessible>)",
                        "<capacity>1000000000000</capacity><freeSpace>567484538454</freeSpace>"
                        "<uncommitted>4148529679360</uncommitted>", answer)
        if "QueryPerfResponse" in answer:
            asked = re.findall(
                r"<(?:\w+:)?entity type=\"(\w+)\">([^<]*)</(?:\w+:)?entity>(.*?)"
                r"</(?:\w+:)?querySpec>", request, re.S)
            return envelope("QueryPerfResponse", "".join(self.metric(*one) for one in asked))
        return answer

    @staticmethod
    def metric(kind, name, rest):
        """Values that counter, object and instance tell: the same for each query."""
        series = []
        number = int(re.sub(r"\D", "", name) or 0)
        for metric in re.findall(r"metricId>(.*?)</(?:\w+:)?metricId", rest, re.S):
            counter = int(re.search(r"counterId>(\d+)<", metric).group(1))
            wanted = re.search(r"instance>([^<]*)<", metric)
            wanted = wanted.group(1) if wanted else ""
            instances = INSTANCES + ["govcsim-DC0-LocalDS_0"] if wanted == "*" else [wanted]
            series += ["<value xsi:type=\"PerfMetricIntSeries\"><id><counterId>%d</counterId>"
                       "<instance>%s</instance></id><value>%d</value></value>"
                       % (counter, instance, 100 * counter + number + 7 * len(instance))
                       for instance in instances]
        return ("<returnval xsi:type=\"PerfEntityMetric\"><entity type=\"%s\">%s</entity>"
                "<sampleInfo><timestamp>2026-01-01T00:00:00Z</timestamp><interval>20</interval>"
                "</sampleInfo>%s</returnval>" % (kind, name, "".join(series)))


def envelope(name, body):
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<soapenv:Envelope '
            'xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>'
            '<%s xmlns="urn:vim25">%s</%s></soapenv:Body></soapenv:Envelope>' % (name, body, name))


HOST, LONE_HOST = "c2ac5c27-2c72-5d75-9472-fd619e1af669", "dcf7fb3c-4a1c-5a05-b730-5e09f3704e2f"
RESTING = "11be763c-8dfa-5df1-bc09-114232813131"
MACHINE, OFF = "6ec01fe7-069e-54cc-8376-09ea932e2df5", "924687dd-efe2-577b-b4d1-aa8c6765b6b1"
STORE, CLUSTER, POOL, PLACE = "govcsim-DC0-LocalDS_0", "domain-c42", "resgroup-53", "datacenter-2"


def keys():
    """Keys of every kind, `{}` in the place of the URL: the simulator's objects are always the
    same. All keys of the official templates are among them."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vmwarekeys.txt")) as f:
        names = dict(H=HOST, L=LONE_HOST, R=RESTING, V=MACHINE, O=OFF, D=STORE, C=CLUSTER, P=POOL,
                     DC=PLACE)
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    return [re.sub(r"@(\w+)", lambda found: names[found.group(1)], line) for line in lines]


def item(url, key, **more):
    """Members of an item."""
    key = key.replace("{}", url)
    return dict({"name": key, "key_": key, "type": SIMPLE, "username": USER, "password": PASSWORD,
                 "value_type": 2 if "eventlog" in key else 4, "delay": "5s"}, **more)


def ask(api, trapper, url, key, **more):
    """The value that the server fetches, or its error as an exception."""
    asked = dict({"type": SIMPLE, "key": key.replace("{}", url), "value_type": 4, "username": USER,
                  "password": PASSWORD, "timeout": "10s", "steps": []}, **more)
    data = {"item": asked, "host": {"hostid": "0", "host": "made up"},
            "options": {"single": False, "state": 0}}
    reply = bed.send(("127.0.0.1", trapper),
                     {"request": "item.test", "sid": api.token, "data": data}, timeout=60)
    found = reply.get("data", {}).get("item", reply)
    return found["result"] if "result" in found else Exception(found.get("error", str(found)))


def same(value):
    """A value in a form that can be compared: rows in the order of their texts, ages of snapshots
    as far as they are equal for both, no moments."""
    value = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "MOMENT", value or "")
    if not value or value[0] not in "[{":
        return sorted(value.split("\n")) if value else value
    document = json.loads(value)
    if isinstance(document, list):
        return sorted(json.dumps(row) for row in document)
    for name in ("latestage", "oldestage"):
        if name in document:
            document[name] = document[name] >= 0
    return json.dumps(document)
