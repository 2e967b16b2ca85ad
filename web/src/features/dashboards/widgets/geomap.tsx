import { useNavigate } from "@tanstack/react-router";
import { hostStatesQuery } from "~/api/host-states";
import { type PlacedHost, placedHostsQuery } from "~/api/widget-hosts";
import { Found } from "~/shared/fallback";
import { type HostState, stateInWords, toneOf } from "~/util/host-state";
import { groupsFor, hostsFor, useBus } from "./bus";
import { Note, Room, useData, type WidgetProps } from "./frame";
import { givenView, graticule, toPixels, viewOf } from "./projection";
import { anyOf, Settings } from "./settings";
import { texts } from "./texts";

const HOSTS_MAX = 1_000;
const MARKER_PX = 7;
/** Fewer hosts have their names beside them. */
const NAMED_MAX = 30;

interface CanvasProps {
  hosts: readonly PlacedHost[];
  states: ReadonlyMap<string, HostState> | undefined;
  start: string;
  width: number;
  height: number;
}

const colorOf = (tone: ReturnType<typeof toneOf>) =>
  typeof tone === "number"
    ? `var(--sev-${tone})`
    : tone === "good"
      ? "var(--good)"
      : "var(--faint)";

/** Hosts on a grid of degrees. Pictures of maps would come from other servers. */
function Canvas({ hosts, states, start, width, height }: CanvasProps) {
  const navigate = useNavigate();
  const view = givenView(start, width, height) ?? viewOf(hosts, width, height);
  const { longitudes, latitudes } = graticule(view, width);
  const open = (hostid: string) => void navigate({ to: "/hosts/$hostid", params: { hostid } });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing cannot be a fieldset
    <svg
      width={width}
      height={height}
      role="group"
      aria-label={texts.mapOfHosts(hosts.length)}
      className="block bg-sunken"
    >
      <g className="stroke-line-strong fill-soft text-2xs" strokeWidth={0.6}>
        {longitudes.map((longitude) => {
          const [x] = toPixels({ latitude: 0, longitude }, view);
          return (
            <g key={longitude}>
              <line x1={x} x2={x} y1={0} y2={height} />
              <text x={x + 3} y={height - 4} stroke="none">{`${longitude}°`}</text>
            </g>
          );
        })}
        {latitudes.map((latitude) => {
          const [, y] = toPixels({ latitude, longitude: 0 }, view);
          if (y < 0 || y > height) return null;
          return (
            <g key={latitude}>
              <line x1={0} x2={width} y1={y} y2={y} />
              <text x={3} y={y - 3} stroke="none">{`${latitude}°`}</text>
            </g>
          );
        })}
      </g>
      {hosts.map((host) => {
        const [x, y] = toPixels(host, view);
        const state = states?.get(host.hostid);
        const label = texts.placeOf(host.name, stateInWords(state, true));
        return (
          // biome-ignore lint/a11y/useSemanticElements: a marker of a drawing cannot be an anchor element
          <g
            key={host.hostid}
            role="link"
            tabIndex={0}
            aria-label={label}
            onClick={() => open(host.hostid)}
            onKeyDown={(event) => event.key === "Enter" && open(host.hostid)}
            className="cursor-pointer"
          >
            <title>{label}</title>
            <circle
              cx={x}
              cy={y}
              r={MARKER_PX}
              style={{ fill: colorOf(toneOf(state, true)), stroke: "var(--surface)" }}
              strokeWidth={2}
            />
            {hosts.length <= NAMED_MAX && (
              <text x={x + MARKER_PX + 4} y={y + 4} className="fill-ink text-xs">
                {host.name}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** *Geomap*: hosts by the position in their inventory. */
export function Geomap({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData(
    placedHostsQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      tags: settings.tags("tags"),
      anyTag: anyOf(settings.text("evaltype")),
      limit: HOSTS_MAX,
    }),
  );
  const states = useData(hostStatesQuery(query.data?.map((host) => host.hostid) ?? []));
  return (
    <Found query={query} gone={null}>
      {(hosts) =>
        hosts.length === 0 ? (
          <Note>{texts.noPlaces}</Note>
        ) : (
          <Room least={200}>
            {(size) => (
              <Canvas
                hosts={hosts}
                states={states.data}
                start={settings.text("default_view")}
                {...size}
              />
            )}
          </Room>
        )
      }
    </Found>
  );
}
