import { describe, expect, it } from "vitest";
import type { Host } from "~/api/hosts";
import { unlinkedTemplates } from "~/util/owner-draft";
import { draftOf, type HostDraft, hostParams, problemsOf } from "./draft";

const AGENT = { type: "1", main: "1", useip: "1", ip: "127.0.0.1", dns: "", port: "10050" };
const draft = (more: Partial<HostDraft> = {}): HostDraft => ({
  ...draftOf(null, AGENT),
  host: "web-1",
  groupids: ["2"],
  ...more,
});

describe("problemsOf", () => {
  const cases: [Partial<HostDraft>, string | null][] = [
    [{}, null],
    [{ host: "  " }, "host"],
    [{ host: "a/b" }, "host"],
    [{ host: "Web server 1.example_x" }, null],
    [{ groupids: [] }, "groups"],
    [{ tlsConnect: "2" }, "psk"],
    [{ tlsConnect: "2", pskIdentity: "id", psk: "00".repeat(16) }, null],
    [{ tlsConnect: "2", pskIdentity: "id", psk: "00" }, "psk"],
    [{ tlsAccept: 3 }, "psk"],
    [{ monitoredBy: "1" }, "proxy"],
    [{ monitoredBy: "2", proxyGroupid: "5" }, null],
    [{ macros: [{ macro: "{$A:x}", type: "0", description: "" }] }, null],
    [{ macros: [{ macro: "$A", type: "0", description: "" }] }, "macros"],
  ];
  it.each(cases)("%j", (more, field) => {
    expect(Object.keys(problemsOf(draft(more), true))).toEqual(field ? [field] : []);
  });
  it("lets a stored key stay", () => {
    expect(problemsOf(draft({ tlsConnect: "2" }), false)).toEqual({});
  });
});

describe("hostParams", () => {
  it("names a host after its technical name and leaves empty lines out", () => {
    const params = hostParams(
      draft({
        tags: [
          { tag: "", value: "x" },
          { tag: " a ", value: "1" },
        ],
      }),
      null,
      true,
    );
    expect(params).toMatchObject({
      host: "web-1",
      name: "web-1",
      tags: [{ tag: "a", value: "1" }],
    });
    expect(params).toMatchObject({ tls_psk: undefined, tls_issuer: undefined });
  });
  it("names the proxy that monitors the host", () => {
    const of = (more: Partial<HostDraft>) => hostParams(draft(more), null, true);
    expect(of({ proxyid: "7" })).toMatchObject({ monitored_by: "0" });
    expect(of({ proxyid: "7" })).not.toHaveProperty("proxyid");
    expect(of({ monitoredBy: "1", proxyid: "7" })).toMatchObject({ proxyid: "7" });
    expect(of({ monitoredBy: "2", proxyGroupid: "8" })).toMatchObject({ proxy_groupid: "8" });
  });
  it("sends IPMI credentials if there is an IPMI interface", () => {
    const ipmi = { ...AGENT, type: "3", port: "623" };
    const login = { ipmiUsername: "monitor", ipmiPassword: "secret", ipmiAuthtype: "6" };
    expect(hostParams(draft(login), null, true)).not.toHaveProperty("ipmi_username");
    expect(hostParams(draft({ ...login, interfaces: [ipmi] }), null, true)).toMatchObject({
      ipmi_authtype: "6",
      ipmi_privilege: "2",
      ipmi_username: "monitor",
      ipmi_password: "secret",
    });
  });
  it("clears what an unlinked template brought, or leaves it", () => {
    const before = { parentTemplates: [{ templateid: "7" }, { templateid: "8" }] } as Host;
    const after = draft({ templateids: ["8"] });
    expect(unlinkedTemplates(after, before)).toEqual([{ templateid: "7" }]);
    expect(hostParams(after, before, true)).toMatchObject({
      templates: [{ templateid: "8" }],
      templates_clear: [{ templateid: "7" }],
    });
    expect(hostParams(after, before, false)).toMatchObject({ templates_clear: undefined });
  });
  it("says that a discovery's macro becomes people's own only where it was changed", () => {
    const macro = { hostmacroid: "5", macro: "{$A}", value: "1", type: "0", description: "" };
    const macros = [
      { ...macro, automatic: "1" },
      { ...macro, automatic: "0" },
    ];
    expect(hostParams(draft({ macros }), null, true)).toMatchObject({
      macros: [{ automatic: undefined }, { automatic: "0" }],
    });
  });
  it("sends of a discovered host only what is people's", () => {
    const before = { flags: "4", parentTemplates: [] as Host["parentTemplates"] } as Host;
    expect(Object.keys(hostParams(draft(), before, false))).toEqual([
      "description",
      "status",
      "macros",
      "templates",
      "templates_clear",
      "tags",
    ]);
  });
  it("keeps a stored secret that was not entered again", () => {
    const macros = [{ hostmacroid: "5", macro: "{$P}", type: "1", description: "" }];
    expect(hostParams(draft({ macros }), null, true)).toMatchObject({
      macros: [{ value: undefined }],
    });
  });
});
