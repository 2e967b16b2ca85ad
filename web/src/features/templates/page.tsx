import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type TemplateRow, templateTotalQuery, templateWindow } from "~/api/templates";
import { together, useRowWindow, useVisible } from "~/api/windows";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { ListPage, NoRows } from "~/shared/list-page";
import { GroupPicker } from "~/shared/pickers";
import { Button } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { type Column, VirtualTable } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { formatCount } from "~/util/format";
import { useFilters } from "~/util/hooks";
import { listOf, listTo, parseSearch, replacesEntry } from "~/util/search";
import { ImportDialog } from "./import-dialog";
import { TemplateDialog } from "./template-dialog";
import { texts } from "./texts";

const route = getRouteApi("/inside/templates");
const NO_FILTERS = { text: undefined, group: undefined, linked: undefined };

const count = (
  id: "items" | "triggers" | "discoveries" | "hosts",
  header: string,
  width: string,
): Column<TemplateRow> => ({
  id,
  header,
  width,
  align: "right",
  cell: (row) =>
    row[id] === "0" ? <span className="text-faint">0</span> : formatCount(Number(row[id])),
});

const COLUMNS: Column<TemplateRow>[] = [
  {
    id: "name",
    header: texts.template,
    width: "minmax(14rem, 2fr)",
    cell: (row) => (
      <Link
        to="/templates/$templateid"
        params={{ templateid: row.templateid }}
        onClick={(event) => event.stopPropagation()}
        className="font-medium hover:underline"
      >
        {row.name}
      </Link>
    ),
  },
  count("hosts", texts.hosts, "4rem"),
  count("items", texts.items, "4rem"),
  count("triggers", texts.triggers, "5rem"),
  count("discoveries", texts.discoveryRules, "7rem"),
  {
    id: "groups",
    header: texts.groups,
    width: "minmax(9rem, 1fr)",
    cell: (row) => (
      <span className="text-soft">{row.templategroups.map((group) => group.name).join(", ")}</span>
    ),
  },
  {
    id: "tags",
    header: texts.tags,
    width: "minmax(9rem, 1fr)",
    cell: (row) => <TagList tags={row.tags} max={2} />,
  },
  {
    id: "version",
    header: texts.version,
    width: "8rem",
    cell: (row) => (
      <span className="text-soft">
        {[row.vendor_name, row.vendor_version].filter(Boolean).join(" ")}
      </span>
    ),
  },
];

export function TemplatesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [visible, onVisible] = useVisible();
  const [importing, setImporting] = useState(false);
  const [creating, setCreating] = useKeptState("dialog", false);
  const change = useCallback(
    (next: Partial<typeof search>) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      }),
    [navigate],
  );
  const filter = useMemo(
    () => ({ text: search.text, groupids: listOf(search.group), linked: search.linked === "yes" }),
    [search],
  );
  const total = useQuery(templateTotalQuery(filter));
  const rows = useRowWindow<TemplateRow>({
    queryKey: ["templates", "rows", filter],
    visible,
    fetch: (offset, limit, signal) => templateWindow(filter, offset, limit, signal),
    live: "config",
  });
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  const importButton = (
    <Button look="primary" icon="upload" onClick={() => setImporting(true)}>
      {texts.import}
    </Button>
  );
  return (
    <ListPage
      title={texts.templates}
      count={total.data}
      actions={
        <>
          <Button icon="plus" onClick={() => setCreating(true)}>
            {texts.createTemplate}
          </Button>
          {importButton}
        </>
      }
      filters={
        <>
          <SearchBox
            label={texts.searchTemplates}
            value={text}
            onChange={setText}
            className="w-72"
          />
          <GroupPicker
            of="template"
            values={listOf(search.group)}
            onChange={(v) => change({ group: listTo(v) })}
          />
          <Segmented
            label={texts.use}
            value={search.linked === "yes" ? "yes" : "all"}
            onChange={(v) => change({ linked: v === "yes" ? "yes" : undefined })}
            options={[
              ["all", texts.all],
              ["yes", texts.linkedToHosts],
            ]}
          />
        </>
      }
      onClear={onClear}
      query={together(rows, total)}
      beside={
        <>
          {creating && (
            <TemplateDialog
              template={null}
              onSaved={(templateid) =>
                void navigate({ to: "/templates/$templateid", params: { templateid }, search: {} })
              }
              onClose={() => setCreating(false)}
            />
          )}
          {importing && <ImportDialog onClose={() => setImporting(false)} />}
        </>
      }
    >
      {total.data !== undefined && (
        <VirtualTable
          label={texts.templates}
          columns={COLUMNS}
          count={total.data}
          rowAt={rows.rowAt}
          idOf={(row) => row.templateid}
          onVisible={onVisible}
          onOpen={(row) =>
            void navigate({
              to: "/templates/$templateid",
              params: { templateid: row.templateid },
              search: {},
            })
          }
          empty={
            <NoRows
              icon="templates"
              word={texts.templateWord}
              onClear={onClear}
              action={importButton}
            >
              {texts.importAYamlXml}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
