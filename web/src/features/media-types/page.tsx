import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Action, allActionsQuery } from "~/api/actions";
import {
  deleteMediaTypes,
  enableMediaTypes,
  type MediaTypeSummary,
  mediaTypesQuery,
} from "~/api/media-types";
import { MediaTypeKind, Status } from "~/api/schema";
import { ImportDialog } from "~/features/templates";
import { EnableTable, Switch, useSwitches } from "~/shared/enable-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { Button, buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import type { Column } from "~/ui/table";
import { useTyped } from "~/util/hooks";
import { includesAll } from "~/util/words";
import { kindName } from "./kinds";
import { texts } from "./texts";
import { type Use, usesOf } from "./uses";

const route = getRouteApi("/inside/media-types");
const idOf = (row: MediaTypeSummary) => row.mediatypeid;
const isOn = (row: MediaTypeSummary) => row.status === Status.Enabled;

/** What distinguishes a media type from others of its kind. */
function detailsOf(row: MediaTypeSummary): string {
  if (row.type === MediaTypeKind.Email) return `${row.smtp_server}:${row.smtp_port}`;
  if (row.type === MediaTypeKind.Script) return row.exec_path;
  if (row.type === MediaTypeKind.Sms) return row.gsm_modem;
  return row.description.split("\n")[0] ?? "";
}

function Name({ row }: { row: MediaTypeSummary }) {
  return (
    <Link
      to="/media-types/$mediatypeid/edit"
      params={{ mediatypeid: row.mediatypeid }}
      onClick={(event) => event.stopPropagation()}
      className="truncate font-medium hover:underline"
    >
      {row.name}
    </Link>
  );
}

/** The actions that use it; if it is off, their messages fail. */
function UsedIn({ row, use }: { row: MediaTypeSummary; use: Use | undefined }) {
  if (!use) return null;
  if (use.named.length === 0 && use.all === 0)
    return <span className="text-faint">{texts.notUsed}</span>;
  const words = texts.usedBy(use.named.map(({ name }) => name).join(", "), use.all);
  const fails = !isOn(row) && use.named.some(({ status }) => status === Status.Enabled);
  const shown = fails ? texts.messagesFail(words) : words;
  return (
    <span className={fails ? "text-bad-ink" : "text-soft"} title={shown}>
      {shown}
    </span>
  );
}

function columnsOf(actions: readonly Action[] | undefined): Column<MediaTypeSummary>[] {
  return [
    ...nameColumns<MediaTypeSummary>({
      header: texts.mediaType,
      name: (row) => <Name row={row} />,
      nameWidth: "minmax(10rem, 1fr)",
      state: (row) => <Switch on={isOn(row)} />,
      stateWidth: "7rem",
      more: (row) => `${kindName(row.type)} · ${detailsOf(row)}`,
    }),
    {
      id: "kind",
      header: texts.kind,
      width: "6rem",
      on: "wide",
      cell: (row) => <span className="text-soft">{kindName(row.type)}</span>,
    },
    {
      id: "used",
      header: texts.usedIn,
      width: "minmax(12rem, 1.4fr)",
      on: "wide",
      cell: (row) => <UsedIn row={row} use={actions && usesOf(actions, row.mediatypeid)} />,
    },
    {
      id: "details",
      header: texts.details,
      width: "minmax(10rem, 1.2fr)",
      on: "wide",
      cell: (row) => <span className="text-soft">{detailsOf(row)}</span>,
    },
  ];
}

const CREATE = (
  <Link to="/media-types/new" className={buttonClass("primary")}>
    <Icon name="plus" size={15} />
    {texts.createMediaType}
  </Link>
);

/** Ways in which messages are sent. */
export function MediaTypesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(mediaTypesQuery());
  const { data: actions } = useQuery(allActionsQuery());
  const [importing, setImporting] = useState(false);
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    navigate({ search: { text: value || undefined }, replace: true }),
  );
  const needle = search.text ?? "";
  const rows = useMemo(
    () => query.data?.filter((row) => includesAll(`${row.name} ${row.description}`, needle)),
    [query.data, needle],
  );
  const columns = useMemo(() => columnsOf(actions), [actions]);
  const { selected, setSelected, buttons } = useSwitches({
    word: texts.mediaTypeWord,
    queryKey: "mediatypes",
    warning: texts.lossOnDelete,
    enable: enableMediaTypes,
    remove: deleteMediaTypes,
  });
  const chosen = rows?.map(idOf).filter((id) => selected.has(id)) ?? [];
  const onClear = needle ? () => setText("") : undefined;
  return (
    <ListPage
      title={texts.mediaTypes}
      count={rows?.length}
      actions={
        <>
          {buttons(chosen)}
          <Button icon="upload" onClick={() => setImporting(true)}>
            {texts.import}
          </Button>
          {CREATE}
        </>
      }
      filters={
        <SearchBox
          label={texts.searchMediaTypes}
          value={text}
          onChange={setText}
          className="w-64"
        />
      }
      onClear={onClear}
      query={query}
      beside={
        importing && (
          <ImportDialog title={texts.importMediaTypes} onClose={() => setImporting(false)} />
        )
      }
    >
      {rows && (
        <EnableTable
          label={texts.mediaTypes}
          columns={columns}
          rows={rows}
          idOf={idOf}
          selected={selected}
          onSelect={setSelected}
          onOpen={({ mediatypeid }) =>
            void navigate({ to: "/media-types/$mediatypeid/edit", params: { mediatypeid } })
          }
          empty={
            <NoRows icon="send" word={texts.mediaTypeWord} onClear={onClear} action={CREATE}>
              {texts.mediaTypesSend}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
