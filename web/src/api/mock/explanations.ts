import type { Running } from "../escalations";
import type { Case, ExplainedAction } from "../explanations";
import type { Rehearsal, RehearsedMessage } from "../rehearsals";
import type { Answers } from "./api";

const now = () => Math.floor(Date.now() / 1000);

const running = (eventid: string): Running => ({
  escalationid: eventid,
  step: "3",
  waits_for: "step",
  until: String(now() + 1_800),
  pauses: [],
  stopped: "",
});
const steps = () => [{ step: "4", at: String(now() + 1_800), operationids: ["13"] }];

const USERS: Record<string, string> = { "1": "ann", "2": "bea", "3": "boris" };
const told = (userid: string, verdict: string, mediatypeid = "0", sendto = ""): Case => ({
  userid,
  username: USERS[userid] ?? "",
  mediatypeid,
  sendto,
  verdict,
});

const actions = (eventid: string): ExplainedAction[] => [
  {
    actionid: "5",
    name: "Disasters",
    enabled: "1",
    applies: "0",
    conditions: [{ conditiontype: "4", operator: "5", value: "5", value2: "", met: "0" }],
    escalation: null,
    steps: [],
    operations: [
      { operationid: "51", mode: "problem", to_involved: "0", users: [told("1", "no_media")] },
    ],
    alertids: [],
  },
  {
    actionid: "1",
    name: "Production problems",
    enabled: "1",
    applies: "1",
    conditions: [
      { conditiontype: "0", operator: "0", value: "1", value2: "", met: "1" },
      { conditiontype: "4", operator: "5", value: "3", value2: "", met: "1" },
    ],
    escalation: running(eventid),
    steps: steps(),
    operations: [
      {
        operationid: "13",
        mode: "problem",
        to_involved: "0",
        users: [
          told("2", "no_right"),
          told("3", "sent", "3", "boris"),
          told("1", "severity", "1", "ann@example.org"),
          told("1", "other_media_type", "2", "#operations"),
        ],
      },
      { operationid: "14", mode: "recovery", to_involved: "1", users: [] },
    ],
    alertids: ["7000"],
  },
];

/** Of the range from `from` to `till`, about two problems. */
function rehearsal(from: number, till: number): Rehearsal {
  const message = (n: number, more: Partial<RehearsedMessage>): RehearsedMessage => ({
    clock: String(from + 3_600 * n),
    eventid: String(n),
    mode: "problem",
    step: String(n),
    userid: "1",
    mediatypeid: "1",
    sendto: "ann@example.org",
    verdict: "sent",
    ...more,
  });
  return {
    time_from: String(from),
    time_till: String(till),
    problems: "1234",
    fitting: "56",
    stopped_at: "0",
    users: [
      {
        userid: "1",
        username: "ann",
        messages: "112",
        at_night: "31",
        busiest_hour: { clock: String(from + 3_600), messages: "17" },
        failed: "0",
        withheld: [
          { reason: "period", messages: "9" },
          { reason: "grouped", messages: "5" },
        ],
        sent: "40",
      },
      {
        userid: "3",
        username: "boris",
        messages: "0",
        at_night: "0",
        busiest_hour: { clock: "0", messages: "0" },
        failed: "56",
        withheld: [],
        sent: "0",
      },
    ],
    messages: [
      message(1, {}),
      message(2, { userid: "3", mediatypeid: "0", sendto: "", verdict: "no_media" }),
      message(3, { mode: "recovery" }),
      message(4, { verdict: "grouped" }),
      message(5, { tells: "5" }),
    ],
  };
}

export const explanationAnswers: Answers = {
  "action.rehearse": ({ time_from, time_till }) => rehearsal(time_from, time_till),
  "escalation.get": ({ eventids }) =>
    eventids.map((eventid) => ({
      ...running(eventid),
      eventid,
      actionid: "1",
      name: "Production problems",
      steps: steps(),
    })),
  "event.explain": ({ eventid }) => ({
    eventid,
    clock: String(now()),
    actions: actions(eventid),
  }),
};
