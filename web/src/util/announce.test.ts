import { describe, expect, it } from "vitest";
import { announceParams, announceProblems } from "./announce";

const KEY = "0123456789abcdef".repeat(2);

describe("settings of autoregistration", () => {
  it.each([
    [{ accept: 1, identity: "", psk: "" }, false, []],
    [{ accept: 0, identity: "", psk: "" }, false, ["accept"]],
    [{ accept: 2, identity: "", psk: "" }, false, ["identity", "psk"]],
    [{ accept: 3, identity: "", psk: "" }, true, []],
    [{ accept: 3, identity: "i", psk: KEY.slice(1) }, true, ["psk"]],
    [{ accept: 3, identity: "i", psk: KEY.toUpperCase() }, false, []],
    [{ accept: 2, identity: "i", psk: KEY.slice(2) }, false, ["psk"]],
    [{ accept: 2, identity: "i", psk: `${KEY}xy` }, false, ["psk"]],
    [{ accept: 1, identity: "i", psk: "x" }, false, []],
  ])("%j with a stored key: %s", (draft, hasKey, wrong) => {
    expect(Object.keys(announceProblems(draft, hasKey))).toEqual(wrong);
  });

  it("sends keys only where they count, and what is empty never", () => {
    const full = { identity: " i ", psk: KEY };
    expect(announceParams({ accept: 3, ...full })).toEqual({
      tls_accept: 3,
      tls_psk_identity: "i",
      tls_psk: KEY,
    });
    expect(announceParams({ accept: 1, ...full })).toEqual({ tls_accept: 1 });
    expect(announceParams({ accept: 2, identity: "", psk: "" })).toEqual({ tls_accept: 2 });
  });
});
