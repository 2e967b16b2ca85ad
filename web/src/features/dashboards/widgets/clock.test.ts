// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { momentIn } from "~/util/time";
import { timeText } from "./clock";

test("a moment is that of the zone; an unknown zone changes nothing", () => {
  const noon = 1_782_475_200;
  expect(momentIn(noon, "UTC")).toMatchObject({ hours: 12, minutes: 0, date: "2026-06-26" });
  expect(momentIn(noon, "Asia/Tokyo")).toMatchObject({ hours: 21 });
  expect(momentIn(noon, "Moon/Crater").zone).toBe(momentIn(noon, undefined).zone);
});

test("twelve hours have a half of the day", () => {
  const at = (hours: number) =>
    timeText({ hours, minutes: 5, seconds: 9, date: "", zone: "" }, true, true);
  expect([at(0), at(12), at(13)]).toEqual(["12:05:09 AM", "12:05:09 PM", "1:05:09 PM"]);
});
