#!/usr/bin/env python3
"""The dashboard editor: widgets, pages, undo, saving, users who may only read, and a template's dashboard."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class DashboardEditor(flowcase.FlowCase):
    def test_dashboard_editor(self):
        self.walk("dashboard-editor", steps=19)


if __name__ == "__main__":
    bed.main()
