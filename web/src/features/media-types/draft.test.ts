import { describe, expect, it } from "vitest";
import type { MediaType } from "~/api/media-types";
import { mediaTypeDraft, mediaTypeParams, mediaTypeProblems, missingMessages } from "./draft";

const mail = { ...mediaTypeDraft(null), name: "Mail", server: "mx", email: "a@example.org" };
const hook = { ...mail, type: "4", script: "return value;" };

describe("a media type's draft", () => {
  it("begins with texts for problems of triggers", () => {
    const messages = mediaTypeParams(mail).message_templates ?? [];
    expect(messages.map((one) => `${one.eventsource} ${one.recovery}`)).toEqual([
      "0 0",
      "0 1",
      "0 2",
    ]);
    expect(messages.every((one) => one.subject && one.message)).toBe(true);
  });
  it("gives e-mail no parameters, and the password only if it was entered", () => {
    const params = mediaTypeParams({ ...mail, login: true, username: "u" });
    expect(params).toMatchObject({ smtp_authentication: "1", username: "u", smtp_server: "mx" });
    expect(params.passwd).toBeUndefined();
    expect(params).not.toHaveProperty("parameters");
    expect(mediaTypeParams({ ...mail, login: true, password: "p" }).passwd).toBe("p");
    expect(mediaTypeParams({ ...mail, login: false, password: "p" }).passwd).toBeUndefined();
  });
  it("checks certificates of new mail servers", () => {
    expect(mediaTypeParams({ ...mail, security: "1" })).toMatchObject({
      smtp_verify_peer: "1",
      smtp_verify_host: "1",
    });
    expect(mediaTypeParams(mail).smtp_verify_peer).toBeUndefined();
  });
  it("keeps the order of a script's arguments", () => {
    const row = {
      type: "1",
      parameters: [
        { sortorder: "1", value: "b" },
        { sortorder: "0", value: "a" },
      ],
      message_templates: [],
    } as unknown as MediaType;
    const draft = mediaTypeDraft(row);
    expect(draft.args.map((arg) => arg.value)).toEqual(["a", "b"]);
    expect(mediaTypeParams({ ...mail, type: "1", args: draft.args }).parameters).toEqual([
      { sortorder: "0", value: "a" },
      { sortorder: "1", value: "b" },
    ]);
  });
  it("gives SMS no subjects and one session", () => {
    const params = mediaTypeParams({ ...mail, type: "2", sessions: "5" });
    expect(params.maxsessions).toBe("1");
    expect(params.message_templates?.every((one) => one.subject === "")).toBe(true);
  });
  it.each([
    [mail, { server: "" }, "server"],
    [mail, { port: "0" }, "port"],
    [mail, { email: "me" }, "email"],
    [mail, { login: true }, "username"],
    [mail, { attempts: "101" }, "attempts"],
    [mail, { interval: "2h" }, "interval"],
    [mail, { sessions: "-1" }, "sessions"],
    [hook, { script: " " }, "script"],
    [hook, { timeout: "61s" }, "timeout"],
    [hook, { params: [{ name: "", value: "x" }] }, "params"],
    [hook, { menu: true }, "menu"],
  ])("%#", (start, change, field) => {
    expect(mediaTypeProblems(start)).toEqual({});
    expect(Object.keys(mediaTypeProblems({ ...start, ...change }))).toEqual([field]);
  });
  it("offers the messages that are missing", () => {
    expect(missingMessages(mail.messages).map(([key]) => key)).toEqual([
      "4 0",
      "4 1",
      "4 2",
      "1 0",
      "2 0",
      "3 0",
      "3 1",
    ]);
  });
});
