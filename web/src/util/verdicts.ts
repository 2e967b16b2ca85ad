import type { Delivery } from "./alerts";
import { type Severity, severityName } from "./severity";

/** Whether a user gets a message: in a sentence, and what to do about it. */
export interface Judged {
  tone: Delivery["tone"];
  what: string;
  /** Empty: nothing. */
  todo: string;
}

type Words = readonly [tone: Delivery["tone"], what: string, todo: string];

const VERDICTS: Record<string, Words> = {
  sent: ["good", "Gets the message.", ""],
  no_media: [
    "bad",
    "The user has no medium for this message, so it fails.",
    "Add a medium of the operation's media type to the user.",
  ],
  media_type_disabled: [
    "bad",
    "The media type is disabled, so the message fails.",
    "Enable the media type.",
  ],
  no_text: [
    "bad",
    "Neither the operation nor the media type has a text, so the message fails.",
    "Add a message to the media type, or an own text to the operation.",
  ],
  deleted: ["off", "The user does not exist.", "Remove the user from the operation."],
  disabled: [
    "off",
    "The user is a member of a disabled user group.",
    "Enable the user group, or remove the user from it.",
  ],
  no_right: [
    "off",
    "No read access to all hosts of the trigger, or a tag filter hides the problem.",
    "Change the permissions or the tag filters of the user's user groups.",
  ],
  author: ["off", "The user made the update that the message reports.", ""],
  other_media_type: [
    "off",
    "The operation sends by another media type.",
    "Add a medium of that type to the user, or change the operation.",
  ],
  media_disabled: ["off", "The medium is disabled.", "Enable the medium of the user."],
  period: [
    "off",
    "Outside the active times of the medium.",
    "Change the active times of the medium.",
  ],
  // Why messages are withheld.
  grouped: ["off", "Part of a summary of its group.", ""],
  storm: ["off", "Beyond the limit of the media type: part of a digest.", ""],
  inhibited: ["off", "A more severe problem with equal tags was open.", ""],
  transient: ["off", "Problems of the trigger usually end soon, so the message waited.", ""],
  flapping: ["off", "The trigger was flapping.", ""],
};

/** A verdict of the server in words. `severity`: of the trigger. What is unknown is never shown as good. */
export function judged(verdict: string, severity?: Severity): Judged {
  if (verdict === "severity") {
    const named = severity === undefined ? "the trigger's severity" : severityName(severity);
    const what =
      severity === undefined
        ? `The medium does not take ${named}.`
        : `The medium does not take severity ${named}.`;
    return { tone: "off", what, todo: "Select the severity in the medium of the user." };
  }
  const known = Object.hasOwn(VERDICTS, verdict) ? VERDICTS[verdict] : undefined;
  const [tone, what, todo] = known ?? ["off", `Unknown: ${verdict}.`, ""];
  return { tone, what, todo };
}

interface OfUser {
  userid: string;
  username: string;
  mediatypeid: string;
  verdict: string;
}

/** Cases of each user: the user who reads first, then those who get the message, then by name. */
export function byUser<C extends OfUser>(cases: readonly C[], own: string | undefined): C[][] {
  const users = new Map<string, C[]>();
  for (const one of cases) {
    const before = users.get(one.userid);
    if (before) before.push(one);
    else users.set(one.userid, [one]);
  }
  const place = (of: readonly C[]) =>
    of[0]?.userid === own ? 0 : of.some(({ verdict }) => verdict === "sent") ? 1 : 2;
  return [...users.values()].map(relevant).sort((a, b) => {
    const names = (a[0]?.username ?? "").localeCompare(b[0]?.username ?? "");
    return place(a) - place(b) || names;
  });
}

/** Without media that the operation does not mean, if the user has another. */
function relevant<C extends OfUser>(cases: C[]): C[] {
  const meant = cases.filter(({ verdict }) => verdict !== "other_media_type");
  return meant.length > 0 ? meant : cases;
}

interface Action {
  enabled: string;
  applies: string;
  conditions: readonly unknown[];
  escalation: object | null;
  alertids: readonly unknown[];
}

/** How an action stands to a problem. */
export type Standing = "running" | "ended" | "missed" | "off" | "unfit";

/** "missed": it would apply now, but neither an escalation nor a message exists. */
export function standingOf({ enabled, applies, escalation, alertids }: Action): Standing {
  if (escalation) return "running";
  if (alertids.length > 0) return "ended";
  if (enabled !== "1") return "off";
  return applies === "1" ? "missed" : "unfit";
}

const ORDER: readonly Standing[] = ["running", "ended", "missed", "off", "unfit"];

/** Actions that do or did something first; an action that is switched off comes last if it does not apply. */
export function byStanding<A extends Action>(actions: readonly A[]): A[] {
  const place = (action: A) => {
    const standing = standingOf(action);
    return standing === "off" && action.applies !== "1" ? ORDER.length : ORDER.indexOf(standing);
  };
  return [...actions].sort((a, b) => place(a) - place(b));
}

interface OfAction extends Action {
  name: string;
  operations: readonly { users: readonly OfUser[] }[];
}

/** Whether the user who reads is notified, and why not. */
export function answerFor(own: string, actions: readonly OfAction[], severity?: Severity): Judged {
  const of = (...standings: Standing[]) =>
    actions.filter((action) => standings.includes(standingOf(action)));
  const applying = of("running", "ended", "missed");
  if (applying.length === 0)
    return {
      tone: "off",
      what: "No action applies to this problem, so nobody is notified.",
      todo: "",
    };
  const casesOf = ({ operations }: OfAction) =>
    operations
      .flatMap(({ users }) => byUser(users, own)[0] ?? [])
      .filter(({ userid }) => userid === own);
  const telling = (among: readonly OfAction[]) =>
    among
      .filter((action) => casesOf(action).some(({ verdict }) => verdict === "sent"))
      .map(({ name }) => name)
      .join(", ");
  const told = telling(of("running", "ended"));
  if (told) return { tone: "good", what: `You get messages of: ${told}.`, todo: "" };
  const missed = telling(of("missed"));
  if (missed)
    return {
      tone: "warn",
      what: `You get no messages: no escalation is running of ${missed}.`,
      todo: "Actions check a problem once, when it begins. The problem has ended, or the action was changed since.",
    };
  const found = new Map(
    applying.flatMap(casesOf).map(({ verdict }) => [verdict, judged(verdict, severity)]),
  );
  const reasons = [...found.values()];
  if (reasons.length === 0)
    return {
      tone: "off",
      what: "You get no messages: no operation names you or a user group of yours.",
      todo: "Operations that notify all involved include you after you were notified.",
    };
  return {
    tone: reasons.some(({ tone }) => tone === "bad") ? "bad" : "off",
    what: `You get no messages. ${reasons.map(({ what }) => what).join(" ")}`,
    todo: reasons
      .map(({ todo }) => todo)
      .filter(Boolean)
      .join(" "),
  };
}
