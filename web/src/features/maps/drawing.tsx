import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Facts } from "~/api/map-facts";
import type { MapElement, MapLine, MapLink, MapShape, NetworkMap } from "~/api/maps";
import { MapElementType } from "~/api/schema";
import type { HostTone } from "~/util/host-state";
import { labelOf } from "./label";
import type { Picture } from "./pictures";
import { type ElementState, lookOf, nameOf, stateOf } from "./state";
import { texts } from "./texts";

/** The icon of an element that has none. */
const SIDE = 48;
const LINE_HEIGHT = 14;

/** Patterns of lines: of links, and of borders one number lower. */
const DASHES: Record<string, string | undefined> = { "3": "2 4", "4": "8 4" };
const BOLD: string = "2";
/** `type` of ellipses among shapes, and `border_type` of shapes without a border. */
const ELLIPSE: string = "1";
const NO_BORDER: string = "0";

function colourOf(tone: HostTone | null): string {
  if (tone === null) return "transparent";
  if (tone === "good") return "var(--good)";
  return tone === "off" ? "var(--line-strong)" : `var(--sev-${tone})`;
}

function borderOf(type: string, width: string, color: string) {
  const dashes: Record<string, string | undefined> = { "2": "2 4", "3": "8 4" };
  return {
    stroke: type === NO_BORDER || color === "" ? "none" : `#${color}`,
    strokeWidth: Number(width),
    strokeDasharray: dashes[type],
  };
}

function Shape({ shape }: { shape: MapShape }) {
  const [x, y, width, height] = [shape.x, shape.y, shape.width, shape.height].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const look = {
    fill: shape.background_color ? `#${shape.background_color}` : "none",
    ...borderOf(shape.border_type, shape.border_width, shape.border_color),
  };
  return (
    <g>
      {shape.type === ELLIPSE ? (
        <ellipse cx={x + width / 2} cy={y + height / 2} rx={width / 2} ry={height / 2} {...look} />
      ) : (
        <rect x={x} y={y} width={width} height={height} {...look} />
      )}
      <text
        x={x + width / 2}
        y={y + height / 2}
        fontSize={Number(shape.font_size)}
        fill={shape.background_color ? `#${shape.font_color}` : "currentColor"}
        textAnchor="middle"
        dominantBaseline="central"
      >
        {shape.text}
      </text>
    </g>
  );
}

function Line({ line }: { line: MapLine }) {
  return (
    <line
      x1={line.x1}
      y1={line.y1}
      x2={line.x2}
      y2={line.y2}
      {...borderOf(line.line_type, line.line_width, line.line_color)}
    />
  );
}

/** An element with its place and what is known of it. */
interface Placed {
  element: MapElement;
  state: ElementState;
  size: { width: number; height: number };
}

const centre = ({ element, size }: Placed) => ({
  x: Number(element.x) + size.width / 2,
  y: Number(element.y) + size.height / 2,
});

interface EdgeProps {
  link: MapLink;
  ends: [Placed, Placed];
  facts: Facts;
}

function Edge({ link, ends, facts }: EdgeProps) {
  const look = lookOf(link, facts);
  const [from, to] = [centre(ends[0]), centre(ends[1])];
  return (
    <g>
      {look.words && <title>{look.words}</title>}
      <line
        x1={from.x}
        y1={from.y}
        x2={to.x}
        y2={to.y}
        stroke={look.color}
        strokeWidth={look.drawtype === BOLD ? 3 : 1.5}
        strokeDasharray={DASHES[look.drawtype]}
      />
      {link.label && (
        <text
          x={(from.x + to.x) / 2}
          y={(from.y + to.y) / 2 - 4}
          textAnchor="middle"
          className="fill-current text-2xs"
        >
          {link.label}
        </text>
      )}
    </g>
  );
}

/** Links to the page of what an element shows. */
function To({ element, children }: { element: MapElement; children: ReactNode }) {
  const one = element.elements[0];
  if (one?.hostid)
    return (
      <Link to="/hosts/$hostid" params={{ hostid: one.hostid }}>
        {children}
      </Link>
    );
  if (one?.groupid)
    return (
      <Link to="/hosts" search={{ group: one.groupid }}>
        {children}
      </Link>
    );
  if (one?.triggerid)
    return (
      <Link to="/problems" search={{ trigger: one.triggerid }}>
        {children}
      </Link>
    );
  if (one?.sysmapid)
    return (
      <Link to="/maps/$sysmapid" params={{ sysmapid: one.sysmapid }}>
        {children}
      </Link>
    );
  return children;
}

interface NodeProps {
  map: NetworkMap;
  placed: Placed;
  image: string | undefined;
  facts: Facts;
}

function Node({ map, placed, image, facts }: NodeProps) {
  const { element, state, size } = placed;
  const [x, y] = [Number(element.x), Number(element.y)];
  const middle = centre(placed);
  const isImage = element.elementtype === MapElementType.Image;
  const label = texts.element(nameOf(element, facts), state.words);
  return (
    <To element={element}>
      <g>
        <title>{isImage ? element.label : label}</title>
        <circle
          cx={middle.x}
          cy={middle.y}
          r={Math.max(size.width, size.height) / 2 + 6}
          fill={colourOf(state.tone)}
          fillOpacity={0.25}
          stroke={colourOf(state.tone)}
          strokeWidth={2}
        />
        {image && <image href={image} x={x} y={y} width={size.width} height={size.height} />}
        {labelOf(map, element, state, facts).map((line, n) => (
          <text
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
            key={n}
            x={middle.x}
            y={y + size.height + LINE_HEIGHT * (n + 1) + 6}
            textAnchor="middle"
            className="fill-current text-xs"
          >
            {line}
          </text>
        ))}
      </g>
    </To>
  );
}

interface DrawingProps {
  map: NetworkMap;
  facts: Facts;
  /** By id of the image. */
  pictures: ReadonlyMap<string, Picture>;
}

/** A map as a picture: background, shapes, links, and elements with their states. */
export function Drawing({ map, facts, pictures }: DrawingProps) {
  const placed = new Map(
    map.selements.map((element) => {
      const { width, height } = pictures.get(element.iconid_off) ?? { width: SIDE, height: SIDE };
      const state = stateOf(element, facts);
      return [element.selementid, { element, state, size: { width, height } }] as const;
    }),
  );
  const drawn = [
    ...map.shapes.map((shape) => ({ ...shape, drawing: <Shape shape={shape} /> })),
    ...map.lines.map((line) => ({ ...line, drawing: <Line line={line} /> })),
  ].sort((a, b) => Number(a.zindex) - Number(b.zindex));
  const background = pictures.get(map.backgroundid);
  return (
    <svg
      viewBox={`0 0 ${map.width} ${map.height}`}
      className="max-h-full w-full text-ink"
      style={{ maxWidth: `${Number(map.width) * 1.5}px` }}
    >
      <title>{texts.picture(map.name)}</title>
      {background && <image {...background} x={0} y={0} />}
      {drawn.map(({ sysmap_shapeid, drawing }) => (
        <g key={sysmap_shapeid}>{drawing}</g>
      ))}
      {map.links.map((link) => {
        const ends = [placed.get(link.selementid1), placed.get(link.selementid2)] as const;
        const [from, to] = ends;
        return from && to && <Edge key={link.linkid} link={link} ends={[from, to]} facts={facts} />;
      })}
      {[...placed.values()].map((one) => (
        <Node
          key={one.element.selementid}
          map={map}
          placed={one}
          image={pictures.get(one.element.iconid_off)?.href}
          facts={facts}
        />
      ))}
    </svg>
  );
}
