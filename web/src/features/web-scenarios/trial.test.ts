import { describe, expect, it } from "vitest";
import { draftOf, NEW_STEP } from "./draft";
import { answerParts, type Carried, filled, judged, setVariables, trialParams } from "./trial";

const carried = (
  variables: [string, string][] = [],
  cookies: [string, string][] = [],
): Carried => ({
  variables: new Map(variables),
  cookies: new Map(cookies),
});
const DRAFT = { ...draftOf(null), name: "shop", headers: "X-A: {u}" };
const same = (text: string) => text;

const itemOf = (params: object) => (params as { item: Record<string, unknown> }).item;

describe("what a step asks", () => {
  it("has variables, macros, headers and cookies in it", () => {
    const step = { ...NEW_STEP, url: " http://{$HOST}/{u}", query: "q: {u}" };
    const with_ = carried(
      [["{u}", "me"]],
      [
        ["s", "1"],
        ["t", "2"],
      ],
    );
    const resolve = (text: string) => text.replaceAll("{$HOST}", "a");
    const params = trialParams(DRAFT, step, with_, resolve, "10");
    expect(params).toMatchObject({ host: { hostid: "10" } });
    expect(itemOf(params)).toMatchObject({
      url: "http://a/me",
      query_fields: [{ name: "q", value: "me" }],
      request_method: 0,
      retrieve_mode: 2,
      status_codes: "200",
      headers: [
        { name: "X-A", value: "me" },
        { name: "User-Agent", value: "Zabbix" },
        { name: "Cookie", value: "s=1; t=2" },
      ],
    });
  });

  it("has the method that its body and its part of the answer need", () => {
    const cases: [object, number, string][] = [
      [{}, 0, ""],
      [{ posts: "text" }, 1, "text"],
      [{ asForm: true, posts: "a b: c&d\ne: ä" }, 1, "a%20b=c%26d&e=%C3%A4"],
      [{ retrieve: "1" }, 3, ""],
      [{ retrieve: "1", posts: "x" }, 1, "x"],
    ];
    for (const [change, request_method, posts] of cases) {
      const params = trialParams(DRAFT, { ...NEW_STEP, ...change }, carried(), same);
      expect(itemOf(params)).toMatchObject({ request_method, posts });
    }
  });

  it("beats the headers of the scenario", () => {
    const step = { ...NEW_STEP, headers: "user-agent: own\nCookie: c=d" };
    const { headers } = itemOf(trialParams(DRAFT, step, carried([], [["s", "1"]]), same));
    expect(headers).toEqual([
      { name: "user-agent", value: "own" },
      { name: "Cookie", value: "c=d" },
    ]);
  });
});

describe("variables", () => {
  it("may change on their way into a text", () => {
    const all = carried([
      ["{a}", "x y&"],
      ["{b}", "100%"],
      ["{c}", "a%20b$&"],
    ]);
    expect(filled("{a} {{a}.urlencode()} {{b}.urldecode()} {{c}.urldecode()} {c} {d}", all)).toBe(
      "x y& x%20y%26 100% a b$& a%20b$& {d}",
    );
  });
});

describe("answers", () => {
  const moved = "HTTP/1.1 302 Found\r\nSet-Cookie: s=1; Path=/\r\n\r\n";
  const last = "HTTP/1.1 200 OK\r\nset-cookie: t=2\r\n\r\n";

  it("are split behind the last head", () => {
    expect(answerParts(`${moved}${last}HTTP is fine`)).toEqual({
      head: moved + last,
      body: "HTTP is fine",
    });
    expect(answerParts("text")).toEqual({ head: "", body: "text" });
    expect(answerParts("HTTP/1.1 200 OK\r\n")).toEqual({ head: "HTTP/1.1 200 OK\r\n", body: "" });
  });

  it("leave cookies and variables behind", () => {
    const after = carried();
    const step = {
      ...NEW_STEP,
      variables: "{token}: regex:token=(\\w+)\n{a}: b",
      required: "^tok",
    };
    expect(judged(DRAFT, step, `${moved}${last}token=xyz`, after)).toMatchObject({
      error: undefined,
      found: [
        ["{token}", "xyz"],
        ["{a}", "b"],
      ],
    });
    expect([...after.cookies]).toEqual([
      ["s", "1"],
      ["t", "2"],
    ]);
    expect(after.variables.get("{token}")).toBe("xyz");
  });

  it("fail for what is not in them", () => {
    const cases: [object, string | undefined][] = [
      [{ required: "nothing" }, 'Nothing in the response matches "nothing".'],
      [{ required: "t=2" }, 'Nothing in the response matches "t=2".'],
      [{ required: "t=2", retrieve: "1" }, undefined],
      [{ required: "t=2[^]*hello", retrieve: "2" }, undefined],
      [{ required: "(" }, 'The test cannot read the regular expression "(".'],
      [{ variables: "{v}: regex:no(.)" }, 'Nothing in the response matches "no(.)" of {v}.'],
      [{ variables: "{v}: regex:hello" }, 'Nothing in the response matches "hello" of {v}.'],
    ];
    for (const [change, error] of cases) {
      const trial = judged(DRAFT, { ...NEW_STEP, ...change }, `${last}hello`, carried());
      expect(trial.error).toBe(error);
    }
  });

  it("are not needed for plain variables", () => {
    const before = carried();
    expect(setVariables("{a}: 1\n{b}: {a}2\n{c}: regex:x", before)).toEqual({
      found: [
        ["{a}", "1"],
        ["{b}", "12"],
      ],
    });
  });
});
