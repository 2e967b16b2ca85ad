import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type ItemFilter, type ItemRow, itemIds, itemTotalQuery } from "~/api/items";
import { together, useRowWindow, useVisible } from "~/api/windows";
import { MassChangeButton } from "~/features/mass-change";
import { ItemTable } from "~/shared/item-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { GroupPicker, HostPicker } from "~/shared/pickers";
import { Button, buttonClass } from "~/ui/button";
import { Input, SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Segmented } from "~/ui/segmented";
import { plural } from "~/util/format";
import { useFilters } from "~/util/hooks";
import { listOf, listTo, parseSearch, replacesEntry } from "~/util/search";
import { parseTagFilters, type Tag, tagFilterText } from "~/util/tags";
import { texts } from "./texts";

const route = getRouteApi("/inside/latest");
const NO_FILTERS = {
  text: undefined,
  group: undefined,
  host: undefined,
  tags: undefined,
  state: undefined,
};
/** More lines than these nobody can tell apart. */
const LINES_MAX = 20;

type Search = ReturnType<typeof route.useSearch>;

interface FiltersProps {
  search: Search;
  /** Boxes whose text reaches the address after a pause. */
  typed: Omit<ReturnType<typeof useFilters>, "onClear">;
  onChange: (next: Partial<Search>) => void;
}

function Filters({ search, typed, onChange }: FiltersProps) {
  return (
    <>
      <SearchBox
        label={texts.searchNamesAndKeys}
        value={typed.text}
        onChange={typed.setText}
        className="w-72"
      />
      <GroupPicker
        of="host"
        values={listOf(search.group)}
        onChange={(v) => onChange({ group: listTo(v) })}
      />
      <HostPicker values={listOf(search.host)} onChange={(v) => onChange({ host: listTo(v) })} />
      <Input
        aria-label={texts.tags}
        placeholder={texts.tagsComponentCpu}
        value={typed.tags}
        onChange={(event) => typed.setTags(event.target.value)}
        className="w-44!"
      />
      <Segmented
        label={texts.state}
        value={search.state ?? "all"}
        onChange={(v) => onChange({ state: v === "all" ? undefined : v })}
        options={[
          ["all", texts.all],
          ["0", texts.supported],
          ["1", texts.notSupported],
        ]}
      />
    </>
  );
}

export function LatestPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const change = useCallback(
    (next: Partial<typeof search>) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      }),
    [navigate],
  );
  const filter: ItemFilter = useMemo(
    () => ({
      text: search.text,
      hostids: listOf(search.host),
      groupids: listOf(search.group),
      tags: search.tags ? parseTagFilters(search.tags) : undefined,
      state: search.state,
      monitored: true,
    }),
    [search],
  );
  const [visible, onVisible] = useVisible();
  const total = useQuery(itemTotalQuery(filter));
  const rows = useRowWindow<string>({
    queryKey: ["items", "ids", filter],
    visible,
    fetch: (offset, limit, signal) => itemIds(filter, offset, limit, signal),
    live: "config",
  });
  const onTag = useCallback((tag: Tag) => change({ tags: tagFilterText(tag) }), [change]);
  const open = (item: ItemRow) => void navigate({ to: "/graph", search: { items: item.itemid } });
  const { onClear, ...typed } = useFilters(search, change, NO_FILTERS);
  return (
    <ListPage
      title={texts.latestData}
      count={total.data !== undefined && plural(total.data, "item")}
      actions={
        <>
          <MassChangeButton
            selection={selected.size > 0 ? { ids: [...selected] } : { filter }}
            count={selected.size || (total.data ?? 0)}
            all={selected.size === 0}
          />
          {selected.size > 0 && (
            <>
              <Link
                to="/graph"
                search={{ items: [...selected].slice(0, LINES_MAX).join(",") }}
                className={buttonClass("primary")}
              >
                <Icon name="graph" size={15} />
                {texts.showGraph}
              </Link>
              <Button look="quiet" onClick={() => setSelected(new Set())}>
                {texts.deselect}
              </Button>
            </>
          )}
        </>
      }
      filters={<Filters search={search} typed={typed} onChange={change} />}
      onClear={onClear}
      query={together(rows, total)}
    >
      {total.data !== undefined && (
        <ItemTable
          list={{ count: total.data, idAt: rows.rowAt, onVisible }}
          withHost
          selected={selected}
          onSelect={setSelected}
          onOpen={open}
          onTag={onTag}
          empty={
            <NoRows
              icon="latest"
              word={texts.item}
              onClear={onClear}
              action={
                <Link to="/hosts" className={buttonClass("primary")}>
                  {texts.goToHosts}
                </Link>
              }
            >
              {texts.linkATemplateTo}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
