import type { AuditEntry } from "~/api/audit";
import { cx } from "~/ui/cx";
import type { Column } from "~/ui/table";
import {
  AUDITED_USER,
  type AuditChange,
  auditActionName,
  auditChanges,
  auditResourceName,
  SIGN_IN_FAILED,
} from "~/util/audit";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

/** Values of one row's summary are cut here: the entry shows them whole. */
const VALUE_MAX = 40;
const FIELDS_MAX = 3;

const short = (text: string) =>
  text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;

function lineOf({ field, kind, before, after }: AuditChange): string {
  if (kind === "update" && after !== null)
    return `${field}: ${short(before || texts.empty)} → ${short(after || texts.empty)}`;
  const value = kind === "delete" ? before : after;
  return `${kind === "delete" ? "−" : "+"}${field}${value ? `: ${short(value)}` : ""}`;
}

/** The first changes of an entry as a line. */
export function summaryOf(entry: AuditEntry): string {
  const all = auditChanges(entry.details);
  if (all === null) return entry.details;
  // Readers do not know the ids of new objects.
  const changes = all.filter(({ field, kind }) => kind !== "add" || !/id$/.test(field));
  const rest = changes.length - FIELDS_MAX;
  const lines = changes.slice(0, FIELDS_MAX).map(lineOf);
  return [...lines, ...(rest > 0 ? [texts.more(rest)] : [])].join("  ·  ");
}

/** The name of the object; sign-ins have only that of the user. */
export const objectName = (entry: AuditEntry): string =>
  entry.resourcename || (entry.resourcetype === AUDITED_USER ? entry.username : "");

function ActionName({ entry }: { entry: AuditEntry }) {
  return (
    <span className={cx(entry.action === SIGN_IN_FAILED && "text-bad-ink")}>
      {auditActionName(entry.action)}
    </span>
  );
}

const wide = (
  id: string,
  header: string,
  width: string,
  cell: Column<AuditEntry>["cell"],
): Column<AuditEntry> => ({ id, header, width, cell, on: "wide" });

export const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: "summary",
    header: texts.changes,
    width: "minmax(0, 1fr)",
    on: "narrow",
    cell: (entry) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate font-medium">
            <ActionName entry={entry} /> {auditResourceName(entry.resourcetype)} {objectName(entry)}
          </span>
          <span className="shrink-0 text-xs text-soft">{entry.username}</span>
        </span>
        <span className="flex min-w-0 gap-2 text-xs text-soft">
          <span className="tabular shrink-0">{formatClock(Number(entry.clock), "minute")}</span>
          <span className="truncate">{summaryOf(entry)}</span>
        </span>
      </span>
    ),
  },
  wide("time", texts.time, "9.5rem", (entry) => (
    <span className="tabular">{formatClock(Number(entry.clock))}</span>
  )),
  wide("user", texts.user, "minmax(6rem, 0.6fr)", (entry) => entry.username),
  wide("address", texts.address, "minmax(6rem, 0.5fr)", (entry) => (
    <span className="tabular text-soft">{entry.ip}</span>
  )),
  wide("action", texts.action, "6.5rem", (entry) => <ActionName entry={entry} />),
  wide("kind", texts.kind, "8.5rem", (entry) => (
    <span className="text-soft">{auditResourceName(entry.resourcetype)}</span>
  )),
  wide("object", texts.object, "minmax(8rem, 1fr)", (entry) => (
    <span className="font-medium" title={objectName(entry)}>
      {objectName(entry)}
    </span>
  )),
  wide("changes", texts.changes, "minmax(10rem, 2fr)", (entry) => (
    <span className="text-soft">{summaryOf(entry)}</span>
  )),
];
