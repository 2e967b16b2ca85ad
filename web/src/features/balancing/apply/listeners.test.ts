import { expect, test } from "vitest";
import { afterChange, listeners, movedListeners } from "./listeners";

const before = {
  services: [
    { virtualserviceid: "7", vipid: "1", port: "80" },
    { virtualserviceid: "8", vipid: "2", port: "443" },
  ],
  vips: [
    { vipid: "1", ipv4: "192.0.2.1", ipv6: "" },
    { vipid: "2", ipv4: "192.0.2.2", ipv6: "2001:db8::2" },
  ],
};
const moves = (id: string, method: string, params: object) =>
  movedListeners(listeners(id, before), listeners(id, afterChange(before, { method, params })));

test("a service listens on all addresses of its VIP", () => {
  expect(listeners("8", before)).toEqual(["192.0.2.2:443", "[2001:db8::2]:443"]);
  expect(listeners("9", before)).toEqual([]);
});

test("another port moves all listeners of the service alone", () => {
  const change = ["virtualservice.update", { virtualserviceid: "7", port: "81" }] as const;
  expect(moves("7", ...change)).toEqual({
    stay: [],
    begin: ["192.0.2.1:81"],
    end: ["192.0.2.1:80"],
  });
  expect(moves("8", ...change).end).toEqual([]);
});

test("an address of a VIP that is removed ends a listener", () => {
  expect(moves("8", "vip.update", { vipid: "2", ipv4: "192.0.2.2", ipv6: "" })).toEqual({
    stay: ["192.0.2.2:443"],
    begin: [],
    end: ["[2001:db8::2]:443"],
  });
});

test("a change of a pool moves no listener", () => {
  expect(moves("7", "pool.update", { poolid: "7", port: "1" })).toEqual({
    stay: ["192.0.2.1:80"],
    begin: [],
    end: [],
  });
});
