import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import type { MediaTypeOwn } from "./own-fields";

/** A parameter of a webhook (`name`) or a script (`sortorder`). */
export interface MediaTypeParameter {
  name?: string;
  sortorder?: string;
  value: string;
}

/** A default text, for events of a source and a mode of operations. */
export interface MessageTemplate {
  eventsource: string;
  recovery: string;
  subject: string;
  message: string;
}

/** How messages are sent; the fields of all kinds. The UI never reads `passwd`. */
export interface MediaTypeRow extends MediaTypeOwn {
  mediatypeid: string;
  name: string;
  type: string;
  status: string;
  description: string;
  maxsessions: string;
  maxattempts: string;
  attempt_interval: string;
  provider: string;
  smtp_server: string;
  smtp_port: string;
  smtp_helo: string;
  smtp_email: string;
  smtp_security: string;
  smtp_verify_peer: string;
  smtp_verify_host: string;
  smtp_authentication: string;
  username: string;
  message_format: string;
  exec_path: string;
  gsm_modem: string;
  script: string;
  timeout: string;
  process_tags: string;
  show_event_menu: string;
  event_menu_name: string;
  event_menu_url: string;
  parameters: MediaTypeParameter[];
}

const FIELDS = [
  "mediatypeid",
  "name",
  "type",
  "status",
  "description",
  "maxsessions",
  "maxattempts",
  "attempt_interval",
  "provider",
  "smtp_server",
  "smtp_port",
  "smtp_helo",
  "smtp_email",
  "smtp_security",
  "smtp_verify_peer",
  "smtp_verify_host",
  "smtp_authentication",
  "username",
  "message_format",
  "exec_path",
  "gsm_modem",
  "script",
  "timeout",
  "process_tags",
  "show_event_menu",
  "event_menu_name",
  "event_menu_url",
  "parameters",
  "storm_limit",
  "fallback_mediatypeid",
  "living",
  "deduplicates",
  "reply_address",
] as const;

export type MediaTypeSummary = Pick<
  MediaTypeRow,
  | "mediatypeid"
  | "name"
  | "type"
  | "status"
  | "description"
  | "smtp_server"
  | "smtp_port"
  | "exec_path"
  | "gsm_modem"
>;

/** The server sorts them only by id. */
const byName = <T extends { name: string }>(rows: T[]) =>
  rows.toSorted((a, b) => a.name.localeCompare(b.name));

export const mediaTypesQuery = () =>
  queryOptions({
    queryKey: ["mediatypes"],
    queryFn: async ({ signal }): Promise<MediaTypeSummary[]> =>
      byName(
        await rpc(
          "mediatype.get",
          {
            output: [
              "mediatypeid",
              "name",
              "type",
              "status",
              "description",
              "smtp_server",
              "smtp_port",
              "exec_path",
              "gsm_modem",
            ],
          },
          signal,
        ),
      ),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** What all users may read of media types, for choices and texts. */
export const mediaTypeNamesQuery = () =>
  queryOptions({
    queryKey: ["mediatypes", "names"],
    queryFn: async ({ signal }) =>
      byName(
        await rpc("mediatype.get", { output: ["mediatypeid", "name", "type", "status"] }, signal),
      ),
    meta: { live: "config" },
  });

export type MediaTypeName = Pick<MediaTypeRow, "mediatypeid" | "name" | "type" | "status">;

export type MediaType = MediaTypeRow & { message_templates: MessageTemplate[] };

export const mediaTypeQuery = (mediatypeid: string) =>
  queryOptions({
    queryKey: ["mediatypes", "one", mediatypeid],
    queryFn: async ({ signal }): Promise<MediaType | null> =>
      (
        await rpc(
          "mediatype.get",
          { output: FIELDS, mediatypeids: mediatypeid, selectMessageTemplates: "extend" },
          signal,
        )
      )[0] ?? null,
    meta: { live: "config" },
  });

/** Creates a media type, or changes the one given. */
export function saveMediaType(
  mediatypeid: string | null,
  members: Members<"mediatype">,
): Promise<unknown> {
  if (!mediatypeid) return rpc("mediatype.create", members);
  return rpc("mediatype.update", { mediatypeid, ...members });
}

export function enableMediaTypes(mediatypeids: string[], on: boolean): Promise<unknown> {
  const status = on ? "0" : "1";
  return rpc(
    "mediatype.update",
    mediatypeids.map((mediatypeid) => ({ mediatypeid, status })),
  );
}

export function deleteMediaTypes(mediatypeids: string[]): Promise<unknown> {
  return rpc("mediatype.delete", mediatypeids);
}

/** A test message, or the parameters of a test run. */
export interface MediaTypeTest {
  mediatypeid: string;
  sendto?: string | string[];
  subject?: string;
  message?: string;
  parameters?: { name?: string; value: string }[];
}

/** What the receiver answered, or the webhook returned. */
export interface MediaTypeAnswer {
  result: string;
  /** Milliseconds. */
  duration?: string;
  /** Lines of the dialogue with the receiver. */
  log?: string[];
  /** What a webhook logged. */
  script_log?: { level: number | string; ms: number | string; message: string }[];
}

export const testMediaType = (params: MediaTypeTest): Promise<MediaTypeAnswer> =>
  rpc("mediatype.test", params);
