import { expect, test } from "vitest";
import { proxyDraft, proxyParams, proxyProblem } from "./draft";

const draft = { ...proxyDraft(null), name: " p " };

test("a proxy is sent with the members of its mode", () => {
  const active = { ...draft, allowedAddresses: "10.0.0.0/8", address: "ignored" };
  expect(proxyParams(active)).toEqual({
    name: "p",
    proxy_groupid: "0",
    operating_mode: "0",
    allowed_addresses: "10.0.0.0/8",
    tls_accept: "1",
    description: "",
    custom_timeouts: "0",
  });
  const passive = { ...active, mode: "1", address: "proxy.example", tlsConnect: "4", issuer: "x" };
  expect(proxyParams(passive)).toMatchObject({
    address: "proxy.example",
    port: "10051",
    tls_connect: "4",
    tls_issuer: "x",
  });
  expect(proxyParams(passive)).not.toHaveProperty("allowed_addresses");
});

test("timeouts and the address for agents are sent where they count", () => {
  expect(proxyParams(draft)).not.toHaveProperty("timeout_script");
  const own = { ...draft, ownTimeouts: true, groupid: "5", localAddress: "h" };
  expect(proxyParams(own)).toMatchObject({
    timeout_script: "3s",
    timeout_browser: "60s",
    proxy_groupid: "5",
    local_address: "h",
    local_port: "10051",
  });
});

test("what is missing is named", () => {
  expect(proxyProblem(draft, null)).toBeUndefined();
  expect(proxyProblem({ ...draft, name: " " }, null)).toBe("Enter a name.");
  expect(proxyProblem({ ...draft, groupid: "5" }, null)).toMatch(/address for active agents/);
  expect(proxyProblem({ ...draft, mode: "1", address: "" }, null)).toMatch(/address of the proxy/);
  expect(proxyProblem({ ...draft, tlsAccept: 3 }, null)).toMatch(/PSK identity/);
});
