import { describe, expect, it } from "vitest";
import { passwordProblem, type UserDraft, userParams } from "./user-draft";

const DRAFT: UserDraft = {
  username: " ada ",
  name: "Ada",
  surname: "",
  roleid: "2",
  groupids: ["7"],
  autologout: "15m",
  autologin: false,
  password: "",
  again: "",
  current: "",
  medias: [],
};

describe("passwordProblem", () => {
  const cases: [string, string, string, isNew: boolean, own: boolean, RegExp | undefined][] = [
    ["", "", "", false, false, undefined],
    ["", "", "", true, false, /Enter a password/],
    ["short", "short", "", false, false, /at least 8/],
    ["long enough", "long enougH", "", false, false, /do not match/],
    ["long enough", "long enough", "", false, false, undefined],
    ["long enough", "long enough", "", false, true, /current/],
    ["long enough", "long enough", "old one", false, true, undefined],
  ];
  it.each(cases)("%s / %s / %s", (password, again, current, isNew, own, expected) => {
    const problem = passwordProblem({ password, again, current }, isNew, own, 8);
    if (expected) expect(problem).toMatch(expected);
    else expect(problem).toBeUndefined();
  });
});

describe("userParams", () => {
  it("changes of oneself what one may", () => {
    const draft = { ...DRAFT, password: "new", current: "old" };
    expect(userParams(draft, { admin: false, own: true })).toMatchObject({
      username: undefined,
      roleid: undefined,
      usrgrps: undefined,
      passwd: "new",
      current_passwd: "old",
    });
  });
  it("sends nothing that the directory of the user decides on", () => {
    const params = userParams(DRAFT, { admin: true, own: false, provisioned: true });
    expect(JSON.parse(JSON.stringify(params))).toEqual({ autologin: "0", autologout: "15m" });
  });
  it("sends all of another user", () => {
    expect(userParams(DRAFT, { admin: true, own: false })).toMatchObject({
      username: "ada",
      roleid: "2",
      usrgrps: [{ usrgrpid: "7" }],
      autologout: "15m",
      passwd: undefined,
    });
  });
  it("does not sign out somebody who stays signed in", () => {
    expect(userParams({ ...DRAFT, autologin: true }, { admin: true, own: true })).toMatchObject({
      autologin: "1",
      autologout: "0",
    });
  });
});
