import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { session } from "~/api/session-store";
import { fullName, userNamesQuery } from "~/api/users";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { Sharing } from "~/shared/forms/sharing";
import { type Drafting, useDraft } from "~/shared/forms/use-draft";
import { useSteps } from "~/shared/forms/use-steps";
import { Button } from "~/ui/button";
import { Checkbox, SelectField, TextField } from "~/ui/field";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import { kindName } from "../widgets/kinds";
import { Canvas } from "./canvas";
import { copyWidget, useCopiedWidget } from "./clipboard";
import {
  type DashboardDraft,
  dashboardProblems,
  type PageDraft,
  type Pages,
  stepField,
  type WidgetContent,
  withNewWidget,
  withWidgets,
} from "./draft";
import { arranged, type Place } from "./geometry";
import { PagesEditor } from "./pages-editor";
import { PERIODS, periodLabel } from "./periods";
import { sourcesOf, withReferences } from "./references";
import { texts } from "./texts";
import { WidgetDialog } from "./widget-dialog";

const SUPER_ADMIN = 3;
const FIRST_KIND = "problems";

interface PartProps {
  draft: DashboardDraft;
  set: (next: Partial<DashboardDraft>) => void;
  problems: Record<string, string>;
}

function Owner({ draft, set }: Omit<PartProps, "problems">) {
  const { data: users = [] } = useQuery(userNamesQuery());
  const options = users.map((user) => [user.userid, fullName(user)] as const);
  const isKnown = options.some(([id]) => id === draft.userid);
  const mayChoose = session()?.type === SUPER_ADMIN;
  return (
    <SelectField
      label={texts.owner}
      hint={mayChoose ? undefined : texts.ownerNote}
      disabled={!mayChoose}
      options={isKnown ? options : [[draft.userid, texts.inaccessibleUser], ...options]}
      value={draft.userid}
      onChange={(userid) => set({ userid })}
    />
  );
}

function General({ draft, set, problems, children }: PartProps & { children?: ReactNode }) {
  return (
    <FormSection title={texts.general}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.name}
          required
          error={problems.name}
          maxLength={255}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        {children}
        <SelectField
          label={texts.displayPeriod}
          options={PERIODS.map((one) => [one, periodLabel(one)] as const)}
          value={draft.displayPeriod}
          onChange={(value) =>
            set({ displayPeriod: PERIODS.find((one) => one === value) ?? draft.displayPeriod })
          }
        />
        <Checkbox
          className="self-end sm:h-8"
          label={texts.autoStart}
          checked={draft.autoStart}
          onChange={(event) => set({ autoStart: event.target.checked })}
        />
      </div>
    </FormSection>
  );
}

/** The widget in the dialog: one of the page by its key, or a new one. */
type Editing = { key: string } | "new";

interface WidgetsProps {
  page: PageDraft;
  pages: Pages;
  steps: ReturnType<typeof useSteps<Pages>>;
  onSelect: (key: string) => void;
  onEdit: (editing: Editing) => void;
}

/** The pages, and the widgets of the one that is chosen. */
function Widgets({ page, pages, steps, onSelect, onEdit }: WidgetsProps) {
  const copied = useCopiedWidget();
  const { change, undo, redo } = steps;
  const paste = () => {
    const next = copied && withNewWidget(pages, page.key, copied.content, copied.size);
    if (next) change(next[0]);
    else toast(texts.pageFull, "bad");
  };
  const copy = (key: string) => {
    const widget = page.widgets.find((one) => one.key === key);
    if (!widget) return;
    const { type, name, hideHeader, fields, place } = widget;
    const { width, height } = place;
    copyWidget({ content: { type, name, hideHeader, fields }, size: { width, height } });
    toast(texts.wasCopied(name || kindName(type)));
  };
  const add = (
    <Button icon="plus" onClick={() => onEdit("new")}>
      {texts.addWidget}
    </Button>
  );
  return (
    <section aria-label={texts.pagesAndWidgets} className="flex flex-col gap-4 border-b py-5">
      <PagesEditor pages={pages} page={page} onSelect={onSelect} onChange={change}>
        {page.widgets.length > 0 && add}
        <Button icon="copy" disabled={!copied} onClick={paste}>
          {texts.pasteWidget}
        </Button>
        <Button disabled={!undo} onClick={undo}>
          {texts.undo}
        </Button>
        <Button disabled={!redo} onClick={redo}>
          {texts.redo}
        </Button>
      </PagesEditor>
      {page.widgets.length === 0 ? (
        <Empty icon="graph" title={texts.emptyPage} action={add}>
          {texts.emptyPageNote}
        </Empty>
      ) : (
        <>
          <p className="text-xs text-soft">{texts.canvasHint}</p>
          <Canvas
            widgets={page.widgets}
            onArrange={(widgets) => change(withWidgets(pages, page.key, widgets))}
            onEdit={(key) => onEdit({ key })}
            onCopy={copy}
            onRemove={(key) =>
              change(
                withWidgets(
                  pages,
                  page.key,
                  page.widgets.filter((one) => one.key !== key),
                ),
              )
            }
          />
        </>
      )}
    </section>
  );
}

/** The pages with the settings of a widget of one of them; null: there is no room for it. */
function applied(
  pages: Pages,
  page: PageDraft,
  editing: Editing,
  content: WidgetContent,
  place: Place | null,
): Pages | null {
  const all = pages.flatMap(({ widgets }) => widgets);
  const known = withWidgets(pages, page.key, withReferences(page.widgets, all));
  if (editing === "new") return withNewWidget(known, page.key, content)?.[0] ?? null;
  const changed = withReferences(
    page.widgets.map((one) => (one.key === editing.key ? { ...one, ...content } : one)),
    all,
  );
  const widgets = place ? arranged(changed, editing.key, place) : changed;
  return widgets && withWidgets(pages, page.key, widgets);
}

interface DialogProps {
  editing: Editing;
  page: PageDraft;
  pages: Pages;
  templateid: string | null;
  onChange: (pages: Pages) => void;
  onClose: () => void;
}

const NEW_WIDGET: WidgetContent = { type: FIRST_KIND, name: "", hideHeader: false, fields: [] };

/** The dialog with the settings of a widget of this page. */
function WidgetOfPage({ editing, page, pages, templateid, onChange, onClose }: DialogProps) {
  const known = withReferences(
    page.widgets,
    pages.flatMap(({ widgets }) => widgets),
  );
  const key = editing === "new" ? null : editing.key;
  const widget = known.find((one) => one.key === key);
  const { type, name, hideHeader, fields } = widget ?? NEW_WIDGET;
  return (
    <WidgetDialog
      content={{ type, name, hideHeader, fields }}
      place={widget?.place ?? null}
      templateid={templateid}
      sourcesOf={(data) =>
        sourcesOf(
          known.filter((one) => one.key !== key),
          data,
          texts.ofDashboard,
        )
      }
      onClose={onClose}
      onApply={(content, place) => {
        const next = applied(pages, page, editing, content, place);
        if (!next) {
          toast(editing === "new" ? texts.pageFull : texts.noRoom, "bad");
          return;
        }
        onChange(next);
        onClose();
      }}
    />
  );
}

interface DashboardFormProps {
  draft: DashboardDraft;
  /** The dashboard does not exist yet. */
  isNew: boolean;
  /** The template of the dashboard; null: it is one of users. */
  templateid: string | null;
  save: (draft: DashboardDraft) => Promise<string>;
  onSaved: (dashboardid: string) => void;
  remove: () => Promise<unknown>;
  onDeleted: () => void;
}

/** Creates or edits a dashboard of users or of a template. */
export function DashboardForm({ templateid, isNew, ...props }: DashboardFormProps) {
  const drafting: Drafting<DashboardDraft> = useDraft(() => props.draft, dashboardProblems);
  const { draft, set, problems } = drafting;
  const [chosen, setChosen] = useState("");
  const [editing, setEditing] = useState<Editing | null>(null);
  const client = useQueryClient();
  const steps = useSteps<Pages>(draft.pages, (pages) => set({ pages }), stepField);
  const page = draft.pages.find(({ key }) => key === chosen) ?? draft.pages[0];
  const refresh = () => client.invalidateQueries({ queryKey: ["dashboards"] });
  if (!page) return null;
  const part = { draft, set, problems };
  return (
    <>
      <ObjectForm
        word={texts.dashboardWord}
        drafting={drafting}
        isNew={isNew}
        save={() => props.save(draft)}
        onSaved={(id) => {
          void refresh();
          props.onSaved(id);
        }}
        remove={props.remove}
        onDeleted={() => {
          void refresh();
          props.onDeleted();
        }}
        loss={texts.lossOnDelete}
      >
        <General {...part}>{templateid === null && <Owner {...part} />}</General>
        <Widgets
          page={page}
          pages={draft.pages}
          steps={steps}
          onSelect={setChosen}
          onEdit={setEditing}
        />
        {templateid === null && (
          <Sharing {...part} note={texts.sharingNote} isPrivate={texts.isPrivate} />
        )}
      </ObjectForm>
      {editing && (
        <WidgetOfPage
          editing={editing}
          page={page}
          pages={draft.pages}
          templateid={templateid}
          onChange={steps.change}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
}
