// @vitest-environment happy-dom
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => {
  const api = mockEstate({ hosts: 3 });
  api.answers["settings.get"] = () => ({
    heartbeat_url: "",
    heartbeat_period: "0",
    url: "",
    link_lifetime: "24h",
    auditlog_enabled: "0",
  });
  return api;
};

test("without self-monitoring, rates and the start are unknown", async () => {
  await openPage(estate(), "/system");
  await screen.findByText("start time unknown");
  screen.getByText(/^The host Vedette, on which the server monitors itself, does not exist/);
  expect(screen.getAllByText("no value from self-monitoring")).toHaveLength(2);
  await screen.findByText("3 enabled");
});

test("objects that cannot be counted are an error, not zero", async () => {
  const api = estate();
  api.refuse("template.get", DENIED);
  await openPage(api, "/system");
  await screen.findByRole("alert");
  expect(screen.queryByText("3 enabled")).toBeNull();
});

test("a disabled audit log says so", async () => {
  const api = estate();
  api.tables["auditlog.get"] = [
    {
      auditid: "a1",
      userid: "1",
      username: "Admin",
      clock: String(Math.floor(Date.now() / 1000) - 60),
      ip: "127.0.0.1",
      action: "1",
      resourcetype: "15",
      resourceid: "7",
      resourcename: "CPU load",
      recordsetid: "r1",
      details: JSON.stringify({ "item.delay": ["update", "5m", "1m"] }),
    },
  ];
  await openPage(api, "/audit?entry=a1");
  await screen.findByText("The audit log is disabled: changes are not recorded.");
  const entry = within(await screen.findByRole("complementary", { name: "Audit entry" }));
  entry.getByRole("row", { name: "delay 1m 5m" });
  expect(entry.getByRole("link", { name: "CPU load" }).getAttribute("href")).toBe("/items/7/edit");
});

test.each(["/system", "/audit"])("%s is for super admins", async (path) => {
  await openPage(estate(), path, { type: 2 });
  await screen.findByText(/permission/i);
  expect(screen.queryByRole("link", { name: "Audit log" })).toBeNull();
});
