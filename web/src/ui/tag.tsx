import { type ReactNode, useEffect, useRef, useState } from "react";
import { type Tag, tagsThatFit, tagText } from "~/util/tags";
import { cx } from "./cx";
import { texts } from "./texts";

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

const rooms = new WeakMap<Element, (width: number) => void>();
/** One for all lists: a table has one in each row. */
const observer = new ResizeObserver((entries) => {
  for (const entry of entries) rooms.get(entry.target)?.(entry.contentRect.width);
});

/** The width of a list of tags; undefined until it is known. */
function useRoom() {
  const ref = useRef<HTMLSpanElement>(null);
  const [room, setRoom] = useState<number>();
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    rooms.set(element, setRoom);
    observer.observe(element);
    return () => observer.unobserve(element);
  }, []);
  return [ref, room] as const;
}

interface TagListProps {
  tags: readonly Tag[];
  /** The largest number to show before "+3". */
  max?: number;
  /** On as many lines as needed. */
  wrap?: boolean;
  onPick?: (tag: Tag) => void;
}

/**
 * Tags, "+n" for those that do not fit, and a tooltip with all of them. On one line, unless `wrap`
 * is set, the list fills its container.
 */
export function TagList({ tags, max = 3, wrap = false, onPick }: TagListProps) {
  const [ref, room] = useRoom();
  const words = tags.map(tagText);
  const count = tagsThatFit(words, max, wrap ? undefined : room);
  const rest = tags.length - count;
  return (
    <span
      ref={ref}
      title={words.join("\n")}
      data-tags={tags.length}
      className={cx(
        "flex min-w-0 items-center gap-1",
        wrap ? "flex-wrap" : "h-5 w-full overflow-hidden",
      )}
    >
      {tags.slice(0, count).map((tag) =>
        onPick ? (
          <button
            key={tagText(tag)}
            type="button"
            title={texts.showOnly(tagText(tag))}
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
      {rest > 0 && <span className="shrink-0 text-2xs text-faint">+{rest}</span>}
    </span>
  );
}
