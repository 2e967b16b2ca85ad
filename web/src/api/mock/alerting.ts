import type { Action, ActionOperation } from "../actions";
import type { AlertRow } from "../alerts";
import type { MediaTypeRow } from "../media-types";
import { SCRIPTS } from "./scripts";
import type { Stored, Tables } from "./tables";

const USERS = [
  ["1", "Admin", "", ""],
  ["2", "ann", "Ann", "Berg"],
  ["3", "boris", "Boris", "Kalns"],
] as const;

const GROUPS = [
  { usrgrpid: "7", name: "On call" },
  { usrgrpid: "8", name: "Database administrators" },
] as const;

const MEDIA_TYPE: Omit<MediaTypeRow, "mediatypeid" | "name" | "type"> = {
  status: "0",
  description: "",
  maxsessions: "1",
  maxattempts: "3",
  attempt_interval: "10s",
  provider: "0",
  smtp_server: "",
  smtp_port: "25",
  smtp_helo: "",
  smtp_email: "",
  smtp_security: "0",
  smtp_verify_peer: "0",
  smtp_verify_host: "0",
  smtp_authentication: "0",
  username: "",
  message_format: "0",
  exec_path: "",
  gsm_modem: "",
  script: "",
  timeout: "30s",
  process_tags: "0",
  show_event_menu: "0",
  event_menu_name: "",
  event_menu_url: "",
  parameters: [],
  storm_limit: null,
  fallback_mediatypeid: "0",
  living: "0",
  deduplicates: "0",
  reply_address: "",
};

const MESSAGES = [
  {
    eventsource: "0",
    recovery: "0",
    subject: "Problem: {EVENT.NAME}",
    message: "Problem: {EVENT.NAME}\nHost: {HOST.NAME}",
  },
  {
    eventsource: "0",
    recovery: "1",
    subject: "Resolved after {EVENT.DURATION}: {EVENT.NAME}",
    message: "Resolved: {EVENT.NAME}",
  },
];

const MEDIA_TYPES: Stored<"mediatype.get">[] = [
  {
    ...MEDIA_TYPE,
    mediatypeid: "1",
    name: "E-mail",
    type: "0",
    smtp_server: "mail.example.org",
    smtp_port: "587",
    smtp_email: "monitoring@example.org",
    smtp_security: "1",
    smtp_verify_peer: "1",
    smtp_verify_host: "1",
    message_templates: MESSAGES,
  },
  {
    ...MEDIA_TYPE,
    mediatypeid: "2",
    name: "Chat",
    type: "4",
    description: "Messages to the team's channel",
    parameters: [
      { name: "URL", value: "https://chat.example.org/hook" },
      { name: "To", value: "{ALERT.SENDTO}" },
      { name: "Message", value: "{ALERT.MESSAGE}" },
    ],
    script: "const params = JSON.parse(value);\nreturn new HttpRequest().post(params.URL, value);",
    process_tags: "1",
    message_templates: MESSAGES,
  },
  {
    ...MEDIA_TYPE,
    mediatypeid: "3",
    name: "Pager",
    type: "1",
    status: "1",
    exec_path: "page.sh",
    parameters: [{ sortorder: "0", value: "{ALERT.SENDTO}" }],
    message_templates: [],
  },
];

const MESSAGE: ActionOperation = {
  operationtype: "0",
  esc_period: "0",
  esc_step_from: "1",
  esc_step_to: "1",
  evaltype: "0",
  opconditions: [],
  opmessage: { default_msg: "1", subject: "", message: "", mediatypeid: "0" },
  opmessage_grp: [],
  opmessage_usr: [],
};

const ACTIONS: (Action & Stored<"action.get">)[] = [
  {
    actionid: "1",
    name: "Production problems",
    eventsource: "0",
    status: "0",
    esc_period: "10m",
    pause_suppressed: "1",
    pause_symptoms: "1",
    notify_if_canceled: "1",
    grouping: null,
    inhibition: null,
    calming: null,
    filter: {
      evaltype: "0",
      formula: "",
      eval_formula: "A and B",
      conditions: [
        { conditiontype: "0", operator: "0", value: "1", value2: "", formulaid: "A" },
        { conditiontype: "4", operator: "5", value: "3", value2: "", formulaid: "B" },
      ],
    },
    operations: [
      {
        ...MESSAGE,
        opmessage: { default_msg: "1", mediatypeid: "2" },
        opmessage_grp: [{ usrgrpid: "7" }],
      },
      {
        ...MESSAGE,
        esc_step_from: "2",
        esc_step_to: "3",
        opmessage_usr: [{ userid: "2" }],
        opconditions: [{ conditiontype: "14", operator: "0", value: "0" }],
      },
      {
        ...MESSAGE,
        esc_step_from: "4",
        esc_step_to: "0",
        esc_period: "1h",
        opmessage: { default_msg: "1", mediatypeid: "3" },
        opmessage_usr: [{ userid: "3" }],
      },
    ],
    recovery_operations: [{ operationtype: "11", opmessage: { default_msg: "1" } }],
    update_operations: [{ operationtype: "12", opmessage: { default_msg: "1" } }],
  },
  {
    actionid: "2",
    name: "Servers of the shop",
    eventsource: "2",
    status: "0",
    esc_period: "0",
    pause_suppressed: "0",
    pause_symptoms: "0",
    notify_if_canceled: "0",
    grouping: null,
    inhibition: null,
    calming: null,
    filter: {
      evaltype: "0",
      formula: "",
      eval_formula: "A",
      conditions: [
        { conditiontype: "24", operator: "2", value: "shop", value2: "", formulaid: "A" },
      ],
    },
    operations: [{ operationtype: "4", opgroup: [{ groupid: "1" }] }],
    recovery_operations: [],
    update_operations: [],
  },
];

type AlertRows = (AlertRow & Stored<"alert.get">)[];

/** The messages of one problem: one sent, one that failed, one that is still tried; of the second problem also withheld ones. */
function alertsOf(eventid: string, name: string, clock: number, n: number): AlertRows {
  const row = (at: number, userid: string, mediatypeid: string, more: Partial<AlertRow>) => ({
    alertid: String(7_000 + n * 10 + at),
    actionid: "1",
    eventid,
    p_eventid: "0",
    acknowledgeid: "0",
    userid,
    mediatypeid,
    clock: String(clock + 2 + at * 600),
    sendto: mediatypeid === "1" ? "ann@example.org" : "#operations",
    subject: `Problem: ${name}`,
    message: `Problem: ${name}\nSeverity: High`,
    status: "1",
    retries: "0",
    error: "",
    esc_step: String(at + 1),
    alerttype: "0",
    withheld: "0",
    carrierid: "0",
    eventsource: "0",
    users: USERS.filter(([id]) => id === userid).map(([id, username, first, surname]) => ({
      userid: id,
      username,
      name: first,
      surname,
    })),
    mediatypes: MEDIA_TYPES.filter((type) => type.mediatypeid === mediatypeid),
    ...more,
  });
  // One that another message tells of, and one that no message tells of.
  const withheld = () => [
    row(3, "2", "2", { status: "4", withheld: "1", carrierid: String(7_000 + n * 10) }),
    row(4, "3", "2", { status: "4", withheld: "2" }),
  ];
  return [
    row(0, "2", "2", {}),
    row(1, "2", "1", {
      status: "2",
      retries: "3",
      error: 'wrong answer on RCPT TO "550 no such user"',
    }),
    row(2, "3", "2", { status: "0", retries: "1", error: "HTTP status 503" }),
    ...(n === 1 ? withheld() : []),
  ];
}

/** Media types, actions, users with their media, and messages of some of the problems. */
export function alertingTables(problems: readonly Stored<"problem.get">[]): Tables {
  const told = problems.filter((_, n) => n % 2 === 0);
  return {
    "action.get": ACTIONS,
    "alert.get": told.flatMap(({ eventid = "", name = "", clock }, n) =>
      alertsOf(eventid, name, Number(clock), n),
    ),
    "correlation.get": [
      {
        correlationid: "1",
        name: "Application is up again",
        description: "",
        status: "0",
        filter: {
          evaltype: "1",
          formula: "",
          eval_formula: "A and B",
          conditions: [
            { type: "3", oldtag: "application", newtag: "application", formulaid: "A" },
            { type: "5", tag: "state", value: "up", operator: "0", formulaid: "B" },
          ],
        },
        operations: [{ type: "0" }, { type: "1" }],
      },
    ],
    "mediatype.get": MEDIA_TYPES,
    "script.get": SCRIPTS,
    "user.get": USERS.map(([userid, username, name, surname]) => ({
      userid,
      username,
      name,
      surname,
      roleid: "3",
      usrgrps: userid === "1" ? [] : [...GROUPS],
      role: { roleid: "3", name: "Super admin role", type: "3", readonly: "1" },
      medias:
        userid === "2"
          ? [
              {
                mediaid: "1",
                mediatypeid: "1",
                sendto: ["ann@example.org"],
                active: "0",
                severity: "63",
                period: "1-7,00:00-24:00",
              },
              {
                mediaid: "2",
                mediatypeid: "2",
                sendto: "#operations",
                active: "1",
                severity: "48",
                period: "1-5,08:00-18:00",
              },
            ]
          : [],
    })),
    "usergroup.get": GROUPS.map((group) => ({
      ...group,
      gui_access: "0",
      users_status: "0",
      users: [],
      hostgroup_rights: [],
      templategroup_rights: [],
    })),
  };
}
