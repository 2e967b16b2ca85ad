import { type KeyboardEvent, memo, type PointerEvent, useMemo, useRef, useState } from "react";
import { IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { MenuItem, Popover } from "~/ui/popover";
import { WidgetBody } from "../widgets";
import { kindName } from "../widgets/kinds";
import type { WidgetDraft } from "./draft";
import {
  arranged,
  COLUMNS,
  movedInside,
  type Place,
  ROW_HEIGHT,
  ROWS,
  sizedInside,
} from "./geometry";
import { texts } from "./texts";

/** Empty rows below the last widget, into which widgets can be dragged. */
const SPARE_ROWS = 3;
/** Columns and rows of a step with Shift. */
const LARGE = { x: 6, y: 3 };

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

type Handle = "move" | "resize";

/** The place after one of its handles went by some columns and rows. */
const shifted = (place: Place, handle: Handle, x: number, y: number): Place =>
  handle === "move"
    ? movedInside({ ...place, x: place.x + x, y: place.y + y })
    : sizedInside({ ...place, width: place.width + x, height: place.height + y });

const shownName = (widget: Pick<WidgetDraft, "name" | "type">) =>
  widget.name || kindName(widget.type);

interface Actions {
  onEdit: (key: string) => void;
  onCopy: (key: string) => void;
  onRemove: (key: string) => void;
}

interface HandleEvents {
  onPointerDown: (event: PointerEvent<HTMLButtonElement>) => void;
  onPointerMove: (event: PointerEvent<HTMLButtonElement>) => void;
  onPointerUp: () => void;
  onPointerCancel: () => void;
  onKeyDown: (event: KeyboardEvent<HTMLButtonElement>) => void;
}

/** What the widget will show, out of reach of the pointer and the keyboard. */
const Preview = memo(function Preview({ type, name, fields, hideHeader, place }: WidgetDraft) {
  const widget = useMemo(
    () => ({
      widgetid: "",
      type,
      name,
      x: String(place.x),
      y: String(place.y),
      width: String(place.width),
      height: String(place.height),
      view_mode: hideHeader ? "1" : "0",
      fields: [...fields],
    }),
    [type, name, fields, hideHeader, place],
  );
  return (
    <div inert className="flex min-h-0 flex-1 flex-col overflow-hidden">
      <WidgetBody widget={widget} />
    </div>
  );
});

interface TileProps extends Actions {
  widget: WidgetDraft;
  place: Place;
  active: boolean;
  handlers: (handle: Handle) => HandleEvents;
}

function Tile({ widget, place, active, handlers, onEdit, onCopy, onRemove }: TileProps) {
  const name = shownName(widget);
  return (
    <div
      className={cx("min-w-0 p-1", active && "z-10")}
      style={{
        gridColumn: `${place.x + 1} / span ${place.width}`,
        gridRow: `${place.y + 1} / span ${place.height}`,
      }}
    >
      <section
        aria-label={name}
        className={cx(
          "relative flex h-full min-w-0 flex-col rounded-lg border bg-surface shadow-card",
          active && "border-accent ring-2 ring-accent/40",
        )}
      >
        <header className="flex h-9 shrink-0 items-center gap-0.5 px-1">
          <button
            type="button"
            aria-label={texts.moveAt(name, place.x, place.y)}
            className="flex h-7 min-w-6 flex-1 touch-none cursor-move items-center gap-1 overflow-hidden rounded-md px-1 text-left text-sm font-semibold select-none hover:bg-hover"
            {...handlers("move")}
          >
            <Icon name="drag" size={14} className="shrink-0 text-faint" />
            <span className={cx("truncate", widget.hideHeader && "font-normal text-soft")}>
              {name}
            </span>
          </button>
          <IconButton
            small
            icon="edit"
            label={texts.settingsOf(name)}
            onClick={() => onEdit(widget.key)}
          />
          <Popover
            align="right"
            trigger={({ open, toggle }) => (
              <IconButton
                small
                icon="more"
                label={texts.moreOf(name)}
                aria-expanded={open}
                onClick={toggle}
              />
            )}
          >
            {(close) => (
              <>
                <MenuItem
                  onClick={() => {
                    close();
                    onCopy(widget.key);
                  }}
                >
                  <Icon name="copy" size={14} /> {texts.copyWidget}
                </MenuItem>
                <MenuItem danger onClick={() => onRemove(widget.key)}>
                  <Icon name="trash" size={14} /> {texts.removeWidget}
                </MenuItem>
              </>
            )}
          </Popover>
        </header>
        <Preview {...widget} />
        <button
          type="button"
          aria-label={texts.resizeAt(name, place.width, place.height)}
          className="absolute right-0 bottom-0 size-6 touch-none cursor-nwse-resize rounded-br-lg text-faint select-none hover:text-ink"
          {...handlers("resize")}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true" className="size-6">
            <path d="M19 11v8h-8" fill="none" stroke="currentColor" strokeWidth={2} />
          </svg>
        </button>
      </section>
    </div>
  );
}

interface CanvasProps extends Actions {
  widgets: readonly WidgetDraft[];
  /** The widgets at other places. */
  onArrange: (widgets: readonly WidgetDraft[]) => void;
}

/** A drag in progress: where it began, in pixels of the grid, and where the widgets would be. */
interface Drag {
  key: string;
  handle: Handle;
  from: { x: number; y: number };
  /** Pixels of a column. */
  column: number;
  widgets: readonly WidgetDraft[];
}

/** The grid of a page with its widgets, moved and resized by the pointer or the arrow keys. */
export function Canvas({ widgets, onArrange, onEdit, onCopy, onRemove }: CanvasProps) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const [announced, setAnnounced] = useState("");
  const plane = useRef<HTMLElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const shown = drag?.widgets ?? widgets;
  const rows = Math.max(0, ...shown.map(({ place }) => place.y + place.height));
  const announce = (widget: WidgetDraft, { x, y, width, height }: Place) =>
    setAnnounced(texts.isAt(shownName(widget), x, y, width, height));

  /** The pointer on the grid, which may have been scrolled meanwhile. */
  const pointer = (event: PointerEvent) => {
    const { left, top } = grid.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const begin = (event: PointerEvent, key: string, handle: Handle) => {
    if (event.button !== 0 || !grid.current) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const column = grid.current.clientWidth / COLUMNS;
    setDrag({ key, handle, column, from: pointer(event), widgets });
  };
  const follow = (event: PointerEvent, { key, place }: WidgetDraft) => {
    if (drag?.key !== key) return;
    const at = pointer(event);
    const x = Math.round((at.x - drag.from.x) / drag.column);
    const y = Math.round((at.y - drag.from.y) / ROW_HEIGHT);
    const next = arranged(widgets, key, shifted(place, drag.handle, x, y));
    if (next) setDrag({ ...drag, widgets: next });
  };
  const end = () => {
    if (drag && drag.widgets !== widgets) onArrange(drag.widgets);
    setDrag(null);
  };
  const press = (event: KeyboardEvent, widget: WidgetDraft, handle: Handle) => {
    if (event.key === "Delete") {
      onRemove(widget.key);
      // Focus of a removed button goes to the top of the page.
      plane.current?.focus();
      return;
    }
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    const [x, y] = event.shiftKey ? [arrow[0] * LARGE.x, arrow[1] * LARGE.y] : arrow;
    const to = shifted(widget.place, handle, x, y);
    const next = arranged(widgets, widget.key, to);
    if (!next) setAnnounced(texts.noRoom);
    else {
      announce(widget, to);
      onArrange(next);
    }
  };
  return (
    <section
      ref={plane}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for users of the keyboard.
      tabIndex={0}
      aria-label={texts.canvas}
      className="overflow-x-auto rounded-md border border-line-strong bg-sunken"
    >
      <div
        ref={grid}
        className="grid min-w-[60rem] bg-[length:calc(100%/12)_70px] bg-[linear-gradient(to_right,var(--line)_1px,transparent_1px),linear-gradient(to_bottom,var(--line)_1px,transparent_1px)]"
        style={{
          gridTemplateColumns: `repeat(${COLUMNS}, minmax(0, 1fr))`,
          gridAutoRows: ROW_HEIGHT,
          minHeight: Math.min(rows + SPARE_ROWS, ROWS) * ROW_HEIGHT,
        }}
      >
        {widgets.map((widget, n) => (
          <Tile
            key={widget.key}
            widget={widget}
            place={shown[n]?.place ?? widget.place}
            active={drag?.key === widget.key}
            onEdit={onEdit}
            onCopy={onCopy}
            onRemove={onRemove}
            handlers={(handle) => ({
              onPointerDown: (event) => begin(event, widget.key, handle),
              onPointerMove: (event) => follow(event, widget),
              onPointerUp: end,
              onPointerCancel: () => setDrag(null),
              onKeyDown: (event) => press(event, widget, handle),
            })}
          />
        ))}
      </div>
      <p role="status" className="sr-only">
        {announced}
      </p>
    </section>
  );
}
