// @vitest-environment happy-dom
import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const place = { x: "0", y: "0", width: "36", height: "5", view_mode: "0", name: "" };
const field = (name: string, value: string) => ({ type: "1", name, value });

test("widgets on the page of a host select its problems and list other settings", async () => {
  const api = mockEstate({ hosts: 2 });
  const fields = [field("exclude_groupids.0", "1")];
  const widgets = ["problems", "problemsbysv"].map((type, n) => ({
    ...place,
    widgetid: String(n + 1),
    type,
    fields,
  }));
  const pages = [{ dashboard_pageid: "1", name: "", widgets }];
  const hostid = api.tables["host.get"]?.[1]?.hostid ?? "";
  const dashboard = { dashboardid: "1", name: "State", hostid, templateid: "5", pages };
  Object.assign(api.tables, { "hostdashboard.get": [dashboard] });
  await openPage(api, `/hosts/${hostid}?tab=dashboards`);
  const note = "Settings of this widget that are not applied: excluded host groups.";
  await waitFor(() => expect(screen.getAllByText(note)).toHaveLength(2));
  const counts = () =>
    api.calls
      .filter(({ method }) => method === "problem.get")
      .map(({ params }) => params as { hostids?: string[]; severities?: number[] })
      .filter(({ severities }) => severities?.length === 1);
  await waitFor(() => expect(counts()).toHaveLength(6));
  for (const { hostids } of counts()) expect(hostids).toEqual([hostid]);
});
