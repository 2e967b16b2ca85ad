import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { explain } from "~/api/errors";
import { mayDiscard, useLeaveQuestion } from "~/shared/forms/form-bar";
import { mayOverwrite, watchFresh } from "~/shared/forms/stale-save";
import { hasUnsaved, setDirty, setSaving } from "~/shared/forms/unsaved";
import { Button, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Dialog } from "~/ui/dialog";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { texts } from "./texts";

/** The draft of a dialog, comparable as JSON. */
interface DialogDraft {
  draft: unknown;
  /** It was kept from an expired session (`useKeptState`). */
  restored: boolean;
  /** That of the last attempt to save. */
  error: unknown;
  onClose: () => void;
}

/**
 * Asks before the edits of a dialog are lost, by closing it or by leaving the page. Returns a
 * function that closes the dialog.
 */
export function useDialogDraft({ draft, restored, error, onClose }: DialogDraft) {
  const text = JSON.stringify(draft);
  const [start] = useState(restored ? undefined : text);
  useEffect(() => {
    if (restored) toast(texts.yourUnsavedChangesWere);
  }, [restored]);
  useEffect(() => setDirty(text !== start, "dialog"), [text, start]);
  useEffect(() => () => setDirty(false, "dialog"), []);
  useLeaveQuestion(error);
  return async () => {
    if (!hasUnsaved("dialog") || (await mayDiscard())) onClose();
  };
}

interface SaveDialogProps {
  title: string;
  /** "user", "role": what is saved. */
  word: string;
  /** Why it cannot be saved yet. */
  problem?: string;
  /** False as its answer: nothing was saved after all, and the dialog stays. */
  save: () => Promise<unknown>;
  saved: string;
  /** The lists that change. */
  keys: readonly QueryKey[];
  onClose: () => void;
  wide?: boolean;
  /** All that the user edits, comparable as JSON. */
  draft: unknown;
  /** The draft was kept from an expired session. */
  restored: boolean;
  /** The object as the dialog got it, and what reads it again: saving compares the two. */
  stale?: { before: unknown; now: () => Promise<unknown> };
  children: ReactNode;
}

/** A form in a dialog: guards unsaved edits, saves, reports that, and refreshes the lists. */
export function SaveDialog(props: SaveDialogProps) {
  const { title, word, problem, save, saved, keys, onClose, children } = props;
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: async () => {
      if (!(await mayOverwrite().catch(() => true))) return false;
      setSaving(true);
      return save();
    },
    onSuccess: (done) => {
      if (done === false) {
        setSaving(false);
        return;
      }
      toast(saved);
      for (const queryKey of keys) void client.invalidateQueries({ queryKey });
      onClose();
    },
  });
  const close = useDialogDraft({ ...props, error: saving.error });
  const started = useRef(props.stale);
  useEffect(() => started.current && watchFresh(started.current), []);
  return (
    <Dialog
      title={title}
      wide={props.wide}
      onClose={() => void close()}
      footer={
        <>
          {problem && <span className="mr-auto self-center text-xs text-soft">{problem}</span>}
          <Button onClick={() => void close()}>{texts.cancel}</Button>
          <Button
            look="primary"
            disabled={problem !== undefined}
            busy={saving.isPending}
            onClick={() => saving.mutate()}
          >
            {texts.saveWord(word)}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!problem && !saving.isPending) saving.mutate();
        }}
      >
        {saving.error && <ErrorNote {...explain(saving.error)} />}
        {children}
        {/* Enter in a box saves. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

/** Edits or deletes the thing of a row. */
export function RowButtons({
  name,
  onEdit,
  onDelete,
}: {
  name: string;
  onEdit: () => void;
  onDelete: () => unknown;
}) {
  return (
    <>
      <IconButton icon="edit" label={texts.editName(name)} onClick={onEdit} />
      <IconButton icon="trash" label={texts.deleteName(name)} onClick={() => void onDelete()} />
    </>
  );
}

/** Deletes after asking, and says how it went; the answer is whether it is gone. */
export function useDelete(remove: (id: string) => Promise<unknown>, keys: readonly QueryKey[]) {
  const client = useQueryClient();
  return async (id: string, name: string, loss: string, action: string) => {
    if (!(await confirmed(`${action} ${name}?`, <p>{loss}</p>, action))) return false;
    let done = true;
    try {
      await remove(id);
      toast(texts.wasName(name, action === "Revoke" ? "revoked" : "deleted"));
    } catch (error) {
      toast(explain(error).what, "bad");
      done = false;
    }
    for (const queryKey of keys) void client.invalidateQueries({ queryKey });
    return done;
  };
}
