import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { groupsQuery } from "~/api/groups";
import { deleteScripts, type ScriptSummary, scriptsQuery } from "~/api/scripts";
import { userGroupNamesQuery } from "~/api/users";
import { EnableTable, useSwitches } from "~/shared/enable-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import { Segmented } from "~/ui/segmented";
import type { Column } from "~/ui/table";
import { useFilters } from "~/util/hooks";
import { kindName, ScriptKind, ScriptScope, scopeName } from "~/util/scripts";
import { includesAll } from "~/util/words";
import { texts } from "./texts";

const route = getRouteApi("/inside/scripts");
const NO_FILTERS = { text: undefined, scope: undefined };
const idOf = (row: ScriptSummary) => row.scriptid;
const SCOPES = [
  ["all", texts.all],
  ["host", scopeName(ScriptScope.Host)],
  ["event", scopeName(ScriptScope.Event)],
  ["action", scopeName(ScriptScope.Action)],
] as const;
/** Words of scopes in the address. */
const SCOPE_WORDS: Record<string, string> = {
  host: ScriptScope.Host,
  event: ScriptScope.Event,
  action: ScriptScope.Action,
};

/** What a script does, in one line. */
const commandOf = (row: ScriptSummary) =>
  (row.type === ScriptKind.Url ? row.url : row.command).split("\n")[0] ?? "";

interface GroupNames {
  users: ReadonlyMap<string, string>;
  hosts: ReadonlyMap<string, string>;
}

function useGroupNames(): GroupNames {
  const { data: users } = useQuery(userGroupNamesQuery());
  const { data: hosts } = useQuery(groupsQuery("host"));
  return useMemo(
    () => ({
      users: new Map(users?.map((one) => [one.usrgrpid, one.name])),
      hosts: new Map(hosts?.map((one) => [one.groupid, one.name])),
    }),
    [users, hosts],
  );
}

function availableTo({ usrgrpid, groupid }: ScriptSummary, { users, hosts }: GroupNames): string {
  return texts.availableTo(
    usrgrpid === "0" ? texts.allUsers : (users.get(usrgrpid) ?? texts.userGroupNumber(usrgrpid)),
    groupid === "0" ? texts.allHosts : (hosts.get(groupid) ?? texts.hostGroupNumber(groupid)),
  );
}

function Name({ row }: { row: ScriptSummary }) {
  return (
    <Link
      to="/scripts/$scriptid/edit"
      params={{ scriptid: row.scriptid }}
      onClick={(event) => event.stopPropagation()}
      className="truncate font-medium hover:underline"
      title={row.description || undefined}
    >
      {row.name}
    </Link>
  );
}

function columnsOf(names: GroupNames): Column<ScriptSummary>[] {
  const soft = (id: string, header: string, width: string, text: (row: ScriptSummary) => string) =>
    ({
      id,
      header,
      width,
      on: "wide",
      cell: (row) => (
        <span className="text-soft" title={text(row)}>
          {text(row)}
        </span>
      ),
    }) satisfies Column<ScriptSummary>;
  return [
    ...nameColumns<ScriptSummary>({
      header: texts.script,
      name: (row) => <Name row={row} />,
      nameWidth: "minmax(10rem, 1fr)",
      state: (row) => <span>{scopeName(row.scope)}</span>,
      stateWidth: "8rem",
      more: (row) => `${kindName(row)} · ${commandOf(row)}`,
    }),
    soft("kind", texts.kind, "11rem", kindName),
    soft("path", texts.menuPath, "minmax(6rem, 0.7fr)", (row) => row.menu_path),
    soft("command", texts.command, "minmax(10rem, 1.4fr)", commandOf),
    soft("available", texts.availability, "minmax(8rem, 1fr)", (row) => availableTo(row, names)),
  ];
}

const CREATE = (
  <Link to="/scripts/new" className={buttonClass("primary")}>
    <Icon name="plus" size={15} />
    {texts.createScript}
  </Link>
);

/** What users and actions can run on hosts. */
export function ScriptsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(scriptsQuery());
  const names = useGroupNames();
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  const needle = search.text ?? "";
  const scope = SCOPE_WORDS[search.scope ?? ""];
  const rows = useMemo(
    () =>
      query.data?.filter(
        (row) =>
          (!scope || row.scope === scope) &&
          includesAll(`${row.name} ${row.menu_path} ${row.command} ${row.description}`, needle),
      ),
    [query.data, needle, scope],
  );
  const columns = useMemo(() => columnsOf(names), [names]);
  const { selected, setSelected, buttons } = useSwitches({
    word: texts.scriptWord,
    queryKey: "scripts",
    warning: texts.lossOnDelete,
    remove: deleteScripts,
  });
  const chosen = rows?.map(idOf).filter((id) => selected.has(id)) ?? [];
  return (
    <ListPage
      title={texts.scripts}
      count={rows?.length}
      actions={
        <>
          {buttons(chosen)}
          {CREATE}
        </>
      }
      filters={
        <>
          <SearchBox label={texts.searchScripts} value={text} onChange={setText} className="w-64" />
          <Segmented
            label={texts.usedFor}
            value={SCOPES.find(([word]) => word === search.scope)?.[0] ?? "all"}
            options={SCOPES}
            onChange={(word) => change({ scope: word === "all" ? undefined : word })}
          />
        </>
      }
      onClear={onClear}
      query={query}
    >
      {rows && (
        <EnableTable
          label={texts.scripts}
          columns={columns}
          rows={rows}
          idOf={idOf}
          selected={selected}
          onSelect={setSelected}
          onOpen={({ scriptid }) =>
            void navigate({ to: "/scripts/$scriptid/edit", params: { scriptid } })
          }
          empty={
            <NoRows icon="play" word={texts.scriptWord} onClear={onClear} action={CREATE}>
              {texts.scriptsDo}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
