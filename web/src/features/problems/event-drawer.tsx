import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { eventQuery, triggerEventsQuery } from "~/api/events";
import { itemsQuery } from "~/api/items";
import { fetchProblemRows, type ProblemRow } from "~/api/problems";
import { mayConfigure } from "~/api/session-store";
import { triggerQuery } from "~/api/triggers";
import { Gone, QueryError } from "~/shared/fallback";
import { GraphPanel } from "~/shared/graph-panel";
import { RunningNotes, SilencedMark } from "~/shared/silence";
import { IconButton } from "~/ui/button";
import { Drawer } from "~/ui/dialog";
import { ResolvedBadge, SeverityBadge, SeverityMark } from "~/ui/severity";
import { SkeletonRows } from "~/ui/state";
import { Chip } from "~/ui/tag";
import { isNumeric } from "~/util/format";
import { useNow } from "~/util/hooks";
import { toSeverity } from "~/util/severity";
import { tagText } from "~/util/tags";
import { formatClock, formatDuration, type TimeRange, zoneAt } from "~/util/time";
import { History } from "./acknowledges";
import { Behaviour } from "./behaviour";
import { opData, silencesOf } from "./columns";
import { Explain } from "./explain";
import { Notifications } from "./notifications";
import { Reply } from "./reply";
import { texts } from "./texts";

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="border-b px-5 py-4 last:border-0">
      <h3 className="pb-2 text-xs font-semibold text-soft">{title}</h3>
      {children}
    </section>
  );
}

/** A moment with its offset from UTC, for talking to people elsewhere. */
function At({ clock }: { clock: number }) {
  return (
    <>
      {formatClock(clock)} <span className="text-xs text-faint">{zoneAt(clock)}</span>
    </>
  );
}

function Facts({ row }: { row: ProblemRow }) {
  const now = useNow();
  const facts: [string, React.ReactNode][] = [
    [
      "Host",
      row.hosts.map((host) => (
        <Link
          key={host.hostid}
          to="/hosts/$hostid"
          params={{ hostid: host.hostid }}
          className="mr-2 text-accent-ink hover:underline"
        >
          {host.name}
        </Link>
      )),
    ],
    ["Started", <At key="started" clock={row.clock} />],
    ["Duration", formatDuration((row.r_clock || now) - row.clock)],
  ];
  if (row.r_clock) facts.push(["Resolved", <At key="resolved" clock={row.r_clock} />]);
  if (opData(row)) facts.push(["Now", opData(row)]);
  return (
    <dl className="grid grid-cols-[6rem_1fr] gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="tabular min-w-0 break-words">{value}</dd>
        </div>
      ))}
      {row.tags.length > 0 && (
        <>
          <dt className="text-soft">{texts.tags}</dt>
          <dd className="flex flex-wrap gap-1">
            {row.tags.map((tag) => (
              <Chip key={tagText(tag)} title={tagText(tag)}>
                {tagText(tag)}
              </Chip>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}

/** An hour before the problem until now, or until a while after its end. */
function rangeAround(row: ProblemRow): TimeRange {
  const lead = 3600;
  const to = row.r_clock ? String(row.r_clock + lead / 2) : "now";
  return { from: String(row.clock - lead), to };
}

function Graph({ row }: { row: ProblemRow }) {
  const { data: items = [] } = useQuery(itemsQuery(row.items.map((item) => item.itemid)));
  const numeric = items.filter((item) => isNumeric(item.value_type));
  if (row.items.length === 0) return null;
  if (numeric.length === 0) return <p className="text-soft">{texts.thisTriggerHasNo}</p>;
  return (
    <GraphPanel
      label={texts.valuesOf(row.name)}
      items={numeric}
      range={rangeAround(row)}
      height={150}
    />
  );
}

function Earlier({ triggerid, eventid }: { triggerid: string; eventid: string }) {
  const { data = [] } = useQuery(triggerEventsQuery(triggerid, 12));
  const others = data.filter((event) => event.eventid !== eventid);
  if (others.length === 0) return <p className="text-soft">{texts.noEarlierOccurrences}</p>;
  return (
    <ul>
      {others.map((event) => (
        <li key={event.eventid} className="flex h-6 items-center gap-2.5">
          {event.value === "1" ? (
            <SeverityMark severity={toSeverity(event.severity)} size={12} />
          ) : (
            <span className="mx-0.5 size-2 rounded-full bg-good" />
          )}
          <span className="flex-1">{event.value === "1" ? texts.problem : texts.resolved}</span>
          <span className="tabular text-xs text-soft">{formatClock(Number(event.clock))}</span>
        </li>
      ))}
    </ul>
  );
}

/** Everything about one problem, beside the list. */
export function EventDrawer({ eventid, onClose }: { eventid: string; onClose: () => void }) {
  const event = useQuery(eventQuery(eventid));
  const rows = useQuery({
    queryKey: ["problems", "row", eventid],
    queryFn: ({ signal }) => fetchProblemRows("history", [eventid], signal),
    meta: { live: "problems" },
    refetchInterval: 10_000,
  });
  const row = rows.data?.[0];
  const { data: trigger } = useQuery(triggerQuery(row?.objectid ?? ""));
  const error = event.error ?? rows.error;
  return (
    <Drawer title={texts.problem} onClose={onClose}>
      <header className="flex items-start gap-3 border-b py-3.5 pr-3 pl-5">
        <div className="min-w-0 flex-1">
          <div className="flex gap-2 pb-1.5">
            {row && <SeverityBadge severity={row.severity} />}
            {row && row.r_clock > 0 && <ResolvedBadge />}
            {row && <SilencedMark row={row} />}
          </div>
          <h2 className="text-base font-semibold break-words">{row?.name ?? texts.problem}</h2>
        </div>
        <IconButton icon="close" label={texts.close} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 overflow-auto">
        {error && <QueryError error={error} className="m-5" />}
        {error && !row ? null : rows.isSuccess && !row ? (
          <Gone icon="search" title={texts.thisProblemDoesNot} />
        ) : !row ? (
          <SkeletonRows />
        ) : (
          <>
            <Section title={texts.state}>
              <Facts row={row} />
              {row.suppressed && (
                <div className="flex flex-col gap-2 pt-3">
                  <RunningNotes ids={silencesOf(row)} />
                </div>
              )}
            </Section>
            <Section title={texts.values}>
              <Graph row={row} />
            </Section>
            <Section title={texts.notifications}>
              {event.isSuccess ? (
                <Notifications eventid={eventid} recovery={event.data?.r_eventid} />
              ) : event.error ? (
                <p className="text-soft">{texts.notificationsAreUnknown}</p>
              ) : (
                <SkeletonRows rows={2} />
              )}
              <Explain
                eventid={eventid}
                severity={trigger ? toSeverity(trigger.priority) : undefined}
              />
            </Section>
            <Section title={texts.messagesAndActions}>
              <History entries={event.data?.acknowledges ?? []} />
            </Section>
            {trigger && (
              <Section title={texts.trigger}>
                <code className="block rounded-md bg-sunken px-2.5 py-2 font-mono text-xs break-all">
                  {trigger.expression}
                </code>
                {mayConfigure() && (
                  <Link
                    to="/triggers/$triggerid/edit"
                    params={{ triggerid: trigger.triggerid }}
                    className="mt-1.5 inline-block text-xs text-accent-ink hover:underline"
                  >
                    {texts.editTrigger}
                  </Link>
                )}
                {/^https?:/.test(trigger.url) && (
                  <a
                    href={trigger.url.replaceAll("{EVENT.ID}", eventid)}
                    target="_blank"
                    rel="noreferrer"
                    className="mt-1.5 ml-4 inline-block text-xs text-accent-ink hover:underline"
                  >
                    {trigger.url_name || texts.runbook}
                  </a>
                )}
                {trigger.comments && (
                  <p className="mt-2 whitespace-pre-wrap text-soft">{trigger.comments}</p>
                )}
              </Section>
            )}
            <Section title={texts.usualBehaviour}>
              <Behaviour triggerid={row.objectid} />
            </Section>
            <Section title={texts.earlier}>
              <Earlier triggerid={row.objectid} eventid={eventid} />
            </Section>
          </>
        )}
      </div>
      {row && <Reply row={row} />}
    </Drawer>
  );
}
