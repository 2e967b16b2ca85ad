"""A mail server for tests: takes mails over SMTP (RFC 5321) and keeps them."""

import email
import email.policy
import socketserver
import threading


class Dialog(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        self.say("220 mailbox.test")
        sender, recipients = None, []
        while line := self.rfile.readline():
            verb = line.strip().upper()
            if verb.startswith((b"EHLO", b"HELO")):
                self.say("250 mailbox.test")
            elif verb.startswith(b"MAIL FROM:"):
                sender, recipients = line[10:].strip().decode(), []
                self.say("250 OK")
            elif verb.startswith(b"RCPT TO:"):
                recipients.append(line[8:].strip().decode())
                self.say("250 OK")
            elif verb == b"DATA":
                self.say("354 go on")
                self.server.keep(sender, recipients, self.data())
                self.say("250 taken")
            elif verb == b"QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 OK")

    def data(self):
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line[1:] if line.startswith(b".") else line)
        return b"".join(lines)


class Mailbox(socketserver.ThreadingTCPServer):
    """Listens on a port of loopback that was free; `mails` are parsed messages."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Dialog)
        self.mails = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def keep(self, sender, recipients, data):
        mail = email.message_from_bytes(data, policy=email.policy.default)
        mail.envelope = sender, recipients
        self.mails.append(mail)

    def close(self):
        self.shutdown()
        self.server_close()
