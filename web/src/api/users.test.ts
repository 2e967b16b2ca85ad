import { beforeEach, expect, test, vi } from "vitest";
import { endOther } from "./client";
import { answerWith } from "./mock/answer";
import { beginSession } from "./session-store";
import { deniedBy, NoInterfaceAccess, signIn } from "./users";

vi.mock("./live", () => ({ pollInterval: () => 5_000 }));
vi.mock("./session-store", () => ({
  beginSession: vi.fn(),
  endSession: vi.fn(),
  session: vi.fn(),
  setDenied: vi.fn(),
}));
vi.mock("./client", () => ({ rpc: vi.fn(), endOther: vi.fn() }));

beforeEach(() => void vi.clearAllMocks());

const login = (gui_access: string) =>
  answerWith(async () => ({
    sessionid: "s",
    userid: "7",
    username: "ann",
    name: "",
    surname: "",
    type: 1,
    gui_access,
  }));

test("a user without access to interfaces is refused, and the session ends", async () => {
  login("3");
  await expect(signIn("ann", "x", true)).rejects.toThrow(NoInterfaceAccess);
  expect(beginSession).not.toHaveBeenCalled();
  expect(endOther).toHaveBeenCalledWith("s");
});

test("other users sign in", async () => {
  login("0");
  await signIn("ann", "x", true);
  expect(beginSession).toHaveBeenCalledOnce();
});

test("the rules of a role deny what they switch off", () => {
  const ui = [
    { name: "monitoring.hosts", status: "1" },
    { name: "monitoring.problems", status: "0" },
  ];
  const actions = [{ name: "suppress_problems", status: "0" }];
  expect(deniedBy({ ui, actions })).toEqual(["monitoring.problems", "suppress_problems"]);
});
