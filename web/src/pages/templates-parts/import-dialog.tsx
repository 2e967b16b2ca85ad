import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { compareImport, formatOf, runImport } from "~/api/configuration";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Dialog } from "~/ui/dialog";
import { Checkbox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { ErrorNote, SkeletonRows } from "~/ui/state";
import { toast } from "~/ui/toast";
import { countChanges, type ImportChange, listChanges } from "~/util/compare";
import { plural } from "~/util/format";

/** A larger file is refused by the server anyway. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** As many rows as a preview needs; the counts above it tell the whole. */
const ROWS_MAX = 500;

const SIGNS = { added: "+", updated: "~", removed: "−" } as const;
const TONES = {
  added: "text-good-ink",
  updated: "text-accent-ink",
  removed: "text-bad-ink",
} as const;

function Preview({ changes }: { changes: readonly ImportChange[] }) {
  const counts = countChanges(changes);
  if (changes.length === 0) {
    return (
      <p className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2.5">
        <Icon name="check" className="text-good-ink" /> Everything in this file is here already, as
        it is in the file.
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <p className="flex gap-4 font-medium">
        <span className={TONES.added}>{counts.added} added</span>
        <span className={TONES.updated}>{counts.updated} changed</span>
        <span className={TONES.removed}>{counts.removed} removed</span>
      </p>
      <ul aria-label="Changes" className="max-h-80 overflow-auto rounded-md border">
        {changes.slice(0, ROWS_MAX).map((change, i) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list
            key={i}
            className="flex min-h-7 items-center gap-2 border-b px-3 last:border-0"
            style={{ paddingLeft: 12 + change.depth * 20 }}
          >
            <span
              className={cx("w-3 font-mono", TONES[change.what])}
              role="img"
              aria-label={change.what}
            >
              {SIGNS[change.what]}
            </span>
            <span className="w-36 shrink-0 text-xs text-faint">{change.kind}</span>
            <span className="truncate">{change.name}</span>
            {change.fields.length > 0 && (
              <span className="ml-auto truncate pl-3 text-xs text-faint">
                {change.fields.join(", ")}
              </span>
            )}
          </li>
        ))}
      </ul>
      {changes.length > ROWS_MAX && (
        <p className="text-xs text-soft">…and {changes.length - ROWS_MAX} more.</p>
      )}
    </div>
  );
}

interface Source {
  name: string;
  text: string;
}

/** Imports a file: first what would change, then the change. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [source, setSource] = useState<Source | null>(null);
  const [removeMissing, setRemoveMissing] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const compare = useMutation({
    mutationFn: ({ file, remove }: { file: Source; remove: boolean }) =>
      compareImport(file.text, formatOf(file.name), remove),
  });
  const run = useMutation({
    mutationFn: () => runImport(source?.text ?? "", formatOf(source?.name ?? ""), removeMissing),
    onSuccess: () => {
      toast(`${source?.name} was imported.`);
      void client.invalidateQueries();
      onClose();
    },
  });
  const choose = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > FILE_BYTES_MAX) {
      setRefused(`${file.name} is larger than 64 MB. Export fewer templates into one file.`);
      return;
    }
    setRefused(null);
    const next = { name: file.name, text: await file.text() };
    setSource(next);
    compare.mutate({ file: next, remove: removeMissing });
  };
  const changes = listChanges(compare.data);
  const error = run.error ?? compare.error;
  return (
    <Dialog
      title="Import templates"
      onClose={onClose}
      wide
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={!compare.isSuccess || changes.length === 0}
            busy={run.isPending}
            onClick={() => run.mutate()}
          >
            {changes.length ? `Import ${plural(changes.length, "change")}` : "Import"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <label
          className="flex cursor-pointer flex-col items-center gap-1 rounded-lg border border-dashed border-line-strong px-4 py-6 text-center hover:bg-hover"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void choose(event.dataTransfer.files[0]);
          }}
        >
          <Icon name="upload" size={20} className="text-faint" />
          <span className="font-medium">{source?.name ?? "Choose a file, or drop it here"}</span>
          <span className="text-xs text-soft">
            YAML, XML or JSON, as exported by Vedette or Zabbix
          </span>
          <input
            type="file"
            aria-label="File to import"
            accept=".yaml,.yml,.xml,.json"
            className="sr-only"
            onChange={(event) => void choose(event.target.files?.[0])}
          />
        </label>
        <Checkbox
          label="Remove items, triggers and rules that the file does not have"
          checked={removeMissing}
          onChange={(event) => {
            setRemoveMissing(event.target.checked);
            if (source) compare.mutate({ file: source, remove: event.target.checked });
          }}
        />
        {refused && <ErrorNote what={refused} />}
        {error && <ErrorNote {...explain(error)} />}
        {compare.isPending && <SkeletonRows rows={4} />}
        {compare.isSuccess && <Preview changes={changes} />}
      </div>
    </Dialog>
  );
}
