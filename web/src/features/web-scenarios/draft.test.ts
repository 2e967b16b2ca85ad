import { describe, expect, it } from "vitest";
import type { WebScenarioDetail } from "~/api/web-scenarios";
import { draftOf, NEW_STEP, paramsOf, problemsOf } from "./draft";

const STEP = {
  name: "front",
  no: "1",
  url: "http://a/",
  query_fields: [{ name: "q", value: "a: b" }],
  posts: [{ name: "user", value: "{u}" }],
  headers: [],
  variables: [{ name: "{t}", value: "regex:t=(.*)" }],
  follow_redirects: "0",
  retrieve_mode: "2",
  timeout: "5s",
  required: "hello",
  status_codes: "200,301",
};
const SCENARIO = {
  httptestid: "7",
  hostid: "1",
  templateid: "0",
  name: "shop",
  delay: "30s",
  status: "1",
  agent: "me",
  authentication: "1",
  http_user: "u",
  http_password: "p",
  http_proxy: "",
  retries: "2",
  ssl_cert_file: "",
  ssl_key_file: "",
  ssl_key_password: "",
  verify_peer: "1",
  verify_host: "0",
  uuid: "",
  headers: [{ name: "X-A", value: "b" }],
  variables: [{ name: "{u}", value: "me" }],
  tags: [{ tag: "a", value: "b" }],
  steps: [STEP],
} as WebScenarioDetail;

describe("drafts", () => {
  it("give back what they were made of", () => {
    const draft = draftOf(SCENARIO);
    expect(problemsOf(draft)).toEqual({});
    expect(paramsOf(draft, false)).toEqual({
      name: "shop",
      delay: "30s",
      status: 1,
      agent: "me",
      retries: 2,
      http_proxy: "",
      variables: SCENARIO.variables,
      headers: SCENARIO.headers,
      authentication: 1,
      http_user: "u",
      http_password: "p",
      verify_peer: 1,
      verify_host: 0,
      ssl_cert_file: "",
      ssl_key_file: "",
      ssl_key_password: "",
      tags: SCENARIO.tags,
      steps: [{ ...STEP, no: 1, follow_redirects: 0, retrieve_mode: 2 }],
    });
  });

  it("change little of what a template brought", () => {
    expect(paramsOf(draftOf(SCENARIO), true)).toEqual({ delay: "30s", status: 1 });
  });

  it("say what is wrong, by field", () => {
    const good = draftOf(SCENARIO);
    const step = { ...NEW_STEP, name: "a", url: "http://a/" };
    const cases: [object, string[]][] = [
      [{}, []],
      [{ name: " " }, ["name"]],
      [{ delay: "" }, ["delay"]],
      [{ retries: "0" }, ["retries"]],
      [{ retries: "11" }, ["retries"]],
      [{ variables: "a: b" }, ["variables"]],
      [{ variables: "{a}: b\n\n{c}" }, []],
      [{ steps: [] }, ["steps"]],
      [{ steps: [step, step] }, ["step1.name"]],
      [{ steps: [{ ...step, name: "" }] }, ["step0.name"]],
      [{ steps: [{ ...step, url: " ", variables: "x" }] }, ["step0.variables", "step0.url"]],
    ];
    for (const [change, fields] of cases) {
      expect(Object.keys(problemsOf({ ...good, ...change }))).toEqual(fields);
    }
    expect(Object.keys(problemsOf(draftOf(null)))).toEqual(["name", "step0.url", "step0.name"]);
  });

  it("forget names of those who do not ask", () => {
    const params = paramsOf({ ...draftOf(SCENARIO), authentication: "0" }, false);
    expect(params).toMatchObject({ authentication: 0, http_user: "", http_password: "" });
  });
});
