import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { countChanges, type ImportChange } from "~/util/compare";
import { formatCount, plural } from "~/util/format";
import { texts } from "./texts";

/** As many rows as a preview needs; the counts above it tell the whole. */
const ROWS_MAX = 500;

const SIGNS = { added: "+", updated: "~", removed: "−" } as const;
const TONES = {
  added: "text-good-ink",
  updated: "text-accent-ink",
  removed: "text-bad-ink",
} as const;

/** How many objects an import adds, changes and removes. */
export function ChangeCounts({ changes }: { changes: readonly ImportChange[] }) {
  const counts = countChanges(changes);
  return (
    <p className="flex gap-4 font-medium">
      <span className={TONES.added}>{texts.addedCount(formatCount(counts.added))}</span>
      <span className={TONES.updated}>{texts.changedCount(formatCount(counts.updated))}</span>
      <span className={TONES.removed}>{texts.removedCount(formatCount(counts.removed))}</span>
    </p>
  );
}

/** What an import would change, object by object. */
export function ChangeList({ changes }: { changes: readonly ImportChange[] }) {
  if (changes.length === 0) {
    return (
      <p className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2.5">
        <Icon name="check" className="text-good-ink" /> {texts.noChanges}
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <ChangeCounts changes={changes} />
      <ul aria-label={texts.changes} className="max-h-80 overflow-auto rounded-md border">
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
        <p className="text-xs text-soft">
          {texts.moreRows(formatCount(changes.length - ROWS_MAX))}
        </p>
      )}
    </div>
  );
}

interface DropZoneProps {
  /** Names of the chosen files. */
  names: readonly string[];
  /** Of the button, for readers of the screen. */
  label: string;
  prompt: string;
  hint: string;
  /** Ends of names. */
  accept: string;
  multiple?: boolean;
  onChoose: (files: readonly File[]) => Promise<void>;
}

/** Where files are chosen or dropped. */
export function DropZone(props: DropZoneProps) {
  const { names, multiple = false } = props;
  const choose = (list: FileList | null) => {
    const files = [...(list ?? [])];
    if (files.length > 0) void props.onChoose(multiple ? files : files.slice(0, 1));
  };
  return (
    <label
      className="flex cursor-pointer flex-col items-center gap-1 rounded-lg border border-dashed border-line-strong px-4 py-6 text-center hover:bg-hover"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        choose(event.dataTransfer.files);
      }}
    >
      <Icon name="upload" size={20} className="text-faint" />
      <span className="font-medium break-all">
        {names.length > 3 ? plural(names.length, "file") : names.join(", ") || props.prompt}
      </span>
      <span className="text-xs text-soft">{props.hint}</span>
      <input
        type="file"
        multiple={multiple}
        aria-label={props.label}
        accept={props.accept}
        className="sr-only"
        onChange={(event) => choose(event.target.files)}
      />
    </label>
  );
}
