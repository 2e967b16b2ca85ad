import { describe, expect, it } from "vitest";
import { deliveryOf, occasionOf, problemOf, summaryOf, withheldWords } from "./alerts";

const alert = (status: string, retries = "0") => ({ status, retries });

describe("alerts in words", () => {
  it.each([
    ["1", "0", "good", "Sent"],
    ["1", "2", "good", "Sent"],
    ["2", "3", "bad", "Failed"],
    ["0", "0", "next", "In progress"],
    ["0", "2", "warn", "Retrying after 2 failed"],
    ["3", "0", "next", "In progress"],
    ["7", "0", "off", "Unknown status 7"],
    ["", "0", "off", "Unknown status "],
  ])("status %s after %s failures", (status, retries, tone, words) => {
    expect(deliveryOf({ status, retries })).toEqual({ tone, words });
  });
  it.each([
    ["1", "Withheld: grouped"],
    ["3", "Withheld: storm"],
    ["0", "Withheld"],
    ["9", "Withheld"],
  ])("withheld for reason %s", (withheld, words) => {
    expect(deliveryOf({ status: "4", retries: "0", withheld })).toEqual({ tone: "off", words });
  });
  it("tells why it was withheld, also after it was sent", () => {
    expect(withheldWords({ withheld: "5" })).toBe("The trigger was flapping");
    expect(withheldWords({ withheld: "9" })).toBe("Unknown reason 9");
    expect(withheldWords({ withheld: "0" })).toBeUndefined();
    expect(deliveryOf({ status: "1", retries: "0", withheld: "1" }).words).toBe("Sent");
  });
  it("names the occasion and the problem", () => {
    const start = { eventid: "5", p_eventid: "0", acknowledgeid: "0", esc_step: "2" };
    expect(occasionOf(start)).toBe("Step 2");
    expect(occasionOf({ ...start, p_eventid: "4" })).toBe("Recovery");
    expect(occasionOf({ ...start, acknowledgeid: "9", p_eventid: "4" })).toBe("Update");
    expect(problemOf(start)).toBe("5");
    expect(problemOf({ ...start, p_eventid: "4" })).toBe("4");
  });
  it("counts failures first", () => {
    expect(summaryOf([alert("1"), alert("0"), alert("0", "1"), alert("2"), alert("9")])).toBe(
      "5 notifications: 1 failed, 2 in progress, 1 sent, 1 unknown.",
    );
    expect(summaryOf([alert("1"), alert("4")])).toBe("2 notifications: 1 sent, 1 withheld.");
    expect(summaryOf([alert("1")])).toBe("1 notification: 1 sent.");
  });
});
