import { Link } from "@tanstack/react-router";
import type { ItemRow } from "~/api/items";
import { State } from "~/api/schema";
import { isNumeric } from "~/util/format";
import { arcPath, needlePoints, pointAt } from "./arcs";
import { colorFor, inkOn, legible, type Threshold, thresholdNumber } from "./colors";
import { Note, Room, type WidgetProps } from "./frame";
import { expandLabel, inOne, writeNumber, writeValue } from "./labels";
import { labelled, OneItem, thresholdsOf } from "./one-item";
import { Settings } from "./settings";
import { texts } from "./texts";

/** `show`: the parts of a gauge. */
const SHOW = { description: "1", value: "2", needle: "3", scale: "4", arc: "5" } as const;
const DEFAULT_SHOW: readonly string[] = ["1", "2", "4", "5"];
/** Below the value, as in Zabbix. */
const DEFAULT_MAX = 100;

interface DialProps {
  item: ItemRow;
  settings: Settings;
  width: number;
  height: number;
}

/** Arcs of a ring in the colours of the thresholds. */
function ThresholdArcs({
  thresholds,
  at,
  radius,
  thick,
  end,
}: {
  thresholds: readonly Threshold[];
  at: (value: number) => number;
  radius: number;
  thick: number;
  end: number;
}) {
  const sorted = thresholds.toSorted((a, b) => a.from - b.from);
  return sorted.map(({ from, color }, n) => (
    <path
      key={from}
      d={arcPath(at(from), at(sorted[n + 1]?.from ?? end), radius, radius - thick)}
      fill={color}
    />
  ));
}

function Dial({ item, settings, width, height }: DialProps) {
  const [min, max] = [
    thresholdNumber(settings.text("min", "0"), item.units) || 0,
    thresholdNumber(settings.text("max", String(DEFAULT_MAX)), item.units) || DEFAULT_MAX,
  ];
  const sweep = settings.number("angle", 180);
  const at = (value: number) =>
    ((Math.min(1, Math.max(0, (value - min) / (max - min || 1))) - 0.5) * sweep * Math.PI) / 180;
  const list = settings.list("show");
  const shows = (what: keyof typeof SHOW) =>
    (list.length > 0 ? list : DEFAULT_SHOW).includes(SHOW[what]);
  const known = item.lastclock !== "0" && item.state !== State.NotSupported;
  const value = Number(item.lastvalue);
  const thresholds = thresholdsOf(settings, item.units);
  const decimals = { decimals: settings.number("decimal_places", 2) };
  const own = settings.text("units") || undefined;
  const bare = !settings.flag("units_show", true);
  const written = writeValue(labelled(item), { ...decimals, units: own, bare });
  const background = settings.color("bg_color");
  const ink = background ? inkOn(background) : undefined;
  const scale = {
    decimals: settings.number("scale_decimal_places", 0),
    units: own,
    bare: !settings.flag("scale_show_units", true),
  };
  const ends = [min, max].map((end) => inOne(writeNumber(end, item.units, scale)));
  const words = known && written ? inOne(written) : texts.noValue;
  const ring = 50;
  const thick = Math.max(4, Math.min(40, settings.number("value_arc_size", 20) / 2));
  const outer = settings.flag("th_show_arc") ? 54 : ring;
  const fill = known
    ? (colorFor(value, thresholds) ?? settings.color("value_arc_color") ?? "var(--accent)")
    : "transparent";
  const low = sweep > 180 ? 40 : 8;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`-64 -60 128 ${76 + low}`}
      role="img"
      aria-label={texts.gauge(item.name, words, ends[0] ?? "", ends[1] ?? "")}
      style={{ color: ink }}
      className="block fill-current"
    >
      {settings.flag("th_show_arc") && (
        <ThresholdArcs thresholds={thresholds} at={at} radius={outer + 3} thick={5} end={max} />
      )}
      {shows("arc") && (
        <>
          <path
            d={arcPath(at(min), at(max), ring, ring - thick)}
            fill={settings.color("empty_color") ?? "var(--line)"}
          />
          {known && <path d={arcPath(at(min), at(value), ring, ring - thick)} fill={fill} />}
        </>
      )}
      {shows("needle") && known && (
        <polygon
          points={needlePoints(at(value), ring - 4)}
          fill={settings.color("needle_color") ?? "currentColor"}
        />
      )}
      {settings.flag("th_show_labels") &&
        thresholds.map(({ from }) => {
          const [x, y] = pointAt(at(from), outer + 6);
          return (
            <text
              key={from}
              x={x}
              y={y}
              fontSize={5}
              textAnchor={x < -5 ? "end" : x > 5 ? "start" : "middle"}
            >
              {inOne(writeNumber(from, item.units, scale))}
            </text>
          );
        })}
      {shows("scale") &&
        [min, max].map((end, n) => {
          const [x, y] = pointAt(at(end), ring - thick / 2);
          return (
            <text key={end} x={x} y={y + 8} fontSize={6} textAnchor="middle" opacity={0.8}>
              {ends[n]}
            </text>
          );
        })}
      {shows("value") && (
        <text
          x={0}
          y={shows("needle") ? 16 : -4}
          fontSize={words.length > 9 ? 9 : 14}
          fontWeight={600}
          textAnchor="middle"
          fill={
            background
              ? (legible(settings.color("value_color"), background) ?? ink)
              : "currentColor"
          }
        >
          {words}
        </text>
      )}
      {shows("description") && (
        <text x={0} y={low + 14} fontSize={7} textAnchor="middle" opacity={0.9}>
          {clip(expandLabel(settings.text("description", "{ITEM.NAME}"), labelled(item)))}
        </text>
      )}
    </svg>
  );
}

const LABEL_MAX = 36;
const clip = (text: string) =>
  text.length > LABEL_MAX ? `${text.slice(0, LABEL_MAX - 1)}…` : text;

/** *Gauge*: a number on a scale. */
export function Gauge({ widget }: WidgetProps) {
  const settings = Settings.of(widget);
  return (
    <OneItem widget={widget}>
      {(item) =>
        isNumeric(item.value_type) ? (
          <Link
            to="/graph"
            search={{ items: item.itemid }}
            className="flex min-h-0 flex-1 flex-col"
            style={{ backgroundColor: settings.color("bg_color") }}
          >
            <Room least={140}>{(size) => <Dial item={item} settings={settings} {...size} />}</Room>
          </Link>
        ) : (
          <Note>{texts.noNumber}</Note>
        )
      }
    </OneItem>
  );
}
