import { describe, expect, it } from "vitest";
import type { Directory } from "~/api/authentication";
import { directoryDraft, directoryParams, directoryProblem } from "./directory-draft";

const DRAFT = { ...directoryDraft(null), name: " ldap ", host: "localhost", base_dn: "dc=x" };
const GROUP = { name: "a*", roleid: "1", user_groups: [{ usrgrpid: "8" }] };
const PROVISIONS = { ...DRAFT, provisions: true, groups: [GROUP] };
const STORED = {
  ...directoryParams({ ...DRAFT, bind_dn: "cn=x" }),
  start_tls: "1",
  userdirectoryid: "1",
} as unknown as Directory;

describe("an LDAP server", () => {
  it("has nothing of provisioning without it", () => {
    const params = directoryParams(DRAFT);
    expect(params).toMatchObject({ name: "ldap", port: "389", provision_status: "0" });
    for (const name of ["group_name", "provision_groups", "provision_media"])
      expect(params).not.toHaveProperty(name);
  });
  it("finds groups in one of two ways", () => {
    expect(directoryParams(PROVISIONS)).toMatchObject({
      group_membership: "memberOf",
      group_basedn: "",
      group_member: "",
    });
    const search = { ...PROVISIONS, byAttribute: false, group_basedn: "dc=g" };
    expect(directoryParams(search)).toMatchObject({
      group_membership: "",
      group_basedn: "dc=g",
      group_member: "member",
    });
  });
  it("keeps a stored password, and forgets it with its DN", () => {
    const draft = directoryDraft(STORED);
    expect(directoryProblem(draft, STORED)).toBeUndefined();
    expect(directoryParams(draft)).not.toHaveProperty("bind_password");
    expect(directoryParams({ ...draft, bind_dn: "" })).toMatchObject({ bind_password: "" });
  });
  it.each([{ host: "other" }, { port: "1" }, { startTls: false }])(
    "sends a stored password nowhere else: %s",
    (change) => {
      const draft = { ...directoryDraft(STORED), ...change };
      expect(directoryProblem(draft, STORED)).toMatch(/bind password/);
      expect(directoryProblem({ ...draft, bind_password: "p" }, STORED)).toBeUndefined();
    },
  );
  it.each([
    [{ ...DRAFT, name: " " }, /name/],
    [{ ...DRAFT, port: "x" }, /port/],
    [{ ...DRAFT, base_dn: "" }, /base DN/],
    [{ ...PROVISIONS, groups: [] }, /group mapping/],
    [{ ...PROVISIONS, groups: [{ ...GROUP, user_groups: [] }] }, /user groups/],
    [{ ...PROVISIONS, byAttribute: false }, /group base DN/],
  ])("%#", (draft, problem) => expect(directoryProblem(draft, null)).toMatch(problem));
});
