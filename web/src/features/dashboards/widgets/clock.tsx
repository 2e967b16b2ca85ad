import { serverZoneQuery } from "~/api/system";
import { useNow } from "~/util/hooks";
import { type Moment, momentIn } from "~/util/time";
import { pointAt } from "./arcs";
import { Note, Room, useData, type WidgetProps } from "./frame";
import { OneItem } from "./one-item";
import { Settings } from "./settings";
import { texts } from "./texts";

/** `time_type`: local, of the server, of a host. `clock_type`: 1 is digital. `show`: date, time, zone. */
const TIME = { server: "1", host: "2" } as const;
const DIGITAL = "1";
const SHOW = { date: "1", time: "2", zone: "3" } as const;
const HALF_DAY = "1";

const two = (n: number) => String(n).padStart(2, "0");

/** A time as text, of 24 hours or of twice twelve. */
export function timeText(moment: Moment, isHalf: boolean, withSeconds: boolean): string {
  const hours = isHalf ? moment.hours % 12 || 12 : two(moment.hours);
  const text = `${hours}:${two(moment.minutes)}${withSeconds ? `:${two(moment.seconds)}` : ""}`;
  return isHalf ? `${text} ${moment.hours < 12 ? texts.am : texts.pm}` : text;
}

function Hand({
  part,
  length,
  width,
  className,
}: {
  part: number;
  length: number;
  width: number;
  className: string;
}) {
  const [x, y] = pointAt(part * Math.PI * 2, length);
  return (
    <line
      x1={0}
      y1={0}
      x2={x}
      y2={y}
      strokeWidth={width}
      strokeLinecap="round"
      className={className}
    />
  );
}

const HOURS = Array.from({ length: 12 }, (_, n) => n);

function Analog({ moment }: { moment: Moment }) {
  const { hours, minutes, seconds } = moment;
  return (
    <Room least={120}>
      {({ width, height }) => (
        <svg
          width={width}
          height={height}
          viewBox="-54 -54 108 108"
          role="img"
          aria-label={texts.clockAt(timeText(moment, false, false))}
        >
          <circle r={50} className="fill-sunken stroke-line-strong" strokeWidth={1.5} />
          {HOURS.map((n) => {
            const [a, b] = [
              pointAt((n / 12) * Math.PI * 2, 42),
              pointAt((n / 12) * Math.PI * 2, 47),
            ];
            return (
              <line
                key={n}
                x1={a[0]}
                y1={a[1]}
                x2={b[0]}
                y2={b[1]}
                strokeWidth={n % 3 ? 1.2 : 2.4}
                className="stroke-soft"
              />
            );
          })}
          <Hand
            part={((hours % 12) + minutes / 60) / 12}
            length={26}
            width={3.5}
            className="stroke-ink"
          />
          <Hand
            part={(minutes + seconds / 60) / 60}
            length={38}
            width={2.2}
            className="stroke-ink"
          />
          <Hand part={seconds / 60} length={42} width={1} className="stroke-accent" />
          <circle r={2.5} className="fill-accent" />
        </svg>
      )}
    </Room>
  );
}

function Face({
  widget,
  zone,
  ahead = 0,
}: WidgetProps & { zone: string | undefined; ahead?: number }) {
  const settings = Settings.of(widget);
  const moment = momentIn(useNow() + ahead, zone);
  if (settings.text("clock_type", "0") !== DIGITAL) return <Analog moment={moment} />;
  const list = settings.list("show");
  const shows = (what: keyof typeof SHOW) =>
    (list.length > 0 ? list : [SHOW.time]).includes(SHOW[what]);
  return (
    <div className="tabular flex flex-1 flex-col items-center justify-center gap-1 p-3 text-center">
      {shows("date") && <span className="text-sm text-soft">{moment.date}</span>}
      {shows("time") && (
        <span className="text-3xl font-semibold">
          {timeText(
            moment,
            settings.text("time_format") === HALF_DAY,
            settings.flag("time_sec", true),
          )}
        </span>
      )}
      {shows("zone") && <span className="text-xs text-soft">{moment.zone}</span>}
    </div>
  );
}

/** Seconds by which the clock of a host is ahead of this one, from `system.localtime` of the host. */
const aheadOf = (item: { lastvalue: string; lastclock: string }) =>
  item.lastclock === "0" ? Number.NaN : Number(item.lastvalue) - Number(item.lastclock);

function ServerClock({ widget }: WidgetProps) {
  const { data } = useData(serverZoneQuery());
  return <Face widget={widget} zone={data} />;
}

/** *Clock*: the time here, of the server, or of a host. */
export function Clock({ widget }: WidgetProps) {
  const settings = Settings.of(widget);
  const kind = settings.text("time_type", "0");
  const zone = settings.text("tzone_timezone");
  if (kind === TIME.host) {
    return (
      <OneItem widget={widget}>
        {(item) => {
          const ahead = aheadOf(item);
          return Number.isFinite(ahead) ? (
            <Face widget={widget} zone={undefined} ahead={ahead} />
          ) : (
            <Note>{texts.noHostTime}</Note>
          );
        }}
      </OneItem>
    );
  }
  if (kind === TIME.server) return <ServerClock widget={widget} />;
  return <Face widget={widget} zone={zone === "local" || zone === "system" ? undefined : zone} />;
}
