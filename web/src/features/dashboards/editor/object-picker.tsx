import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { allActionsQuery } from "~/api/actions";
import {
  graphNamesQuery,
  graphPrototypeNamesQuery,
  graphPrototypeSearchQuery,
  graphSearchQuery,
} from "~/api/graphs";
import {
  hostItemSearchQuery,
  itemNamesQuery,
  itemPrototypeNamesQuery,
  itemPrototypeSearchQuery,
  itemSearchQuery,
} from "~/api/items";
import { mapsQuery } from "~/api/maps";
import { mediaTypeNamesQuery } from "~/api/media-types";
import { slasQuery } from "~/api/slas";
import { fullName, userNamesQuery } from "~/api/users";
import { ServicePicker } from "~/features/services";
import { GroupPicker, HostPicker } from "~/shared/pickers";
import { type Option, Pick } from "~/ui/pick";
import { isBehind, useSettled } from "~/util/hooks";
import type { ObjectKind } from "./settings";
import { texts } from "./texts";

interface PickerProps {
  id: string;
  label: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
}

interface OnHosts {
  name: string;
  hosts: readonly { name?: string }[];
}

// biome-ignore lint/suspicious/noExplicitAny: rows of different methods
type RowsQuery<R> = UseQueryOptions<any, Error, R[], any>;

interface SearchProps<R extends OnHosts> extends PickerProps {
  search: (text: string) => RowsQuery<R>;
  names: RowsQuery<R>;
  idOf: (row: R) => string;
}

/** Chooses objects of hosts by their name, which the server searches. */
function SearchPicker<R extends OnHosts>({ search, names, idOf, ...props }: SearchProps<R>) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const found = useQuery(search(settled));
  const { data: chosen = [] } = useQuery(names);
  const option = (row: R): Option => ({
    value: idOf(row),
    label: texts.ofHost(row.hosts[0]?.name, row.name),
  });
  const known = chosen.map(option);
  return (
    <Pick
      field
      options={(found.data ?? []).map(option)}
      labelOf={(id) => known.find(({ value }) => value === id)?.label}
      onSearch={setText}
      busy={isBehind(text, settled, found)}
      {...props}
    />
  );
}

interface ListProps<R> extends PickerProps {
  query: RowsQuery<R>;
  option: (row: R) => Option;
}

/** Chooses objects from the list of all. */
function ListPicker<R>({ query, option, ...props }: ListProps<R>) {
  const { data = [] } = useQuery(query);
  return <Pick field options={data.map(option)} {...props} />;
}

interface ObjectPickerProps extends PickerProps {
  of: ObjectKind;
  /** The template whose dashboard is edited: only its items and graphs; null: all. */
  templateid: string | null;
}

/** Chooses objects of the kind that a setting refers to. */
export function ObjectPicker({ of, templateid, ...props }: ObjectPickerProps) {
  const owner = templateid ?? undefined;
  const ids = props.values;
  const itemid = (row: OnHosts & { itemid: string }) => row.itemid;
  const graphid = (row: OnHosts & { graphid: string }) => row.graphid;
  switch (of) {
    case "group":
      return <GroupPicker of="host" field {...props} />;
    case "host":
      return <HostPicker field {...props} />;
    case "item": {
      const search = (text: string) =>
        owner ? itemSearchQuery(text, { hostid: owner }) : hostItemSearchQuery(text);
      return <SearchPicker search={search} names={itemNamesQuery(ids)} idOf={itemid} {...props} />;
    }
    case "itemPrototype": {
      const search = (text: string) => itemPrototypeSearchQuery(text, owner);
      const names = itemPrototypeNamesQuery(ids);
      return <SearchPicker search={search} names={names} idOf={itemid} {...props} />;
    }
    case "graph": {
      const search = (text: string) => graphSearchQuery(text, owner);
      return (
        <SearchPicker search={search} names={graphNamesQuery(ids)} idOf={graphid} {...props} />
      );
    }
    case "graphPrototype": {
      const search = (text: string) => graphPrototypeSearchQuery(text, owner);
      const names = graphPrototypeNamesQuery(ids);
      return <SearchPicker search={search} names={names} idOf={graphid} {...props} />;
    }
    case "service":
      return <ServicePicker {...props} />;
    default:
      return <ListedPicker of={of} {...props} />;
  }
}

/** Objects of which there are few: all are read. */
function ListedPicker({ of, ...props }: PickerProps & { of: ObjectKind }) {
  switch (of) {
    case "map":
      return (
        <ListPicker
          query={mapsQuery()}
          option={(row: { sysmapid: string; name: string }) => ({
            value: row.sysmapid,
            label: row.name,
          })}
          {...props}
        />
      );
    case "sla":
      return (
        <ListPicker
          query={slasQuery()}
          option={(row: { slaid: string; name: string }) => ({ value: row.slaid, label: row.name })}
          {...props}
        />
      );
    case "user":
      return (
        <ListPicker
          query={userNamesQuery()}
          option={(row: { userid: string; username: string; name: string; surname: string }) => ({
            value: row.userid,
            label: fullName(row),
          })}
          {...props}
        />
      );
    case "action":
      return (
        <ListPicker
          query={allActionsQuery()}
          option={(row: { actionid: string; name: string }) => ({
            value: row.actionid,
            label: row.name,
          })}
          {...props}
        />
      );
    default:
      return (
        <ListPicker
          query={mediaTypeNamesQuery()}
          option={(row: { mediatypeid: string; name: string }) => ({
            value: row.mediatypeid,
            label: row.name,
          })}
          {...props}
        />
      );
  }
}
