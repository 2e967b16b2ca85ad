import { describe, expect, it } from "vitest";
import { checkWords, portsProblem, rangeProblem } from "./network";

describe("addresses", () => {
  it.each(["127.0.0.1", "192.168.0.1-254, 10.0.0.0/16", "10.0.0-1.1-255", "fe80::1-ff", "::1/112"])(
    "takes %s",
    (text) => expect(rangeProblem(text)).toBeUndefined(),
  );
  it.each(["", "10.0.0.1,", "x", "10.0.0", "10.0.0.1-10.0.0.9", "host.example"])(
    "refuses %s",
    (text) => expect(rangeProblem(text)).toBeDefined(),
  );
});

describe("ports", () => {
  it.each(["22", "22, 80-90", "0", "65535"])("takes %s", (text) =>
    expect(portsProblem(text)).toBeUndefined(),
  );
  it.each(["", "x", "5-3", "65536", "1-"])("refuses %s", (text) =>
    expect(portsProblem(text)).toBeDefined(),
  );
});

describe("checks in words", () => {
  it.each([
    [{ type: "9", key_: "system.uname", ports: "10050" }, "Agent system.uname (10050)"],
    [{ type: "12", key_: "", ports: "0" }, "ICMP ping"],
    [{ type: "8", key_: "", ports: "80,8080" }, "TCP (80,8080)"],
  ])("%o", (check, words) => expect(checkWords(check)).toBe(words));
});
