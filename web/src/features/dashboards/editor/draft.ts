import type { Dashboard, DashboardPage, TemplateDashboard, WidgetField } from "~/api/dashboards";
import type { Members } from "~/api/methods";
import { type SharedDraft, sharedDraft, sharedParams } from "~/util/shares";
import type { Fields } from "./fields";
import { freePlace, type Placed } from "./geometry";
import { kindOf } from "./kinds";
import { withFreshReference } from "./references";

/** A widget without its place. */
export interface WidgetContent {
  type: string;
  name: string;
  hideHeader: boolean;
  fields: Fields;
}

/** A widget while it is edited. */
export interface WidgetDraft extends WidgetContent, Placed {
  /** "": new. */
  widgetid: string;
}

export interface PageDraft {
  key: string;
  /** "": new. */
  dashboard_pageid: string;
  name: string;
  /** Seconds; "0": the period of the dashboard. */
  displayPeriod: string;
  widgets: readonly WidgetDraft[];
}

type Period = Dashboard["display_period"];

export interface DashboardDraft extends SharedDraft {
  name: string;
  /** Owner; of a template's dashboard "". */
  userid: string;
  displayPeriod: Period;
  autoStart: boolean;
  pages: readonly PageDraft[];
}

export const PAGES_MAX = 50;
const ON: string = "1";
const FIRST_PERIOD: Period = "30";

const widgetDraft = (widget: DashboardPage["widgets"][number]): WidgetDraft => ({
  key: widget.widgetid,
  widgetid: widget.widgetid,
  type: widget.type,
  name: widget.name,
  hideHeader: widget.view_mode === ON,
  place: {
    x: Number(widget.x),
    y: Number(widget.y),
    width: Number(widget.width),
    height: Number(widget.height),
  },
  fields: widget.fields.map(({ type, name, value }) => ({ type, name, value })),
});

const pageDraft = (page: DashboardPage): PageDraft => ({
  key: page.dashboard_pageid,
  dashboard_pageid: page.dashboard_pageid,
  name: page.name,
  displayPeriod: page.display_period,
  widgets: page.widgets.map(widgetDraft),
});

/** A key that none of these has. */
export function freshKey(used: readonly { key: string }[]): string {
  const keys = new Set(used.map(({ key }) => key));
  let number = 1;
  while (keys.has(`new${number}`)) number++;
  return `new${number}`;
}

const freshPage = (pages: readonly PageDraft[]): PageDraft => ({
  key: freshKey(pages),
  dashboard_pageid: "",
  name: "",
  displayPeriod: "0",
  widgets: [],
});

interface Read {
  name: string;
  display_period: Period;
  auto_start: string;
  pages: readonly DashboardPage[];
}

const draftOf = (dashboard: Read | null) => ({
  name: dashboard?.name ?? "",
  displayPeriod: dashboard?.display_period ?? FIRST_PERIOD,
  autoStart: (dashboard?.auto_start ?? ON) === ON,
  pages: dashboard?.pages.map(pageDraft) ?? [freshPage([])],
});

/** The draft of a dashboard of users, or of a new one of this user. */
export const dashboardDraft = (dashboard: Dashboard | null, userid: string): DashboardDraft => ({
  ...draftOf(dashboard),
  userid: dashboard?.userid ?? userid,
  ...sharedDraft(dashboard),
});

/** The draft of a dashboard of a template, or of a new one. */
export const templateDashboardDraft = (dashboard: TemplateDashboard | null): DashboardDraft => ({
  ...draftOf(dashboard),
  userid: "",
  ...sharedDraft(null),
});

/** A new dashboard like the one that was read: private, of this user, and not shared. */
export function clonedDraft(draft: DashboardDraft, name: string, userid: string): DashboardDraft {
  const pages = draft.pages.map((page) => ({
    ...page,
    dashboard_pageid: "",
    widgets: page.widgets.map((widget) => ({ ...widget, widgetid: "" })),
  }));
  return { ...draft, name, userid, pages, ...sharedDraft(null) };
}

/** What is wrong with a draft, by field. */
export function dashboardProblems(draft: DashboardDraft): Record<string, string> {
  return draft.name.trim() ? {} : { name: "Enter a name." };
}

const fieldParam = ({ type, name, value }: WidgetField) => ({ type, name, value });

const pagesParam = (pages: readonly PageDraft[]) =>
  pages.map(({ dashboard_pageid, name, displayPeriod, widgets }) => ({
    ...(dashboard_pageid && { dashboard_pageid }),
    name,
    display_period: displayPeriod,
    widgets: widgets.map(({ widgetid, type, name, hideHeader, place, fields }) => ({
      ...(widgetid && { widgetid }),
      type,
      name,
      view_mode: hideHeader ? "1" : "0",
      ...place,
      fields: fields.map(fieldParam),
    })),
  }));

const commonParams = (draft: DashboardDraft) => ({
  name: draft.name.trim(),
  display_period: draft.displayPeriod,
  auto_start: draft.autoStart ? ("1" as const) : ("0" as const),
  pages: pagesParam(draft.pages),
});

/** A draft without problems, as `dashboard.create` and `dashboard.update` take it. */
export const dashboardParams = (
  draft: DashboardDraft,
  dashboard: Dashboard | null,
): Members<"dashboard"> => ({
  ...commonParams(draft),
  userid: draft.userid,
  ...sharedParams(draft, dashboard),
});

/** The same for `templatedashboard.create` and `.update`; `templateid` of a new one. */
export const templateDashboardParams = (
  draft: DashboardDraft,
  templateid: string | null,
): Members<"templatedashboard"> => ({
  ...commonParams(draft),
  ...(templateid !== null && { templateid }),
});

export type Pages = readonly PageDraft[];

const everyWidget = (pages: Pages) => pages.flatMap(({ widgets }) => widgets);

/** The pages with another list of widgets on one of them. */
export const withWidgets = (pages: Pages, page: string, widgets: readonly WidgetDraft[]): Pages =>
  pages.map((one) => (one.key === page ? { ...one, widgets } : one));

/** The pages with a new widget at a free place, and its key; null: the page has no room. */
export function withNewWidget(
  pages: Pages,
  page: string,
  content: WidgetContent,
  size = kindOf(content.type).size,
): [Pages, string] | null {
  const widgets = pages.find(({ key }) => key === page)?.widgets ?? [];
  const place = freePlace(
    widgets.map((one) => one.place),
    size,
  );
  if (!place) return null;
  const all = everyWidget(pages);
  const key = freshKey(all);
  const widget = withFreshReference({ ...content, key, widgetid: "", place }, all);
  return [withWidgets(pages, page, [...widgets, widget]), key];
}

/** The pages with a new one at the end, and its key. */
export function withNewPage(pages: Pages): [Pages, string] {
  const page = freshPage(pages);
  return [[...pages, page], page.key];
}

/** The pages with a copy after one of them, whose widgets refer to the copies; and the key of the copy. */
export function withCopiedPage(pages: Pages, key: string): [Pages, string] {
  const at = pages.findIndex((page) => page.key === key);
  const original = pages[at];
  if (!original) return [pages, key];
  const renamed = new Map<string, string>();
  const widgets: WidgetDraft[] = [];
  for (const widget of original.widgets) {
    const known = [...everyWidget(pages), ...widgets];
    const next = withFreshReference({ ...widget, key: freshKey(known), widgetid: "" }, known);
    renamed.set(referenceFieldOf(widget.fields), referenceFieldOf(next.fields));
    widgets.push(next);
  }
  const copy = {
    ...original,
    key: freshKey(pages),
    dashboard_pageid: "",
    widgets: widgets.map((widget) => ({
      ...widget,
      fields: renamedReferences(widget.fields, renamed),
    })),
  };
  return [[...pages.slice(0, at + 1), copy, ...pages.slice(at + 1)], copy.key];
}

const referenceFieldOf = (fields: Fields) =>
  fields.find(({ name }) => name === "reference")?.value ?? "";

/** The fields with references to the copies of what they referred to. */
const renamedReferences = (fields: Fields, renamed: ReadonlyMap<string, string>): Fields =>
  fields.map((field) => {
    if (!field.name.endsWith("._reference")) return field;
    const [reference = "", data = ""] = field.value.split(".");
    return { ...field, value: `${renamed.get(reference) || reference}.${data}` };
  });

/** The page whose name alone differs, so that typing it is one step; null: something else changed. */
export function stepField(before: Pages, after: Pages): string | null {
  if (before.length !== after.length) return null;
  const changed = before.flatMap((page, n) => {
    const next = after[n];
    return next && next !== page ? [[page, next] as const] : [];
  });
  const [[page, next] = []] = changed;
  if (changed.length !== 1 || !page || !next) return null;
  const isName = JSON.stringify({ ...page, name: "" }) === JSON.stringify({ ...next, name: "" });
  return isName ? page.key : null;
}
