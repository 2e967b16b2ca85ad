import { Link, useNavigate } from "@tanstack/react-router";
import { Sheet } from "~/shared/page";
import { Ago } from "~/shared/value";
import { Empty, SkeletonRows } from "~/ui/state";
import { type Column, VirtualTable } from "~/ui/table";
import { useNow } from "~/util/hooks";
import { itemTypeName } from "~/util/item-types";
import type { DelayedItem } from "~/util/queue";
import { formatClock, formatDuration } from "~/util/time";
import { texts } from "./texts";

/** How long something is overdue; ticks by itself. */
export function Overdue({ due }: { due: number }) {
  const now = useNow();
  return (
    <span className="tabular font-medium" title={texts.dueTime(formatClock(due))}>
      {formatDuration(now - due)}
    </span>
  );
}

const COLUMNS: Column<DelayedItem>[] = [
  {
    id: "late",
    header: texts.overdue,
    width: "6rem",
    cell: (item) => <Overdue due={item.due} />,
  },
  {
    id: "host",
    on: "wide",
    header: texts.host,
    width: "minmax(9rem, 0.8fr)",
    cell: (item) => (
      <Link
        to="/hosts/$hostid"
        params={{ hostid: item.hostid }}
        onClick={(event) => event.stopPropagation()}
        className="hover:underline"
      >
        {item.host}
      </Link>
    ),
  },
  {
    id: "name",
    header: texts.item,
    width: "minmax(8rem, 1.1fr)",
    cell: (item) => (
      <span className="flex items-baseline gap-2">
        <span className="max-w-full shrink-0 truncate font-medium">{item.name}</span>
        <span className="min-w-0 shrink-[20] truncate font-mono text-2xs text-faint">
          {item.key}
        </span>
      </span>
    ),
  },
  {
    id: "reason",
    header: texts.reason,
    width: "minmax(8rem, 1.9fr)",
    cell: (item) => (
      <span className="text-soft" title={item.reason}>
        {item.reason}
      </span>
    ),
  },
  {
    id: "type",
    on: "wide",
    header: texts.type,
    width: "8rem",
    cell: (item) => <span className="text-soft">{itemTypeName(item.type)}</span>,
  },
  {
    id: "delay",
    on: "wide",
    header: texts.interval,
    width: "5rem",
    cell: (item) => <span className="text-soft">{item.delay}</span>,
  },
  {
    id: "last",
    on: "wide",
    header: texts.lastValue,
    width: "6.5rem",
    cell: (item) => (
      <span className="text-soft">
        <Ago clock={item.lastclock} />
      </span>
    ),
  },
];

/** The most overdue items with the reason of each. */
export function DelayedItems({ items }: { items: readonly DelayedItem[] | undefined }) {
  const navigate = useNavigate();
  return (
    <Sheet>
      {!items ? (
        <SkeletonRows rows={8} />
      ) : (
        <VirtualTable
          label={texts.delayedItems}
          columns={COLUMNS}
          count={items.length}
          rowAt={(index) => items[index]}
          idOf={(item) => item.itemid}
          onOpen={(item) => void navigate({ to: "/graph", search: { items: item.itemid } })}
          empty={
            <Empty icon="check" title={texts.nothingIsOverdue}>
              {texts.allPolledItemsAre}
            </Empty>
          }
        />
      )}
    </Sheet>
  );
}
