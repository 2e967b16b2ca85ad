import { expect, test } from "vitest";
import { mediaTypeDraft } from "./draft";
import { errorParts, trialDraft, trialParams, trialProblem } from "./trial";

const draft = mediaTypeDraft(null);

test("e-mail is sent to a list of addresses", () => {
  const trial = trialDraft(draft);
  expect(trialProblem("0", trial)).toBe("Enter an address.");
  const filled = { ...trial, sendto: "ann@example.org, ben@example.org" };
  expect(trialProblem("0", filled)).toBeUndefined();
  expect(trialParams("5", "0", filled)).toEqual({
    mediatypeid: "5",
    sendto: ["ann@example.org", "ben@example.org"],
    subject: "Test subject",
    message: "This is the test message from Vedette.",
  });
});

test("webhooks are tested with their parameters, scripts with their arguments", () => {
  const webhook = trialDraft({ ...draft, type: "4" });
  expect(trialParams("5", "4", webhook).parameters?.[1]).toEqual({
    name: "To",
    value: "{ALERT.SENDTO}",
  });
  const script = trialDraft({ ...draft, type: "1", args: [{ value: "x" }] });
  expect(trialParams("5", "1", script)).toEqual({
    mediatypeid: "5",
    parameters: [{ value: "x" }],
  });
});

test("an SMS has no subject", () => {
  const trial = { ...trialDraft(draft), sendto: " +371 1 " };
  expect(trialParams("5", "2", trial)).not.toHaveProperty("subject");
  expect(trialParams("5", "2", trial).sendto).toBe("+371 1");
});

test("the log follows the error", () => {
  expect(errorParts("HTTP 500\n\nLog:\na\nb")).toEqual({ what: "HTTP 500", log: "a\nb" });
  expect(errorParts("HTTP 500")).toEqual({ what: "HTTP 500", log: "" });
});
