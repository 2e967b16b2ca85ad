import type { MediaType, MessageTemplate } from "~/api/media-types";
import type { Members } from "~/api/methods";
import {
  EmailProvider,
  EventSource,
  MediaTypeKind,
  MessageFormat,
  SmtpAuthentication,
  SmtpSecurity,
  Status,
} from "~/api/schema";
import { messageName, modesOf, SOURCE_NAMES } from "~/util/event-sources";
import type { Pair } from "~/util/pairs";
import { periodSeconds } from "~/util/time";
import { proposedMessage } from "./default-messages";

/** A media type as the form holds it: what its kind needs is used. */
export interface MediaTypeDraft {
  name: string;
  type: string;
  on: boolean;
  description: string;
  provider: string;
  server: string;
  port: string;
  helo: string;
  email: string;
  security: string;
  verifyPeer: boolean;
  verifyHost: boolean;
  login: boolean;
  username: string;
  /** Empty: the stored one is kept. */
  password: string;
  html: boolean;
  execPath: string;
  /** Arguments of a script in their order. */
  args: { value: string }[];
  modem: string;
  params: Pair[];
  script: string;
  timeout: string;
  processTags: boolean;
  menu: boolean;
  menuName: string;
  menuUrl: string;
  /** At once; "0" = without limit. */
  sessions: string;
  attempts: string;
  interval: string;
  messages: MessageTemplate[];
  /** Messages to an address are limited. */
  limited: boolean;
  stormMessages: string;
  stormPeriod: string;
  /** "0": nothing. */
  fallback: string;
  living: boolean;
  deduplicates: boolean;
  replyAddress: string;
}

/** Parameters that webhooks for addresses, subjects and texts begin with. */
const PARAMS: readonly Pair[] = [
  { name: "URL", value: "" },
  { name: "To", value: "{ALERT.SENDTO}" },
  { name: "Subject", value: "{ALERT.SUBJECT}" },
  { name: "Message", value: "{ALERT.MESSAGE}" },
];
const ARGS = ["{ALERT.SENDTO}", "{ALERT.SUBJECT}", "{ALERT.MESSAGE}"];
const SESSIONS_MAX = 100;
const ATTEMPTS_MAX = 100;
const INTERVAL_MAX = 3_600;
const TIMEOUT_MAX = 60;
const STORM_MAX = 10_000;
const STORM_PERIOD_MAX = 86_400;

const NEW: MediaTypeDraft = {
  name: "",
  type: MediaTypeKind.Email,
  on: true,
  description: "",
  provider: EmailProvider.Smtp,
  server: "",
  port: "25",
  helo: "",
  email: "",
  security: SmtpSecurity.None,
  verifyPeer: true,
  verifyHost: true,
  login: false,
  username: "",
  password: "",
  html: false,
  execPath: "",
  args: ARGS.map((value) => ({ value })),
  modem: "/dev/ttyS0",
  params: [...PARAMS],
  script: "",
  timeout: "30s",
  processTags: false,
  menu: false,
  menuName: "",
  menuUrl: "",
  sessions: "1",
  attempts: "3",
  interval: "10s",
  // Without a text, messages with the default text fail.
  messages: modesOf(EventSource.Trigger).map((mode) => proposedMessage(EventSource.Trigger, mode)),
  limited: false,
  stormMessages: "20",
  stormPeriod: "5m",
  fallback: "0",
  living: false,
  deduplicates: false,
  replyAddress: "",
};

export function mediaTypeDraft(row: MediaType | null): MediaTypeDraft {
  if (!row) return NEW;
  const byPlace = row.parameters.toSorted((a, b) => Number(a.sortorder) - Number(b.sortorder));
  return {
    name: row.name,
    type: row.type,
    on: row.status === Status.Enabled,
    description: row.description,
    provider: row.provider,
    server: row.smtp_server,
    port: row.smtp_port,
    helo: row.smtp_helo,
    email: row.smtp_email,
    security: row.smtp_security,
    verifyPeer: row.smtp_verify_peer === "1",
    verifyHost: row.smtp_verify_host === "1",
    login: row.smtp_authentication === SmtpAuthentication.Password,
    username: row.username,
    password: "",
    html: row.message_format === MessageFormat.Html,
    execPath: row.exec_path,
    args: row.type === MediaTypeKind.Script ? byPlace.map(({ value }) => ({ value })) : NEW.args,
    modem: row.gsm_modem,
    params:
      row.type === MediaTypeKind.Webhook
        ? row.parameters.map(({ name = "", value }) => ({ name, value }))
        : NEW.params,
    script: row.script,
    timeout: row.timeout,
    processTags: row.process_tags === "1",
    menu: row.show_event_menu === "1",
    menuName: row.event_menu_name,
    menuUrl: row.event_menu_url,
    sessions: row.maxsessions,
    attempts: row.maxattempts,
    interval: row.attempt_interval,
    messages: row.message_templates,
    limited: row.storm_limit !== null,
    stormMessages: String(row.storm_limit?.messages ?? NEW.stormMessages),
    stormPeriod: row.storm_limit?.period ?? NEW.stormPeriod,
    fallback: row.fallback_mediatypeid,
    living: row.living === "1",
    deduplicates: row.deduplicates === "1",
    replyAddress: row.reply_address,
  };
}

/** A whole number in these limits. */
function isWithin(text: string, min: number, max: number): boolean {
  const n = Number(text);
  return /^\d+$/.test(text.trim()) && n >= min && n <= max;
}

function emailProblems(draft: MediaTypeDraft, problems: Record<string, string>): void {
  if (!draft.server.trim()) problems.server = "Enter a mail server.";
  if (!isWithin(draft.port, 1, 65_535)) problems.port = "Enter a port from 1 to 65535.";
  if (!draft.email.includes("@")) problems.email = "Enter the sender's address.";
  if (draft.login && !draft.username.trim()) problems.username = "Enter a user name.";
}

function webhookProblems(draft: MediaTypeDraft, problems: Record<string, string>): void {
  if (!draft.script.trim()) problems.script = "Enter a script.";
  const timeout = periodSeconds(draft.timeout);
  if (timeout === null || timeout < 1 || timeout > TIMEOUT_MAX)
    problems.timeout = `Enter a timeout from 1s to ${TIMEOUT_MAX}s.`;
  const names = draft.params.map((param) => param.name.trim());
  if (names.some((name) => !name)) problems.params = "Enter a name for each parameter.";
  else if (new Set(names).size < names.length) problems.params = "Parameter names must be unique.";
  if (draft.menu && !(draft.menuName.trim() && draft.menuUrl.trim()))
    problems.menu = "Enter a name and a URL for the menu entry.";
}

/** As the server takes it: a token is added before the @. */
const REPLY_ADDRESS = /^[\w-](?:[\w.-]{0,14}[\w-])?@[\w-](?:[\w.-]*[\w-])?$/;

function quietProblems(draft: MediaTypeDraft, problems: Record<string, string>): void {
  if (draft.limited) {
    if (!isWithin(draft.stormMessages, 1, STORM_MAX))
      problems.stormMessages = `Enter a number of messages from 1 to ${STORM_MAX}.`;
    const period = periodSeconds(draft.stormPeriod);
    if (period === null || period < 1 || period > STORM_PERIOD_MAX)
      problems.stormPeriod = "Enter a time from 1s to 1d.";
  }
  const { type, replyAddress } = draft;
  const address = replyAddress.trim();
  if (type === MediaTypeKind.Email && address && !REPLY_ADDRESS.test(address))
    problems.replyAddress =
      "Enter an address such as vedette@example.com, with up to 16 characters before the @.";
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function mediaTypeProblems(draft: MediaTypeDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (draft.type === MediaTypeKind.Email) emailProblems(draft, problems);
  if (draft.type === MediaTypeKind.Webhook) webhookProblems(draft, problems);
  if (draft.type === MediaTypeKind.Script && !draft.execPath.trim())
    problems.execPath = "Enter the name of a script.";
  if (draft.type === MediaTypeKind.Sms && !draft.modem.trim())
    problems.modem = "Enter the device of the modem.";
  if (draft.type !== MediaTypeKind.Sms && !isWithin(draft.sessions, 0, SESSIONS_MAX))
    problems.sessions = `Enter a number from 0 to ${SESSIONS_MAX}.`;
  if (!isWithin(draft.attempts, 1, ATTEMPTS_MAX))
    problems.attempts = `Enter a number from 1 to ${ATTEMPTS_MAX}.`;
  const interval = periodSeconds(draft.interval);
  if (interval === null || interval > INTERVAL_MAX)
    problems.interval = "Enter an interval from 0s to 1h.";
  quietProblems(draft, problems);
  return problems;
}

function ofKind(draft: MediaTypeDraft): Members<"mediatype"> {
  const flag = (on: boolean) => (on ? "1" : "0");
  switch (draft.type) {
    case MediaTypeKind.Email: {
      const encrypted = draft.security !== SmtpSecurity.None;
      return {
        provider: draft.provider,
        smtp_server: draft.server.trim(),
        smtp_port: draft.port.trim(),
        smtp_helo: draft.helo.trim(),
        smtp_email: draft.email.trim(),
        smtp_security: draft.security,
        smtp_verify_peer: encrypted ? flag(draft.verifyPeer) : undefined,
        smtp_verify_host: encrypted ? flag(draft.verifyHost) : undefined,
        smtp_authentication: draft.login ? SmtpAuthentication.Password : SmtpAuthentication.None,
        username: draft.login ? draft.username.trim() : undefined,
        passwd: draft.login ? draft.password || undefined : undefined,
        message_format: draft.html ? MessageFormat.Html : MessageFormat.Text,
        reply_address: draft.replyAddress.trim(),
      };
    }
    case MediaTypeKind.Script:
      return {
        exec_path: draft.execPath.trim(),
        parameters: draft.args.map(({ value }, at) => ({ sortorder: String(at), value })),
        living: flag(draft.living),
        deduplicates: flag(draft.deduplicates),
      };
    case MediaTypeKind.Sms:
      return { gsm_modem: draft.modem.trim() };
    default:
      return {
        parameters: draft.params.map(({ name, value }) => ({ name: name.trim(), value })),
        script: draft.script,
        timeout: draft.timeout.trim(),
        process_tags: flag(draft.processTags),
        living: flag(draft.living),
        deduplicates: flag(draft.deduplicates),
        show_event_menu: flag(draft.menu),
        event_menu_name: draft.menu ? draft.menuName.trim() : undefined,
        event_menu_url: draft.menu ? draft.menuUrl.trim() : undefined,
      };
  }
}

/** A draft without problems, as `mediatype.create` and `mediatype.update` take it. */
export function mediaTypeParams(draft: MediaTypeDraft): Members<"mediatype"> {
  const sms = draft.type === MediaTypeKind.Sms;
  return {
    name: draft.name.trim(),
    type: draft.type,
    status: draft.on ? Status.Enabled : Status.Disabled,
    description: draft.description,
    // A modem sends one message at a time.
    maxsessions: sms ? "1" : draft.sessions.trim(),
    maxattempts: draft.attempts.trim(),
    attempt_interval: draft.interval.trim(),
    message_templates: draft.messages.map((one) => (sms ? { ...one, subject: "" } : one)),
    storm_limit: draft.limited
      ? { messages: Number(draft.stormMessages), period: draft.stormPeriod.trim() }
      : null,
    fallback_mediatypeid: draft.fallback,
    ...ofKind(draft),
  };
}

/** The messages that a media type does not have yet, as choices. */
export function missingMessages(messages: readonly MessageTemplate[]) {
  return SOURCE_NAMES.flatMap(([source]) =>
    modesOf(source)
      .filter((mode) => !messages.some((m) => m.eventsource === source && m.recovery === mode))
      .map((mode) => [`${source} ${mode}`, messageName(source, mode)] as const),
  );
}
