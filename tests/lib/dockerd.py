"""A Docker daemon's socket without a daemon: two containers and two images, as the Engine API tells
of them. What moves in a real one stands still here."""

import http.server
import json
import os
import re
import socketserver
import threading

RUNNING, STOPPED = "4f0c" * 16, "9b1e" * 16
WHEN = "2026-11-20T10:11:12.123456789Z"


def container(identity, name, state):
    return {"Id": identity, "Names": ["/" + name], "Image": "nginx:1.22", "ImageID": "sha256:" + "a1" * 32,
            "Command": "nginx -g 'daemon off;'", "Created": 1763633472, "State": state,
            "Status": "Up 2 days" if state == "running" else "Exited (1) 3 hours ago",
            "Ports": [{"PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}], "Labels": {"tier": "web"},
            "SizeRw": 1200, "SizeRootFs": 142_000_000, "HostConfig": {"NetworkMode": "default"},
            "NetworkSettings": {"Networks": {}}, "Mounts": []}


CONTAINERS = [container(RUNNING, "shop", "running"), container(STOPPED, "batch", "exited")]
IMAGES = [
    {"Id": "sha256:" + digit * 64, "ParentId": "", "RepoTags": [tag], "RepoDigests": [], "Containers": 1,
     "Created": 1763000000, "Size": size, "SharedSize": 0, "VirtualSize": size, "Labels": {}}
    for digit, tag, size in (("a", "nginx:1.22", 142_000_000), ("b", "alpine:3.17", 7_000_000))]
INFO = {
    "ID": "ABCD:EFGH", "Containers": 2, "ContainersRunning": 1, "ContainersPaused": 0,
    "ContainersStopped": 1, "Images": 2, "Driver": "overlay2", "DriverStatus": [["Backing", "extfs"]],
    "SystemStatus": None, "Plugins": {"Volume": ["local"], "Network": ["bridge"], "Authorization": None,
                                      "Log": ["json-file"]},
    "MemoryLimit": True, "SwapLimit": True, "KernelMemory": True, "KernelMemoryTCP": True,
    "CpuCfsPeriod": True, "CpuCfsQuota": True, "CPUShares": True, "CPUSet": True, "PidsLimit": True,
    "IPv4Forwarding": True, "BridgeNfIptables": True, "BridgeNfIp6tables": True, "Debug": False,
    "NFd": 30, "OomKillDisable": True, "NGoroutines": 41, "SystemTime": WHEN, "LoggingDriver": "json-file",
    "CgroupDriver": "systemd", "NEventsListener": 0, "KernelVersion": "6.1.0", "OperatingSystem": "Debian",
    "OSType": "linux", "Architecture": "x86_64", "IndexServerAddress": "https://index.docker.io/v1/",
    "NCPU": 4, "MemTotal": 8_000_000_000, "DockerRootDir": "/var/lib/docker", "HttpProxy": "",
    "HttpsProxy": "", "NoProxy": "", "Name": "whale", "Labels": [], "ExperimentalBuild": False,
    "ServerVersion": "24.0.7", "DefaultRuntime": "runc", "LiveRestoreEnabled": False,
    "InitBinary": "docker-init", "SecurityOptions": ["name=seccomp,profile=default"], "Warnings": None,
}


def inspected(identity):
    runs = identity == RUNNING
    return {
        "Id": identity, "Created": WHEN, "Path": "nginx", "Args": ["-g", "daemon off;"],
        "State": {"Status": "running" if runs else "exited", "Running": runs, "Paused": False,
                  "Restarting": False, "OOMKilled": False, "Dead": False, "Pid": 4242 if runs else 0,
                  "ExitCode": 0 if runs else 1, "Error": "", "StartedAt": WHEN,
                  "FinishedAt": "0001-01-01T00:00:00Z" if runs else WHEN},
        "Image": "sha256:" + "a1" * 32, "Name": "/shop" if runs else "/batch", "RestartCount": 3,
        "Driver": "overlay2", "Platform": "linux", "MountLabel": "", "ProcessLabel": "", "SizeRw": 1200,
        "SizeRootFs": 142_000_000, "HostConfig": {}, "Config": {"Labels": {"tier": "web"}}, "Mounts": [],
        "NetworkSettings": {},
    }


def stats(identity):
    cpu = {"cpu_usage": {"total_usage": 5_000_000_000, "usage_in_kernelmode": 1_000_000_000,
                         "usage_in_usermode": 4_000_000_000, "percpu_usage": [1, 2, 3, 4]},
           "system_cpu_usage": 90_000_000_000, "online_cpus": 4,
           "throttling_data": {"periods": 0, "throttled_periods": 0, "throttled_time": 0}}
    before = dict(cpu, cpu_usage=dict(cpu["cpu_usage"], total_usage=4_900_000_000),
                  system_cpu_usage=89_000_000_000)
    return {
        "read": WHEN, "preread": WHEN, "num_procs": 0, "name": "/shop", "id": identity,
        "pids_stats": {"current": 3}, "storage_stats": {}, "cpu_stats": cpu, "precpu_stats": before,
        "blkio_stats": {"io_service_bytes_recursive": []},
        "memory_stats": {"usage": 20_000_000, "max_usage": 30_000_000, "commitbytes": 0,
                         "commitpeakbytes": 0, "privateworkingset": 0, "limit": 8_000_000_000,
                         "stats": {"cache": 0, "inactive_file": 4096, "total_inactive_file": 4096}},
        "networks": {"eth0": {"rx_bytes": 1000, "rx_packets": 10, "rx_errors": 0, "rx_dropped": 0,
                              "tx_bytes": 2000, "tx_packets": 20, "tx_errors": 0, "tx_dropped": 0}},
    }


USAGE = {"LayersSize": 149_000_000, "Images": IMAGES, "Containers": CONTAINERS,
         "Volumes": [{"Name": "data", "Driver": "local", "Mountpoint": "/data", "Labels": {},
                      "Options": None, "Scope": "local", "UsageData": {"Size": 5000, "RefCount": 1}}],
         "BuildCache": []}


def answer(path):
    """The answer to a GET: its text, or nothing."""
    path, _, query = re.sub(r"^/v?1\.\d+", "", path).partition("?")
    if path == "/_ping":
        return "OK"
    known = {"/info": INFO, "/images/json": IMAGES, "/system/df": USAGE}
    if path == "/containers/json":
        every = re.search("all=(true|1)", query)
        known[path] = CONTAINERS if every else CONTAINERS[:1]
    found = re.match("/containers/([^/]+)/(json|stats)$", path)
    for identity, name in (RUNNING, "shop"), (STOPPED, "batch"):
        if found and found.group(1) in (identity, name, "/" + name):
            known[path] = (inspected if found.group(2) == "json" else stats)(identity)
    return json.dumps(known[path]) if path in known else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        text = answer(self.path)
        body = (text if text is not None else '{"message":"page not found"}').encode()
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "socket"

    def log_message(self, *_):
        pass


class Dockerd:
    """The socket at `path` of a folder."""

    def __init__(self, folder):
        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
        self.path = os.path.join(folder, "docker.sock")
        self.server = Server(self.path, Handler)
        os.chmod(self.path, 0o666)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
