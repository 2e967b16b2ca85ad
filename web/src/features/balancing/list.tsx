import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { mayBalance } from "~/api/balancing";
import type { Reads } from "~/api/windows";
import { EnableTable, useSwitches } from "~/shared/enable-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon, type IconName } from "~/ui/icon";
import type { Column } from "~/ui/table";
import { useTyped } from "~/util/hooks";
import type { Kind } from "./kinds";
import { texts } from "./texts";

interface CreateLinkProps {
  kind: Kind;
  word: string;
  look?: "primary" | "plain";
}

export function CreateLink({ kind, word, look = "primary" }: CreateLinkProps) {
  return (
    <Link to="/balancing/$kind/new" params={{ kind }} className={buttonClass(look)}>
      <Icon name="plus" size={15} />
      {texts.createWord(word)}
    </Link>
  );
}

interface NameProps {
  kind: Kind;
  id: string;
  name: string;
}

/** Where an object is opened: an engine group has a page of its own, others their forms. */
export const addressOf = (kind: Kind, id: string) =>
  kind === "engine-groups"
    ? ({ to: "/balancing/engine-groups/$id/placement", params: { id } } as const)
    : ({ to: "/balancing/$kind/$id/edit", params: { kind, id } } as const);

/** The name of an object, which opens it. */
export function NameLink({ kind, id, name }: NameProps) {
  return (
    <Link
      {...addressOf(kind, id)}
      onClick={(event) => event.stopPropagation()}
      title={name}
      className="truncate font-medium hover:underline"
    >
      {name}
    </Link>
  );
}

interface ObjectsPageProps<T> {
  kind: Kind;
  title: string;
  /** What a row is: "pool". */
  word: string;
  icon: IconName;
  query: Reads & { data: T[] | undefined };
  columns: readonly Column<T>[];
  idOf: (row: T) => string;
  /** What is searched, in lower case or not. */
  textOf: (row: T) => string;
  search: { text?: string };
  enable?: (ids: string[], on: boolean) => Promise<unknown>;
  remove: (ids: string[]) => Promise<unknown>;
  /** What goes or stays with deleted ones. */
  warning: string;
  /** Instead of the link to the form of a new one. */
  create?: ReactNode;
  /** Further buttons, for the selected ones. */
  actions?: (chosen: string[]) => ReactNode;
  /** What they are for, while there is none. */
  children: ReactNode;
}

/** The list of one kind of object of the load balancer. */
export function ObjectsPage<T>(props: ObjectsPageProps<T>) {
  const { kind, title, word, idOf, textOf, query } = props;
  const needle = (props.search.text ?? "").toLowerCase();
  const navigate = useNavigate();
  const [text, setText] = useTyped(props.search.text ?? "", (value) =>
    navigate({ to: ".", search: { text: value || undefined }, replace: true }),
  );
  const rows = useMemo(
    () => query.data?.filter((row) => textOf(row).toLowerCase().includes(needle)),
    [query.data, textOf, needle],
  );
  const { selected, setSelected, buttons } = useSwitches({
    word,
    queryKey: "balancing",
    warning: props.warning,
    enable: props.enable,
    remove: props.remove,
  });
  const chosen = rows?.map(idOf).filter((id) => selected.has(id)) ?? [];
  const onClear = needle ? () => setText("") : undefined;
  const create = mayBalance() && (props.create ?? <CreateLink kind={kind} word={word} />);
  return (
    <ListPage
      title={title}
      count={rows?.length}
      actions={
        <>
          {buttons(chosen)}
          {props.actions?.(chosen)}
          {create}
        </>
      }
      filters={
        <SearchBox
          label={texts.searchTitle(title)}
          value={text}
          onChange={setText}
          className="w-64"
        />
      }
      onClear={onClear}
      query={query}
    >
      {rows && (
        <EnableTable
          label={title}
          columns={props.columns}
          rows={rows}
          idOf={idOf}
          selected={mayBalance() ? selected : undefined}
          onSelect={mayBalance() ? setSelected : undefined}
          onOpen={(row) => void navigate(addressOf(kind, idOf(row)))}
          empty={
            <NoRows icon={props.icon} word={word} onClear={onClear} action={create}>
              {props.children}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
