import { type ReactNode, useMemo, useState } from "react";
import type { MassItem } from "~/api/mass-items";
import { QueryError } from "~/shared/fallback";
import { useDialogDraft } from "~/shared/save-dialog";
import { Button } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Dialog } from "~/ui/dialog";
import { Checkbox } from "~/ui/field";
import { Empty, ErrorNote } from "~/ui/state";
import { useSettled } from "~/util/hooks";
import type { Selection } from "./button";
import { changesOf, type Draft, NEW_DRAFT } from "./draft";
import { Fields } from "./fields";
import { Ended, Running } from "./outcome";
import { type Changes, type Plan, planOf } from "./plan";
import { Preview } from "./preview";
import { texts } from "./texts";
import { ITEMS_MAX, useItems } from "./use-items";
import { type RunState, useRun } from "./use-run";

interface MassChangeDialogProps {
  selection: Selection;
  /** The items belong to a template. */
  template: boolean;
  onClose: () => void;
}

/** What the dialog shows before the items are read, or if they cannot be. */
function NotRead({ query }: { query: ReturnType<typeof useItems> }): ReactNode {
  const { data, error, progress } = query;
  if (error) return <QueryError error={error} onRetry={() => void query.refetch()} />;
  if (data === "too many") return <ErrorNote what={texts.tooMany(ITEMS_MAX)} todo={texts.narrow} />;
  if (data?.items.length === 0) return <Empty icon="latest" title={texts.noItems} />;
  return (
    <p role="status" aria-label={texts.readingItems} className="tabular py-6 text-center text-soft">
      {progress.total > 0 ? texts.reading(progress.done, progress.total) : texts.readingItems}
    </p>
  );
}

/** The draft, and what it does to the items; the preview follows while the draft is typed. */
function useDraftPlan(query: ReturnType<typeof useItems>) {
  const [draft, setDraft] = useState<Draft>(NEW_DRAFT);
  const settled = useSettled(draft);
  const items = query.data === "too many" ? undefined : query.data?.items;
  const changes = useMemo(() => changesOf(settled), [settled]);
  const plan = useMemo(() => (items && changes ? planOf(items, changes) : null), [items, changes]);
  return { draft, setDraft, items, changes, plan, isSettled: settled === draft };
}

function Stage({
  state,
  blocked,
}: {
  state: Exclude<RunState, { stage: "none" }>;
  blocked: number;
}) {
  return state.stage === "running" ? (
    <Running progress={state.progress} stopping={state.stopping} />
  ) : (
    <Ended outcome={state.outcome} blocked={blocked} />
  );
}

interface FooterProps {
  run: ReturnType<typeof useRun>;
  plan: Plan | null;
  changes: Changes | null;
  /** The items are read, and the preview shows the draft. */
  isReady: boolean;
  /** Closes the dialog, and asks first if the draft would be lost. */
  onCancel: () => void;
  onClose: () => void;
}

/** What can be done next. */
function Footer({ run, plan, changes, isReady, onCancel, onClose }: FooterProps) {
  const { state, start, stop } = run;
  if (state.stage === "running") {
    return (
      <Button look="danger" onClick={stop} disabled={state.stopping}>
        {texts.stop}
      </Button>
    );
  }
  if (state.stage === "none") {
    const count = plan?.changing.length ?? 0;
    return (
      <>
        <Button onClick={onCancel}>{texts.cancel}</Button>
        <Button
          look="primary"
          disabled={count === 0 || !isReady}
          onClick={() => plan && changes && void start(plan.changing, changes)}
        >
          {texts.apply(count)}
        </Button>
      </>
    );
  }
  const { outcome } = state;
  const failed = outcome.failures.map(({ item }) => item);
  const again = (items: readonly MassItem[], label: string) =>
    items.length > 0 &&
    changes && <Button onClick={() => void start(items, changes, outcome)}>{label}</Button>;
  return (
    <>
      {again(failed, texts.retry(failed.length))}
      {again(outcome.left, texts.goOn(outcome.left.length))}
      <Button look="primary" onClick={onClose}>
        {texts.close}
      </Button>
    </>
  );
}

/** Changes several items at once: fields, a preview with old and new values, a run with its result. */
export function MassChangeDialog({ selection, template, onClose }: MassChangeDialogProps) {
  const [everywhere, setEverywhere] = useState(false);
  const query = useItems(selection, everywhere);
  const { draft, setDraft, items, changes, plan, isSettled } = useDraftPlan(query);
  const run = useRun();
  const { state } = run;
  const unsaved = state.stage === "none" ? draft : NEW_DRAFT;
  const leave = useDialogDraft({ draft: unsaved, restored: false, error: null, onClose });
  const close = async () => {
    if (state.stage !== "running") return leave();
    const body = <p>{texts.stopBody}</p>;
    if (await confirmed(texts.stopTitle, body, texts.stop, "close")) run.stop();
  };
  const footer = (
    <Footer
      run={run}
      plan={plan}
      changes={changes}
      isReady={items !== undefined && isSettled}
      onCancel={() => void leave()}
      onClose={onClose}
    />
  );
  return (
    <Dialog wide title={texts.title(items?.length)} onClose={() => void close()} footer={footer}>
      {state.stage !== "none" ? (
        <Stage state={state} blocked={plan?.blocked ?? 0} />
      ) : (
        <div className="flex flex-col gap-4">
          {"filter" in selection && (
            <Checkbox
              label={texts.alsoDisabled}
              checked={everywhere}
              onChange={(event) => setEverywhere(event.target.checked)}
            />
          )}
          {!items || items.length === 0 ? (
            <NotRead query={query} />
          ) : (
            <>
              <Fields draft={draft} onChange={(next) => setDraft((old) => ({ ...old, ...next }))} />
              <section aria-label={texts.preview} className="flex flex-col gap-2">
                <h3 className="text-sm font-semibold">{texts.preview}</h3>
                {plan && changes ? (
                  <Preview plan={plan} changes={changes} total={items.length} template={template} />
                ) : (
                  <p className="text-soft">{texts.chooseFields}</p>
                )}
              </section>
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
