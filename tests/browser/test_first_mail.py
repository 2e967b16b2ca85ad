#!/usr/bin/env python3
"""From a server as it is after its first start to a mail about a problem, by clicks alone."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402
from mailbox import Mailbox  # noqa: E402


class FirstMail(flowcase.FlowCase):
    def test_first_mail(self):
        mailbox = Mailbox()
        self.addCleanup(mailbox.close)
        self.walk("first-mail", steps=6, SMTP_PORT=str(mailbox.port))
        mail = bed.wait_for("the mail", lambda: mailbox.mails and mailbox.mails[0])
        self.assertEqual(mail.envelope, ("<vedette@example.org>", ["<me@example.org>"]))
        self.assertRegex(mail["Subject"], "^Problem: Coolant is low")
        self.assertIn("Coolant is low", mail.get_content())


if __name__ == "__main__":
    bed.main()
