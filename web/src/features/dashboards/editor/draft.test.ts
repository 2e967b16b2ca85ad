// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Dashboard } from "~/api/dashboards";
import {
  clonedDraft,
  dashboardDraft,
  dashboardParams,
  dashboardProblems,
  type Pages,
  stepField,
  templateDashboardDraft,
  templateDashboardParams,
  withCopiedPage,
  withNewPage,
  withNewWidget,
  withWidgets,
} from "./draft";

const dashboard: Dashboard = {
  dashboardid: "1",
  name: "Riga",
  userid: "5",
  private: "0",
  display_period: "60",
  auto_start: "0",
  users: [{ userid: "9", permission: "2" }],
  userGroups: [],
  pages: [
    {
      dashboard_pageid: "10",
      name: "First",
      display_period: "0",
      widgets: [
        {
          widgetid: "20",
          type: "hostnavigator",
          name: "Hosts",
          x: "0",
          y: "0",
          width: "12",
          height: "5",
          view_mode: "1",
          fields: [
            { type: "1", name: "reference", value: "AAAAA" },
            { type: "1", name: "unknown", value: "kept" },
          ],
        },
        {
          widgetid: "21",
          type: "problems",
          name: "",
          x: "12",
          y: "0",
          width: "36",
          height: "5",
          view_mode: "0",
          fields: [{ type: "1", name: "override_hostid._reference", value: "AAAAA._hostid" }],
        },
      ],
    },
  ],
};

const draft = dashboardDraft(dashboard, "1");
const fieldIn = (fields: readonly { name: string; value: string }[], name: string) =>
  fields.find((field) => field.name === name)?.value;

test("an unchanged dashboard is saved as it was read, without its sharing", () => {
  const params = dashboardParams(draft, dashboard);
  expect(params).not.toHaveProperty("users");
  expect(params).toMatchObject({
    name: "Riga",
    userid: "5",
    private: "0",
    display_period: "60",
    auto_start: "0",
  });
  expect(params.pages).toMatchObject([
    {
      dashboard_pageid: "10",
      name: "First",
      display_period: "0",
      widgets: [
        {
          widgetid: "20",
          view_mode: "1",
          x: 0,
          width: 12,
          fields: [{ name: "reference" }, { type: "1", name: "unknown", value: "kept" }],
        },
        { widgetid: "21" },
      ],
    },
  ]);
});

test("a new dashboard needs a name, and belongs to the user", () => {
  const fresh = dashboardDraft(null, "7");
  expect(dashboardProblems(fresh)).toHaveProperty("name");
  expect(dashboardProblems({ ...fresh, name: "A" })).toEqual({});
  expect(dashboardParams(fresh, null)).toMatchObject({ userid: "7", private: "1", users: [] });
});

test("a template's dashboard has neither owner nor sharing", () => {
  const params = templateDashboardParams(templateDashboardDraft(null), "3");
  expect(params).toMatchObject({ templateid: "3" });
  for (const name of ["userid", "private", "users"]) expect(params).not.toHaveProperty(name);
  expect(templateDashboardParams(templateDashboardDraft(null), null)).not.toHaveProperty(
    "templateid",
  );
});

test("a clone is a new private dashboard of the user", () => {
  const params = dashboardParams(clonedDraft(draft, "Copy", "7"), null);
  expect(params).toMatchObject({ name: "Copy", userid: "7", private: "1", users: [] });
  expect(JSON.stringify(params)).not.toMatch(/widgetid|dashboard_pageid/);
});

test("a new widget gets a free place and a reference that no other has", () => {
  const content = { type: "hostnavigator", name: "", hideHeader: false, fields: [] };
  const [pages, key] = withNewWidget(draft.pages, "10", content) ?? [];
  const widget = pages?.[0]?.widgets.find((one) => one.key === key);
  expect(widget?.place).toEqual({ x: 48, y: 0, width: 12, height: 5 });
  expect(fieldIn(widget?.fields ?? [], "reference")).toBe("AAAAB");
  const full = withWidgets(draft.pages, "10", [
    {
      key: "a",
      widgetid: "",
      ...content,
      place: { x: 0, y: 0, width: 72, height: 64 },
    },
  ]);
  expect(withNewWidget(full, "10", content)).toBeNull();
});

test("widgets of a copied page refer to the copies", () => {
  const [pages, key] = withCopiedPage(draft.pages, "10");
  const copy = pages.find((page) => page.key === key);
  expect(pages.map((page) => page.dashboard_pageid)).toEqual(["10", ""]);
  const [hosts, problems] = copy?.widgets ?? [];
  const reference = fieldIn(hosts?.fields ?? [], "reference");
  expect(reference).toBe("AAAAB");
  expect(fieldIn(problems?.fields ?? [], "override_hostid._reference")).toBe(
    `${reference}._hostid`,
  );
  const keys = pages.flatMap(({ widgets }) => widgets.map((one) => one.key));
  expect(new Set(keys).size).toBe(4);
});

test("typing the name of a page is one step, other changes are a step each", () => {
  const named = (name: string): Pages => draft.pages.map((page) => ({ ...page, name }));
  expect(stepField(draft.pages, named("F"))).toBe("10");
  expect(stepField(draft.pages, withNewPage(draft.pages)[0])).toBeNull();
  expect(stepField(draft.pages, withWidgets(draft.pages, "10", []))).toBeNull();
});
