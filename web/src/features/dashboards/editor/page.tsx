import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import {
  dashboardQuery,
  deleteDashboard,
  deleteTemplateDashboard,
  editableDashboardQuery,
  saveDashboard,
  saveTemplateDashboard,
  templateDashboardQuery,
} from "~/api/dashboards";
import { session } from "~/api/session-store";
import { templateNamesQuery } from "~/api/templates";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { CRUMB, Page } from "~/shared/page";
import { buttonClass } from "~/ui/button";
import { Empty } from "~/ui/state";
import {
  clonedDraft,
  dashboardDraft,
  dashboardParams,
  templateDashboardDraft,
  templateDashboardParams,
} from "./draft";
import { DashboardForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/dashboards/new");
const editRoute = getRouteApi("/inside/dashboards/$dashboardid/edit");
const ofTemplateNewRoute = getRouteApi("/inside/templates/$templateid/dashboards/new");
const ofTemplateRoute = getRouteApi("/inside/templates/$templateid/dashboards/$dashboardid/edit");

const me = () => session()?.userid ?? "";
const GONE = <Gone icon="graph" title={texts.thisDashboardDoesNot} />;
const nothing = () => Promise.resolve();

/** A new dashboard, or one like another (`clone` in the address). */
export function DashboardNewPage() {
  const { clone } = newRoute.useSearch();
  return (
    <Page title={texts.createDashboard} scroll>
      {clone ? <Clone dashboardid={clone} /> : <NewDashboard like={null} />}
    </Page>
  );
}

function Clone({ dashboardid }: { dashboardid: string }) {
  const query = useQuery(dashboardQuery(dashboardid));
  return (
    <Found query={query} gone={GONE}>
      {(dashboard) => {
        const draft = dashboardDraft(dashboard, me());
        return <NewDashboard like={clonedDraft(draft, texts.copyOf(draft.name), me())} />;
      }}
    </Found>
  );
}

function NewDashboard({ like }: { like: ReturnType<typeof clonedDraft> | null }) {
  const navigate = useNavigate();
  return (
    <DashboardForm
      draft={like ?? dashboardDraft(null, me())}
      isNew
      templateid={null}
      save={(draft) => saveDashboard(null, dashboardParams(draft, null))}
      onSaved={(dashboardid) =>
        void navigate({ to: "/dashboards/$dashboardid", params: { dashboardid } })
      }
      remove={nothing}
      onDeleted={nothing}
    />
  );
}

function ShowLink({ dashboardid }: { dashboardid: string }) {
  return (
    <Link to="/dashboards/$dashboardid" params={{ dashboardid }} className={buttonClass("primary")}>
      {texts.showDashboard}
    </Link>
  );
}

export function DashboardEditPage() {
  const { dashboardid } = editRoute.useParams();
  const navigate = useNavigate();
  const query = useFresh(dashboardQuery(dashboardid));
  const editable = useQuery(editableDashboardQuery(dashboardid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editDashboard} scroll>
      <Found query={query} gone={GONE}>
        {(dashboard) =>
          editable.data === false ? (
            <Empty icon="graph" title={texts.mayOnlyRead} action={<ShowLink {...dashboard} />} />
          ) : (
            <DashboardForm
              key={dashboardid}
              draft={dashboardDraft(dashboard, me())}
              isNew={false}
              templateid={null}
              save={(draft) => saveDashboard(dashboardid, dashboardParams(draft, dashboard))}
              onSaved={() =>
                void navigate({ to: "/dashboards/$dashboardid", params: { dashboardid } })
              }
              remove={() => deleteDashboard(dashboardid)}
              onDeleted={() => void navigate({ to: "/dashboards" })}
            />
          )
        }
      </Found>
    </Page>
  );
}

/** The way back to a template in the heading of a page. */
function OfTemplate({ templateid, title }: { templateid: string; title: string }) {
  const { data: names } = useQuery(templateNamesQuery([templateid]));
  return (
    <>
      <Link
        to="/templates/$templateid"
        params={{ templateid }}
        search={{ tab: "dashboards" }}
        className={CRUMB}
      >
        {names?.get(templateid) ?? texts.templates}
      </Link>
      <span className="-mx-1 text-faint">/</span>
      <span className="truncate">{title}</span>
    </>
  );
}

const useLeaveToTemplate = (templateid: string) => {
  const navigate = useNavigate();
  return () =>
    void navigate({
      to: "/templates/$templateid",
      params: { templateid },
      search: { tab: "dashboards" },
    });
};

export function TemplateDashboardNewPage() {
  const { templateid } = ofTemplateNewRoute.useParams();
  const leave = useLeaveToTemplate(templateid);
  const title = texts.createDashboard;
  return (
    <Page title={title} scroll heading={<OfTemplate templateid={templateid} title={title} />}>
      <DashboardForm
        draft={templateDashboardDraft(null)}
        isNew
        templateid={templateid}
        save={(draft) => saveTemplateDashboard(null, templateDashboardParams(draft, templateid))}
        onSaved={leave}
        remove={nothing}
        onDeleted={nothing}
      />
    </Page>
  );
}

export function TemplateDashboardEditPage() {
  const { templateid, dashboardid } = ofTemplateRoute.useParams();
  const leave = useLeaveToTemplate(templateid);
  const query = useFresh(templateDashboardQuery(dashboardid));
  const title = query.data ? texts.editName(query.data.name) : texts.editDashboard;
  return (
    <Page title={title} scroll heading={<OfTemplate templateid={templateid} title={title} />}>
      <Found query={query} gone={GONE}>
        {(dashboard) => (
          <DashboardForm
            key={dashboardid}
            draft={templateDashboardDraft(dashboard)}
            isNew={false}
            templateid={templateid}
            save={(draft) =>
              saveTemplateDashboard(dashboardid, templateDashboardParams(draft, null))
            }
            onSaved={leave}
            remove={() => deleteTemplateDashboard(dashboardid)}
            onDeleted={leave}
          />
        )}
      </Found>
    </Page>
  );
}
