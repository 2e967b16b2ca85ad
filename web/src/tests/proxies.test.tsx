// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => {
  const api = mockEstate({ hosts: 3 });
  api.tables["proxygroup.get"] = [
    { proxy_groupid: "5", name: "Riga", failover_delay: "1m", min_online: "1", description: "" },
  ];
  api.tables["proxy.get"] = [
    {
      proxyid: "7",
      name: "riga-1",
      proxy_groupid: "5",
      local_address: "10.0.0.7",
      local_port: "10051",
      operating_mode: "0",
      tls_accept: "1",
      custom_timeouts: "0",
      lastaccess: "0",
      hosts: [{ hostid: "1001" }],
    },
  ];
  api.answers["proxy.create"] = () => ({ proxyids: ["8"] });
  api.answers["proxy.update"] = () => ({ proxyids: ["7"] });
  api.answers["proxygroup.create"] = () => ({ proxy_groupids: ["6"] });
  return api;
};
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

test("proxies are listed with their group and hosts, and changed", async () => {
  const api = estate();
  await openPage(api, "/proxies");
  const row = await screen.findByRole("row", { name: /riga-1/ });
  await within(row).findByText("Riga");
  expect(row.textContent).toContain("Never connected");
  expect(screen.getByText(/^Proxies cannot connect yet/)).toBeTruthy();
  press("Edit riga-1");
  await screen.findByRole("dialog");
  type(/^Allowed addresses/, "10.0.0.0/8");
  press("Save proxy");
  await waitFor(() => expect(api.callsOf("proxy.update")).toHaveLength(1));
  expect(api.callsOf("proxy.update")[0]).toMatchObject({
    proxyid: "7",
    proxy_groupid: "5",
    local_address: "10.0.0.7",
    allowed_addresses: "10.0.0.0/8",
  });
});

test("a passive proxy and a group are created", async () => {
  const api = estate();
  await openPage(api, "/proxies");
  await screen.findByRole("row", { name: /riga-1/ });
  press("Create proxy");
  await screen.findByRole("dialog");
  type(/^Name/, "tallinn-1");
  type("Mode", "1");
  type(/^Address/, "10.1.0.1");
  press("Save proxy");
  await waitFor(() => expect(api.callsOf("proxy.create")).toHaveLength(1));
  expect(api.callsOf("proxy.create")[0]).toMatchObject({
    name: "tallinn-1",
    operating_mode: "1",
    address: "10.1.0.1",
  });
  fireEvent.click(screen.getByRole("tab", { name: "Proxy groups" }));
  await screen.findByRole("row", { name: /Riga/ });
  press("Create proxy group");
  await screen.findByRole("dialog");
  type(/^Name/, "Tallinn");
  press("Save proxy group");
  await waitFor(() => expect(api.callsOf("proxygroup.create")).toHaveLength(1));
});
