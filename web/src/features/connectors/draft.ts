import type { ConnectorRow, ConnectorTag } from "~/api/connectors";
import type { Members } from "~/api/methods";
import { oneOf } from "~/util/one-of";
import { texts } from "./texts";

/** Value types by the bits of `item_value_type`. */
export const VALUE_TYPES = [
  "Numeric (float)",
  "Character",
  "Log",
  "Numeric (unsigned)",
  "Text",
  "Binary",
] as const;

export const AUTHENTICATION = [
  ["0", "None"],
  ["1", "Basic"],
  ["2", "NTLM"],
  ["3", "Kerberos"],
  ["4", "Digest"],
  ["5", "Bearer"],
] as const;

const EXISTS = "12";
const NOT_EXISTS = "13";

/** Operators of tags. */
export const OPERATORS = [
  [EXISTS, "Exists"],
  ["0", "Equals"],
  ["2", "Contains"],
  [NOT_EXISTS, "Does not exist"],
  ["1", "Does not equal"],
  ["3", "Does not contain"],
] as const;

const OF_VALUES = "0";
const ALL_TYPES = 63;
const NONE = "0";
const BEARER = "5";
/** With one attempt, the server accepts no other interval. */
const USUAL_INTERVAL = "5s";

/** Connectors have their own values: "0" is off. */
const ON = "1";
export const isOn = (connector: Pick<ConnectorRow, "status">) => connector.status === ON;

/** A connector as the dialog holds it. Secrets are empty: the stored ones stay. */
export interface ConnectorDraft {
  name: string;
  data_type: string;
  url: string;
  valueTypes: number;
  tags_evaltype: string;
  tags: ConnectorTag[];
  authtype: string;
  username: string;
  password: string;
  token: string;
  max_records: string;
  max_senders: string;
  max_attempts: string;
  attempt_interval: string;
  timeout: string;
  http_proxy: string;
  verifyPeer: boolean;
  verifyHost: boolean;
  ssl_cert_file: string;
  ssl_key_file: string;
  ssl_key_password: string;
  description: string;
  on: boolean;
}

export function connectorDraft(stored: ConnectorRow | null): ConnectorDraft {
  return {
    name: stored?.name ?? "",
    data_type: stored?.data_type ?? OF_VALUES,
    url: stored?.url ?? "",
    valueTypes: Number(stored?.item_value_type ?? ALL_TYPES) || ALL_TYPES,
    tags_evaltype: stored?.tags_evaltype ?? "0",
    tags: stored?.tags ?? [],
    authtype: stored?.authtype ?? NONE,
    username: stored?.username ?? "",
    password: "",
    token: "",
    max_records: stored?.max_records ?? "0",
    max_senders: stored?.max_senders ?? "1",
    max_attempts: stored?.max_attempts ?? "1",
    attempt_interval: stored?.attempt_interval ?? USUAL_INTERVAL,
    timeout: stored?.timeout ?? "5s",
    http_proxy: stored?.http_proxy ?? "",
    verifyPeer: stored?.verify_peer !== "0",
    verifyHost: stored?.verify_host !== "0",
    ssl_cert_file: stored?.ssl_cert_file ?? "",
    ssl_key_file: stored?.ssl_key_file ?? "",
    ssl_key_password: "",
    description: stored?.description ?? "",
    on: stored === null || isOn(stored),
  };
}

export const sendsValues = (draft: ConnectorDraft) => draft.data_type === OF_VALUES;
export const usesToken = (draft: ConnectorDraft) => draft.authtype === BEARER;
export const usesPassword = (draft: ConnectorDraft) =>
  draft.authtype !== NONE && draft.authtype !== BEARER;
export const repeats = (draft: ConnectorDraft) => draft.max_attempts.trim() !== "1";

/** Why the connector cannot be saved yet; the server has the last word on the rest. */
export function connectorProblem(
  draft: ConnectorDraft,
  stored: ConnectorRow | null,
): string | undefined {
  if (!draft.name.trim()) return "Enter a name.";
  if (!draft.url.trim()) return "Enter a URL.";
  if (sendsValues(draft) && draft.valueTypes === 0) return texts.noTypes;
  if (usesToken(draft) && !draft.token && stored?.authtype !== BEARER) return "Enter a token.";
  return undefined;
}

/** Tags with a name; those that compare nothing have no value. */
const tagParams = (tags: readonly ConnectorTag[]) =>
  tags
    .filter((one) => one.tag.trim())
    .map((one) => ({
      ...one,
      value: one.operator === EXISTS || one.operator === NOT_EXISTS ? "" : one.value,
    }));

/** A draft without problems, as `connector.create` and `connector.update` take it. */
export function connectorParams(draft: ConnectorDraft): Members<"connector"> {
  return {
    name: draft.name.trim(),
    data_type: oneOf(draft.data_type, ["0", "1"]),
    url: draft.url.trim(),
    ...(sendsValues(draft) && { item_value_type: String(draft.valueTypes) }),
    tags_evaltype: oneOf(draft.tags_evaltype, ["0", "2"]),
    tags: tagParams(draft.tags),
    authtype: oneOf(draft.authtype, ["0", "1", "2", "3", "4", "5"]),
    ...(usesPassword(draft) && { username: draft.username }),
    ...(usesPassword(draft) && draft.password && { password: draft.password }),
    ...(usesToken(draft) && draft.token && { token: draft.token }),
    max_records: draft.max_records.trim(),
    max_senders: draft.max_senders.trim(),
    max_attempts: draft.max_attempts.trim(),
    ...(repeats(draft) && { attempt_interval: draft.attempt_interval.trim() }),
    timeout: draft.timeout.trim(),
    http_proxy: draft.http_proxy.trim(),
    verify_peer: draft.verifyPeer ? "1" : "0",
    verify_host: draft.verifyHost ? "1" : "0",
    ssl_cert_file: draft.ssl_cert_file.trim(),
    ssl_key_file: draft.ssl_key_file.trim(),
    ...(draft.ssl_key_password && { ssl_key_password: draft.ssl_key_password }),
    description: draft.description,
    status: draft.on ? "1" : "0",
  };
}
