import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { confirmed } from "~/ui/confirm";
import { toast } from "~/ui/toast";
import { texts } from "../texts";
import { FormBar } from "./form-bar";
import { mayOverwrite } from "./stale-save";
import { setSaving } from "./unsaved";
import type { Drafting } from "./use-draft";

interface FormCardProps {
  onSubmit: () => void;
  children: ReactNode;
}

/** The sheet on which the sections of a form and its bar lie. */
export function FormCard({ onSubmit, children }: FormCardProps) {
  return (
    <form
      className="rounded-lg border bg-surface px-4 shadow-card sm:px-6"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface ObjectFormProps<R> {
  /** What is written, such as "web scenario". */
  word: string;
  drafting: Pick<Drafting<{ name: string }>, "draft" | "problems" | "check">;
  /** The object does not exist yet. */
  isNew: boolean;
  /** False as its answer: nothing was saved after all, and the form stays. */
  save: () => Promise<R | false>;
  onSaved: (answer: R) => void;
  /** The user may only read it: the form has no buttons. */
  readOnly?: boolean;
  /** Where a template decides over it, which alone deletes it: what can be changed here. */
  inherited?: ReactNode;
  remove: () => Promise<unknown>;
  onDeleted?: () => void;
  /** What else goes or stays when it is deleted. */
  loss?: string;
  /** Beside Save: Test. */
  buttons?: ReactNode;
  children: ReactNode;
}

/** Creates, changes or deletes one object, and says what became of it. */
export function ObjectForm<R>(props: ObjectFormProps<R>) {
  const { word, drafting, isNew } = props;
  const { name } = drafting.draft;
  const save = useMutation({
    mutationFn: props.save,
    onSuccess: (answer) => {
      if (answer === false) {
        setSaving(false);
        return;
      }
      toast(texts.wasName(name, isNew ? "created" : "saved"));
      props.onSaved(answer);
    },
  });
  const remove = useMutation({
    mutationFn: props.remove,
    onSuccess: () => {
      setSaving(true);
      toast(texts.wasDeleted(name));
      props.onDeleted?.();
    },
  });
  const onDelete = async () => {
    const body = (
      <p>
        {props.loss} {texts.thisCannotBeUndone}
      </p>
    );
    if (await confirmed(texts.deleteQuestion(name), body, texts.deleteName(word))) remove.mutate();
  };
  const submit = async () => {
    if (!drafting.check()) return;
    if (await mayOverwrite().catch(() => true)) save.mutate();
    else setSaving(false);
  };
  return (
    <FormCard onSubmit={() => void submit()}>
      {props.inherited && (
        <p className="mt-5 rounded-md bg-accent-soft px-3 py-2 text-accent-ink">
          {texts.isInherited(word)} {props.inherited}
        </p>
      )}
      {props.children}
      {!props.readOnly && (
        <FormBar
          save={`${isNew ? "Create" : "Save"} ${word}`}
          busy={save.isPending}
          error={save.error ?? remove.error}
          problems={drafting.problems}
          onDelete={!isNew && !props.inherited ? () => void onDelete() : undefined}
          deleting={remove.isPending}
          deleteLabel={`Delete ${word}…`}
        >
          {props.buttons}
        </FormBar>
      )}
    </FormCard>
  );
}
