import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { explain } from "~/api/errors";
import { Button, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Dialog } from "~/ui/dialog";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";

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
  children: ReactNode;
}

/** A form in a dialog: saves, says so, and shows the lists anew. */
export function SaveDialog(props: SaveDialogProps) {
  const { title, word, problem, save, saved, keys, onClose, children } = props;
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: save,
    onSuccess: (done) => {
      if (done === false) return;
      toast(saved);
      for (const queryKey of keys) void client.invalidateQueries({ queryKey });
      onClose();
    },
  });
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          {problem && <span className="mr-auto self-center text-xs text-soft">{problem}</span>}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={problem !== undefined}
            busy={saving.isPending}
            onClick={() => saving.mutate()}
          >
            Save {word}
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
      <IconButton icon="edit" label={`Edit ${name}`} onClick={onEdit} />
      <IconButton icon="trash" label={`Delete ${name}`} onClick={() => void onDelete()} />
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
      toast(`${name} was ${action === "Revoke" ? "revoked" : "deleted"}.`);
    } catch (error) {
      toast(explain(error).what, "bad");
      done = false;
    }
    for (const queryKey of keys) void client.invalidateQueries({ queryKey });
    return done;
  };
}
