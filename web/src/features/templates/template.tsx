import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { exportTemplate } from "~/api/configuration";
import { discoveryRulesQuery } from "~/api/discovery";
import { explain } from "~/api/errors";
import { type ConfiguredItem, templateItemsQuery } from "~/api/item-config";
import { Status } from "~/api/schema";
import { deleteTemplate, type Template, templateQuery } from "~/api/templates";
import { triggersQuery } from "~/api/triggers";
import { MassChangeButton } from "~/features/mass-change";
import { ConfiguredItems, CreateLink, DiscoveryTable, TriggerTable } from "~/shared/config-tables";
import { Gone, QueryError, StaleError } from "~/shared/fallback";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { MacrosView } from "~/shared/macros-view";
import { CRUMB, Page } from "~/shared/page";
import { useDelete } from "~/shared/save-dialog";
import { ValueMaps } from "~/shared/value-maps";
import { WebScenarios } from "~/shared/web-scenarios";
import { Button, IconButton } from "~/ui/button";
import { Tabs } from "~/ui/segmented";
import { Empty, SkeletonRows } from "~/ui/state";
import { Chip } from "~/ui/tag";
import { toast } from "~/ui/toast";
import { download } from "~/util/download";
import { formatCount } from "~/util/format";
import { tagText } from "~/util/tags";
import { LinkDialog } from "./link-dialog";
import { Dashboards, Hosts } from "./tabs";
import { TemplateDialog } from "./template-dialog";
import { texts } from "./texts";

const route = getRouteApi("/inside/templates/$templateid");
const TABS = [
  "items",
  "triggers",
  "discovery",
  "web",
  "dashboards",
  "macros",
  "valuemaps",
  "hosts",
] as const;
type Tab = (typeof TABS)[number];

function Items({ templateid }: { templateid: string }) {
  const query = useQuery(templateItemsQuery(templateid));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const ids = selected.size > 0 ? [...selected] : (query.data ?? []).map(({ itemid }) => itemid);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <CreateLink to="/items/new" ownerid={templateid} template>
          {texts.createItem}
        </CreateLink>
        <MassChangeButton
          selection={{ ids }}
          count={ids.length}
          all={selected.size === 0}
          template
        />
      </div>
      <ConfiguredItems<ConfiguredItem>
        query={query}
        selected={selected}
        onSelect={setSelected}
        empty={<Empty icon="latest" title={texts.thisTemplateHasNo} />}
        state={(item) =>
          item.status === Status.Disabled ? (
            <span className="text-faint">{texts.disabled}</span>
          ) : (
            <span className="text-soft">{texts.enabled}</span>
          )
        }
      />
    </div>
  );
}

/** Groups, vendor and tags. */
function Facts({ template }: { template: Template }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-soft">
      <span>{template.templategroups.map((group) => group.name).join(", ")}</span>
      {template.vendor_version && (
        <span>{`${template.vendor_name} ${template.vendor_version}`}</span>
      )}
      <span className="flex gap-1">
        {template.tags.map((tag) => (
          <Chip key={tagText(tag)}>{tagText(tag)}</Chip>
        ))}
      </span>
    </div>
  );
}

interface PartProps {
  tab: Tab;
  template: Template;
  onLink: () => void;
}

/** What the tab shows of a template. */
function Part({ tab, template, onLink }: PartProps) {
  const { templateid } = template;
  const triggers = useQuery({ ...triggersQuery(templateid, true), enabled: tab === "triggers" });
  const rules = useQuery({
    ...discoveryRulesQuery(templateid, true),
    enabled: tab === "discovery",
  });
  return tab === "items" ? (
    <Items templateid={templateid} />
  ) : tab === "triggers" ? (
    <div className="flex flex-col gap-3">
      <CreateLink to="/triggers/new" ownerid={templateid} template>
        {texts.createTrigger}
      </CreateLink>
      <TriggerTable query={triggers} />
    </div>
  ) : tab === "discovery" ? (
    <div className="flex flex-col gap-3">
      <CreateLink to="/rules/new" ownerid={templateid} template>
        {texts.createDiscoveryRule}
      </CreateLink>
      <DiscoveryTable query={rules} />
    </div>
  ) : tab === "web" ? (
    <WebScenarios ownerid={templateid} template />
  ) : tab === "dashboards" ? (
    <Dashboards templateid={templateid} />
  ) : tab === "macros" ? (
    <MacrosView ownerid={templateid} template own={template.macros} />
  ) : tab === "valuemaps" ? (
    <ValueMaps ownerid={templateid} />
  ) : (
    <Hosts template={template} onLink={onLink} />
  );
}

export function TemplatePage() {
  const { templateid } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [linking, setLinking] = useKeptState("link dialog", false);
  const [editing, setEditing] = useKeptState("edit dialog", false);
  const remove = useDelete(deleteTemplate, [["templates"]]);
  const query = useQuery(templateQuery(templateid));
  const { data: template, error } = query;
  const tab = TABS.find((name) => name === search.tab) ?? "items";
  const exporting = useMutation({
    mutationFn: () => exportTemplate(templateid, "yaml"),
    onSuccess: (text) => download(template?.name ?? "template", text),
    onError: (failure) => toast(explain(failure).what, "bad"),
  });
  return (
    <Page
      title={template?.name ?? texts.template}
      scroll
      heading={
        <>
          <Link to="/templates" className={CRUMB}>
            {texts.templates}
          </Link>
          <span className="-mx-1 text-faint">/</span>
          <span className="truncate">{template?.name ?? "…"}</span>
        </>
      }
      actions={
        template && (
          <>
            <IconButton
              icon="download"
              label={texts.exportAsYaml}
              onClick={() => exporting.mutate()}
            />
            <IconButton
              icon="trash"
              label={texts.deleteTemplate}
              onClick={async () => {
                const loss =
                  "Its items and triggers on linked hosts are deleted too, with their history.";
                if (await remove(template.templateid, template.name, loss, texts.delete))
                  void navigate({ to: "/templates" });
              }}
            />
            <Button icon="edit" onClick={() => setEditing(true)}>
              {texts.editTemplate}
            </Button>
            <Button look="primary" icon="link" onClick={() => setLinking(true)}>
              {texts.linkToHosts}
            </Button>
          </>
        )
      }
      bar={
        template && (
          <div className="flex w-full flex-col gap-3">
            <Facts template={template} />
            <Tabs<Tab>
              label={texts.partsOfTheTemplate}
              value={tab}
              onChange={(value) =>
                void navigate({ search: { tab: value === "items" ? undefined : value } })
              }
              options={[
                ["items", texts.items, formatCount(Number(template.items))],
                ["triggers", texts.triggers, formatCount(Number(template.triggers))],
                ["discovery", texts.discoveryRules, formatCount(Number(template.discoveries))],
                ["web", texts.webScenarios],
                ["dashboards", texts.dashboards],
                ["macros", texts.macros, formatCount(template.macros.length)],
                ["valuemaps", texts.valueMaps],
                ["hosts", texts.hosts, formatCount(template.hosts.length)],
              ]}
            />
          </div>
        )
      }
    >
      <StaleError query={query} className="mb-2" />
      {error && !template ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : template === null ? (
        <Gone icon="templates" title={texts.thisTemplateDoesNot} />
      ) : !template ? (
        <SkeletonRows rows={10} />
      ) : (
        <Part tab={tab} template={template} onLink={() => setLinking(true)} />
      )}
      {editing && template && (
        <TemplateDialog template={template} onClose={() => setEditing(false)} />
      )}
      {linking && template && <LinkDialog template={template} onClose={() => setLinking(false)} />}
    </Page>
  );
}
