import { expect, test } from "vitest";
import { atServer, heardDate } from "./server-clock";

const answer = (date?: string) => new Response("", { headers: date ? { Date: date } : {} });

test("times are judged by the clock of the server", () => {
  const now = Date.UTC(2026, 0, 1, 12);
  expect(atServer(100)).toBe(100);
  heardDate(answer("Thu, 01 Jan 2026 12:01:00 GMT"), now);
  expect(atServer(100)).toBe(160);
  // A response without a date tells nothing.
  heardDate(answer(), now);
  heardDate(answer("yesterday"), now);
  expect(atServer(100)).toBe(160);
  heardDate(answer("Thu, 01 Jan 2026 11:59:30 GMT"), now);
  expect(atServer(100)).toBe(70);
});
