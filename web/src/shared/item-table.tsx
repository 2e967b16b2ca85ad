import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useCallback, useMemo } from "react";
import { SPARK_SECONDS, type Sparks, sparksQuery } from "~/api/history";
import { type ItemRow, itemsQuery } from "~/api/items";
import { Status } from "~/api/schema";
import { mayConfigure } from "~/api/session-store";
import { useVisible, windowOf } from "~/api/windows";
import { Sparkline } from "~/charts/sparkline";
import { Icon } from "~/ui/icon";
import { type Column, VirtualTable } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { isNumeric } from "~/util/format";
import { useNow } from "~/util/hooks";
import type { Tag } from "~/util/tags";
import { texts } from "./texts";
import { Ago, Change, LastValue } from "./value";

/** A list of items, of which at least the ids on screen are known. */
export interface ItemList {
  count: number;
  idAt: (index: number) => string | undefined;
  onVisible?: (first: number, last: number) => void;
}

interface ItemTableProps {
  list: ItemList;
  withHost?: boolean;
  selected: ReadonlySet<string>;
  onSelect: (selected: Set<string>) => void;
  onOpen: (item: ItemRow) => void;
  onTag?: (tag: Tag) => void;
  empty: ReactNode;
}

function Spark({ item, sparks }: { item: ItemRow; sparks: Sparks | undefined }) {
  const minute = Math.ceil(useNow() / 30) * 30;
  if (!isNumeric(item.value_type)) return null;
  return (
    <Sparkline
      line={sparks?.get(item.itemid)}
      from={minute - SPARK_SECONDS}
      till={minute}
      width={112}
    />
  );
}

const EDIT: Column<ItemRow> = {
  id: "edit",
  on: "wide",
  header: <span className="sr-only">{texts.edit}</span>,
  width: "1.75rem",
  cell: (item) => (
    <Link
      to="/items/$itemid/edit"
      params={{ itemid: item.itemid }}
      aria-label={texts.editName(item.name)}
      title={texts.editItem}
      onClick={(event) => event.stopPropagation()}
      className="flex size-6 items-center justify-center rounded text-faint opacity-0 group-hover:opacity-100 hover:bg-hover hover:text-ink focus:opacity-100"
    >
      <Icon name="edit" size={14} />
    </Link>
  ),
};

function itemColumns(props: ItemTableProps, sparks: Sparks | undefined): Column<ItemRow>[] {
  const host: Column<ItemRow> = {
    id: "host",
    on: "wide",
    header: texts.host,
    width: "minmax(8rem, 0.8fr)",
    cell: (item) => (
      <Link
        to="/hosts/$hostid"
        params={{ hostid: item.hostid }}
        onClick={(event) => event.stopPropagation()}
        className="text-soft hover:text-ink hover:underline"
      >
        {item.hosts[0]?.name}
      </Link>
    ),
  };
  return [
    ...(props.withHost ? [host] : []),
    {
      id: "summary",
      header: texts.item,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (item) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium">{item.name}</span>
          <span className="flex items-baseline gap-2 truncate text-xs text-soft">
            <LastValue item={item} />
            <Ago clock={Number(item.lastclock)} />
            {props.withHost && <span className="truncate">{item.hosts[0]?.name}</span>}
          </span>
        </span>
      ),
    },
    {
      id: "name",
      on: "wide",
      header: texts.item,
      width: "minmax(12rem, 2fr)",
      cell: (item) => (
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="max-w-full shrink-0 truncate font-medium" title={item.name}>
            {item.name}
          </span>
          <span
            className="min-w-0 shrink-[20] truncate font-mono text-2xs text-faint"
            title={item.key_}
          >
            {item.key_}
          </span>
        </span>
      ),
    },
    {
      id: "age",
      on: "wide",
      header: texts.lastCheck,
      width: "5.5rem",
      cell: (item) => (
        <span className="text-soft">
          <Ago clock={Number(item.lastclock)} />
        </span>
      ),
    },
    {
      id: "value",
      on: "wide",
      header: texts.lastValue,
      width: "minmax(8rem, 1fr)",
      cell: (item) => <LastValue item={item} />,
    },
    {
      id: "change",
      on: "wide",
      header: texts.change,
      width: "7.5rem",
      align: "right",
      cell: (item) => <Change item={item} />,
    },
    {
      id: "spark",
      header: texts.lastHour,
      width: "7.5rem",
      cell: (item) => <Spark item={item} sparks={sparks} />,
    },
    {
      id: "tags",
      on: "wide",
      header: texts.tags,
      width: "minmax(7rem, 0.8fr)",
      cell: (item) => <TagList tags={item.tags} max={4} onPick={props.onTag} />,
    },
    ...(mayConfigure() ? [EDIT] : []),
  ];
}

/** Items with their newest values and a small line each; rows and lines are fetched as they come into sight. */
export function ItemTable(props: ItemTableProps) {
  const { list, selected, onSelect, onOpen, empty } = props;
  const { onVisible: tell } = list;
  const [visible, setVisible] = useVisible();
  const onVisible = useCallback(
    (first: number, last: number) => {
      setVisible(first, last);
      tell?.(first, last);
    },
    [setVisible, tell],
  );
  const { offset, limit } = windowOf(visible);
  const ids: string[] = [];
  for (let index = offset; index < offset + limit; index++) {
    const id = list.idAt(index);
    if (id) ids.push(id);
  }
  const { data } = useQuery(itemsQuery(ids));
  // Rows that leave the window stay until the next ones have arrived.
  const byId = useMemo(() => new Map(data?.map((item) => [item.itemid, item])), [data]);
  const rowAt = (index: number) => byId.get(list.idAt(index) ?? "");
  // Steps of twenty rows, so that scrolling does not query again for every row.
  const start = Math.floor(visible[0] / 20) * 20;
  const end = Math.ceil((visible[1] + 1) / 20) * 20;
  const seen: ItemRow[] = [];
  for (let index = start; index < end; index++) {
    const item = rowAt(index);
    if (item && isNumeric(item.value_type)) seen.push(item);
  }
  const { data: sparks } = useQuery(sparksQuery(seen));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what the columns show
  const columns = useMemo(() => itemColumns(props, sparks), [sparks, props.withHost, props.onTag]);
  return (
    <VirtualTable
      label={texts.items}
      columns={columns}
      count={list.count}
      rowAt={rowAt}
      idOf={(item) => item.itemid}
      onVisible={onVisible}
      selected={selected}
      onSelect={onSelect}
      allIds={ids.slice(0, 50)}
      onOpen={onOpen}
      empty={empty}
      rowClass={(item) => (item.status === Status.Disabled ? "bg-sunken" : undefined)}
    />
  );
}
