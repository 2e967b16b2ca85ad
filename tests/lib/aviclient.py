"""A client of the Avi API that sends what avisdk, the Ansible collection and the Terraform provider send."""

import http.client
import http.cookies
import json
import urllib.parse


class AviClient:
    """`sign_in` is by form, as avisdk and Ansible do, or by JSON, as Terraform does."""

    def __init__(self, port):
        self.port = port
        self.cookies = {}
        self.login = {}

    def send(self, method, path, body=None, headers=None):
        """Status and body of the response; JSON if there is any."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            all_headers = {"Content-Type": "application/json", "Referer": "http://127.0.0.1:%d" % self.port,
                           "X-Avi-Version": "30.2.1", "X-Avi-Tenant": "admin"}
            if self.cookies:
                all_headers["Cookie"] = "; ".join("%s=%s" % pair for pair in self.cookies.items())
                all_headers["X-CSRFToken"] = self.cookies.get("csrftoken", "")
            all_headers.update(headers or {})
            if body is not None and not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            connection.request(method, path, body, all_headers)
            response = connection.getresponse()
            text = response.read()
            for value in response.headers.get_all("Set-Cookie") or ():
                for name, morsel in http.cookies.SimpleCookie(value).items():
                    self.cookies[name] = morsel.value
            return response.status, json.loads(text) if text else None
        finally:
            connection.close()

    def sign_in(self, user, password, form=True):
        """Status of the response; a sign-in as another user forgets the session."""
        self.cookies = {}
        members = {"username": user, "password": password}
        if form:
            kind, body = "application/x-www-form-urlencoded", urllib.parse.urlencode(members)
        else:
            kind, body = "application/json", json.dumps(members)
        status, self.login = self.send("POST", "/login", body, {"Content-Type": kind})
        return status
