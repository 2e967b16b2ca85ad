import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AuditEntry } from "~/api/audit";
import { buttonClass, IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Drawer } from "~/ui/dialog";
import {
  type AuditChange,
  auditActionName,
  auditChanges,
  auditResourceName,
  OBJECT_DELETED,
} from "~/util/audit";
import { formatClock, zoneAt } from "~/util/time";
import { objectName } from "./columns";
import { ObjectLink } from "./object-link";
import { texts } from "./texts";

function Value({ text, isOld }: { text: string | null; isOld: boolean }) {
  if (text === null) return <span className="text-faint">{texts.notThere}</span>;
  if (text === "") return <span className="text-faint italic">{texts.empty}</span>;
  return (
    <span
      className={cx(
        "block max-h-64 overflow-auto break-words whitespace-pre-wrap",
        isOld && "text-soft",
      )}
    >
      {text}
    </span>
  );
}

/** The old and the new value of each field. */
function Changes({ changes }: { changes: readonly AuditChange[] }) {
  return (
    <table className="w-full table-fixed text-sm">
      <thead>
        <tr className="text-left text-xs text-soft">
          <th className="w-1/3 py-1 pr-3 font-medium">{texts.field}</th>
          <th className="py-1 pr-3 font-medium">{texts.before}</th>
          <th className="py-1 font-medium">{texts.after}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a list have equal names
          <tr key={at} className="border-t align-top">
            <td className="py-1.5 pr-3 break-words">
              {change.field}
              {change.kind !== "update" && (
                <span className="block text-xs text-soft">{texts.kindsOfChange[change.kind]}</span>
              )}
            </td>
            <td className="py-1.5 pr-3">
              <Value text={change.before} isOld />
            </td>
            <td className="py-1.5">
              <Value text={change.after} isOld={false} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function factsOf(entry: AuditEntry): [string, ReactNode][] {
  const clock = Number(entry.clock);
  const name = objectName(entry);
  const isDeleted = entry.action === OBJECT_DELETED;
  return [
    [texts.time, `${formatClock(clock)} ${zoneAt(clock)}`],
    [texts.user, entry.username || texts.none],
    [texts.address, entry.ip || texts.none],
    [texts.action, auditActionName(entry.action)],
    [texts.kind, auditResourceName(entry.resourcetype)],
    [
      texts.object,
      isDeleted || !name ? (
        name || texts.none
      ) : (
        <ObjectLink key="object" entry={entry} name={name} />
      ),
    ],
    ...(entry.resourceid === "0"
      ? []
      : [[texts.objectId, entry.resourceid] as [string, ReactNode]]),
  ];
}

/** One entry with its differences, and the ways to what belongs to it. */
export function EntryDetails({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const changes = auditChanges(entry.details);
  const { auditid, resourceid, resourcetype, recordsetid } = entry;
  return (
    <Drawer title={texts.entry} onClose={onClose}>
      <header className="flex items-start gap-3 border-b py-3.5 pr-3 pl-5">
        <h2 className="min-w-0 flex-1 text-base font-semibold break-words">
          {`${auditActionName(entry.action)}: ${objectName(entry) || auditResourceName(resourcetype)}`}
        </h2>
        <IconButton icon="close" label={texts.close} onClick={onClose} />
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto px-5 py-4">
        <dl className="grid grid-cols-[7.5rem_1fr] gap-y-1">
          {factsOf(entry).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="tabular min-w-0 break-words">{value}</dd>
            </div>
          ))}
        </dl>
        <div className="flex flex-wrap gap-2">
          {resourceid !== "0" && (
            <Link
              to="/audit"
              search={{ kind: resourcetype, id: resourceid, entry: auditid }}
              className={buttonClass("plain", true)}
            >
              {texts.otherChanges}
            </Link>
          )}
          <Link
            to="/audit"
            search={{ set: recordsetid, entry: auditid }}
            className={buttonClass("plain", true)}
          >
            {texts.sameCall}
          </Link>
        </div>
        <section aria-label={texts.changes} className="flex flex-col gap-1">
          <h3 className="text-sm font-semibold">{texts.changes}</h3>
          {changes === null ? (
            <>
              <p className="text-soft">{texts.unreadable}</p>
              <p className="rounded-md bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
                {entry.details}
              </p>
            </>
          ) : changes.length === 0 ? (
            <p className="text-soft">{texts.noDetails}</p>
          ) : (
            <Changes changes={changes} />
          )}
        </section>
      </div>
    </Drawer>
  );
}
