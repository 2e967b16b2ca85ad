import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { cx } from "~/ui/cx";
import { type ElementDraft, type MapDraft, placed } from "./draft";
import type { Picture } from "./pictures";
import { texts } from "./texts";

/** The icon of an element whose image is not known. */
const SIDE = 48;
const STEPS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
const DASHES: Record<string, string | undefined> = { "3": "2 4", "4": "8 4" };
const BOLD: string = "2";

interface CanvasProps {
  draft: MapDraft;
  pictures: ReadonlyMap<string, Picture>;
  nameOf: (element: ElementDraft) => string;
  selected: string | null;
  onSelect: (id: string) => void;
  onMove: (id: string, to: { x: number; y: number }) => void;
  onRemove: (id: string) => void;
}

/** A drag in progress: where it began, and how far it is, in pixels of the map. */
interface Drag {
  id: string;
  from: { x: number; y: number };
  by: { x: number; y: number };
}

interface BackdropProps {
  draft: MapDraft;
  background: Picture | undefined;
  /** The middle of an element, where links end. */
  middle: (id: string) => { x: number; y: number } | null;
}

/** What is below the elements: the background, the grid and the links. */
function Backdrop({ draft, background, middle }: BackdropProps) {
  const [width, height, grid] = [draft.width, draft.height, draft.gridSize].map(Number) as [
    number,
    number,
    number,
  ];
  return (
    <svg width={width} height={height} aria-hidden="true" className="absolute inset-0 text-line">
      <defs>
        <pattern id="map-grid" width={grid} height={grid} patternUnits="userSpaceOnUse">
          <path d={`M${grid} 0H0V${grid}`} fill="none" stroke="currentColor" />
        </pattern>
      </defs>
      {background && <image {...background} x={0} y={0} />}
      <rect width={width} height={height} fill="url(#map-grid)" />
      {draft.links.map((link, n) => {
        const [from, to] = [middle(link.selementid1), middle(link.selementid2)];
        return (
          from &&
          to && (
            <line
              // biome-ignore lint/suspicious/noArrayIndexKey: new links have no id
              key={n}
              x1={from.x}
              y1={from.y}
              x2={to.x}
              y2={to.y}
              stroke={`#${link.color}`}
              strokeWidth={link.drawtype === BOLD ? 3 : 1.5}
              strokeDasharray={DASHES[link.drawtype]}
            />
          )
        );
      })}
    </svg>
  );
}

/** The map at its size, with elements that are moved with the pointer or the arrow keys. */
export function Canvas(props: CanvasProps) {
  const { draft, pictures, nameOf, selected, onSelect, onMove, onRemove } = props;
  const [drag, setDrag] = useState<Drag | null>(null);
  const plane = useRef<HTMLElement>(null);
  const [width, height] = [Number(draft.width) || 1, Number(draft.height) || 1];
  const grid = Number(draft.gridSize);
  const sizeOf = (element: ElementDraft) =>
    pictures.get(element.iconid_off) ?? { width: SIDE, height: SIDE };
  const at = (element: ElementDraft) => {
    const by = drag?.id === element.selementid ? drag.by : { x: 0, y: 0 };
    return { x: element.x + by.x, y: element.y + by.y };
  };
  const middle = (id: string) => {
    const element = draft.elements.find(({ selementid }) => selementid === id);
    if (!element) return null;
    const [{ x, y }, size] = [at(element), sizeOf(element)];
    return { x: x + size.width / 2, y: y + size.height / 2 };
  };
  const begin = (event: PointerEvent<HTMLButtonElement>, element: ElementDraft) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    onSelect(element.selementid);
    const from = { x: event.clientX, y: event.clientY };
    setDrag({ id: element.selementid, from, by: { x: 0, y: 0 } });
  };
  const follow = (event: PointerEvent<HTMLButtonElement>) => {
    if (!drag) return;
    const by = { x: event.clientX - drag.from.x, y: event.clientY - drag.from.y };
    setDrag({ ...drag, by });
  };
  const end = (element: ElementDraft) => {
    const { x, y } = at(element);
    setDrag(null);
    if (x !== element.x || y !== element.y)
      onMove(element.selementid, placed(x, y, grid, width, height));
  };
  const press = (event: KeyboardEvent, element: ElementDraft) => {
    const step = STEPS[event.key];
    if (event.key === "Delete") {
      onRemove(element.selementid);
      // Focus of a removed button goes to the top of the page.
      plane.current?.focus();
    }
    if (!step) return;
    event.preventDefault();
    // Shift leaves the grid.
    const side = event.shiftKey ? 1 : grid;
    const [x, y] = [element.x + step[0] * side, element.y + step[1] * side];
    onMove(element.selementid, placed(x, y, side, width, height));
  };
  return (
    <section
      ref={plane}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for users of the keyboard.
      tabIndex={0}
      aria-label={texts.plane}
      className="max-h-[70vh] overflow-auto rounded-md border border-line-strong bg-sunken"
    >
      <div className="relative bg-surface" style={{ width, height }}>
        <Backdrop draft={draft} background={pictures.get(draft.backgroundid)} middle={middle} />
        {draft.elements.map((element) => {
          const { x, y } = at(element);
          const size = sizeOf(element);
          const name = nameOf(element);
          return (
            <button
              key={element.selementid}
              type="button"
              aria-label={texts.elementAt(name, Math.round(x), Math.round(y))}
              aria-pressed={selected === element.selementid}
              className={cx(
                "absolute touch-none cursor-move rounded-md select-none",
                selected === element.selementid && "outline-2 outline-offset-4 outline-accent",
              )}
              style={{ left: x, top: y, width: size.width, height: size.height }}
              onPointerDown={(event) => begin(event, element)}
              onPointerMove={follow}
              onPointerUp={() => end(element)}
              onPointerCancel={() => setDrag(null)}
              onClick={() => onSelect(element.selementid)}
              onKeyDown={(event) => press(event, element)}
            >
              {"href" in size ? (
                <img src={size.href} alt="" draggable={false} className="size-full" />
              ) : (
                <span className="block size-full rounded-md border border-line-strong bg-sunken" />
              )}
              <span className="absolute top-full left-1/2 -translate-x-1/2 pt-0.5 text-xs whitespace-nowrap text-ink">
                {name}
              </span>
            </button>
          );
        })}
      </div>
    </section>
  );
}
