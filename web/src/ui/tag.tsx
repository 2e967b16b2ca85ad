import type { ReactNode } from "react";
import { type Tag, tagText } from "~/util/tags";
import { cx } from "./cx";

const CHIP =
  "inline-flex h-5 min-w-8 max-w-full items-center rounded border border-line bg-sunken px-1.5 text-2xs text-soft";

export function Chip({
  children,
  title,
  className,
}: {
  children: ReactNode;
  title?: string;
  className?: string;
}) {
  return (
    <span className={cx(CHIP, className)} title={title}>
      <span className="truncate">{children}</span>
    </span>
  );
}

interface TagListProps {
  tags: readonly Tag[];
  /** How many to show before "+3". */
  max?: number;
  onPick?: (tag: Tag) => void;
}

/** Tags on one line: they are shortened to fit, "+n" counts the others, and a tooltip has all of them. */
export function TagList({ tags, max = 3, onPick }: TagListProps) {
  const shown = tags.slice(0, max);
  const rest = tags.slice(max);
  return (
    <span
      title={tags.map(tagText).join("\n")}
      className="flex h-5 min-w-0 items-center gap-1 overflow-hidden"
    >
      {shown.map((tag) =>
        onPick ? (
          <button
            key={tagText(tag)}
            type="button"
            title={`Show only ${tagText(tag)}`}
            className={cx(CHIP, "hover:border-accent hover:text-accent-ink")}
            onClick={(event) => {
              event.stopPropagation();
              onPick(tag);
            }}
          >
            <span className="truncate">{tagText(tag)}</span>
          </button>
        ) : (
          <Chip key={tagText(tag)} title={tagText(tag)}>
            {tagText(tag)}
          </Chip>
        ),
      )}
      {rest.length > 0 && <span className="shrink-0 text-2xs text-faint">+{rest.length}</span>}
    </span>
  );
}
