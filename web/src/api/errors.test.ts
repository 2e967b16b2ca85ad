import { expect, test, vi } from "vitest";
import { ApiError } from "./client";
import { refusalOf } from "./errors";

vi.mock("./session-store", () => ({ sessionToken: () => null, endSession: () => undefined }));

test.each([
  [
    '"/1/port": port 443 of this VIP belongs to "a".',
    "port",
    'Port 443 of this VIP belongs to "a".',
  ],
  [
    '"/1/servers/2/address": an IPv4 or IPv6 address is expected.',
    "servers",
    "2/address: an IPv4 or IPv6 address is expected.",
  ],
  [
    "\"/1\": 'authentication': policy 'a': it has no users.",
    "authentication",
    "'authentication': policy 'a': it has no users.",
  ],
  ['"/name": cannot be empty.', "name", "Cannot be empty."],
  ['"/1": the VIP has no address.', "", "The VIP has no address."],
])("the member of %s", (data, member, text) => {
  const error = new ApiError(-32602, `Invalid parameter ${data}`, "vip.create");
  expect(refusalOf(error)).toEqual({ member, text });
});

test("other errors name no member", () => {
  expect(refusalOf(new ApiError(-32500, "No permissions.", "vip.create"))).toBeNull();
  expect(refusalOf(new Error("broken"))).toBeNull();
});
