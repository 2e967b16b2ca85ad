import { useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { ErrorNote } from "~/ui/state";

interface FormBarProps {
  save: string;
  busy: boolean;
  error: unknown;
  /** What is wrong with the draft, once saving was tried. */
  problems: Record<string, string>;
  /** Between Cancel and what stands at the end: Test. */
  children?: ReactNode;
  onDelete?: () => void;
  deleting?: boolean;
  deleteLabel?: string;
}

/** The end of a form, always in sight: save, cancel, what went wrong, delete. */
export function FormBar(props: FormBarProps) {
  const router = useRouter();
  const problem = Object.values(props.problems)[0];
  return (
    <div className="sticky -bottom-8 z-10 max-sm:bottom-0 -mx-4 flex flex-wrap items-center gap-2 rounded-b-lg border-t bg-surface px-4 py-3 sm:-mx-6 sm:px-6">
      <Button type="submit" look="primary" busy={props.busy}>
        {props.save}
      </Button>
      {props.children}
      <Button onClick={() => router.history.back()}>Cancel</Button>
      {props.error ? <ErrorNote {...explain(props.error)} className="ml-2 flex-1" /> : null}
      {!props.error && problem && (
        <span role="alert" className="ml-2 text-sm text-bad-ink">
          {problem}
        </span>
      )}
      {props.onDelete && (
        <Button
          look="danger"
          icon="trash"
          className="ml-auto"
          busy={props.deleting}
          onClick={props.onDelete}
        >
          {props.deleteLabel}
        </Button>
      )}
    </div>
  );
}
