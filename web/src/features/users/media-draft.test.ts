import { describe, expect, it } from "vitest";
import { mediaDraft, mediaParams, mediaProblem, newMedia } from "./media-draft";

const MAIL = {
  mediaid: "3",
  mediatypeid: "1",
  sendto: ["a@example.org", "b@example.org"],
  active: "1",
  severity: "48",
  period: "1-5,08:00-18:00",
};
const READ = { provisioned: "0" };
const CHAT = { ...MAIL, mediaid: "4", mediatypeid: "2", sendto: "#ops, team", active: "0" };

describe("media of a user", () => {
  it("are saved as they were read", () => {
    const read = [
      { ...MAIL, ...READ },
      { ...CHAT, provisioned: "1" },
    ].map(mediaDraft);
    expect(read.map((one) => one.provisioned)).toEqual([undefined, true]);
    expect(mediaParams(read)).toEqual([MAIL, CHAT]);
  });
  it("have all severities at first", () => {
    expect(mediaParams([{ ...newMedia("1", true), sendto: "a@b, c@d" }])).toEqual([
      {
        mediaid: undefined,
        mediatypeid: "1",
        sendto: ["a@b", "c@d"],
        active: "0",
        severity: "63",
        period: "1-7,00:00-24:00",
      },
    ]);
  });
  it.each([
    [newMedia("1", false), /address/],
    [{ ...newMedia("", false), sendto: "x" }, /media type/],
    [{ ...newMedia("1", false), sendto: "x", period: " " }, /active times/],
  ])("%#", (media, problem) => {
    const stored = mediaDraft({ ...MAIL, ...READ });
    expect(mediaProblem([stored])).toBeUndefined();
    expect(mediaProblem([stored, media])).toMatch(problem);
  });
});
