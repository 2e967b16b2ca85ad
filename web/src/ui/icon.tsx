/** Outlines on a grid of 16, drawn with a stroke of the text's colour. */
const PATHS = {
  overview: "M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM9 8.5h4.5v5H9zM2.5 11h4.5v2.5H2.5z",
  problems: "M8 2.2 14.3 13.3H1.7zM8 6.5v3.2M8 11.5v.1",
  hosts: "M2.5 3h11v4.2h-11zM2.5 8.8h11V13h-11zM4.8 5.1h.1M4.8 10.9h.1M7.5 5.1h3.7M7.5 10.9h3.7",
  latest: "M2.5 4h6M2.5 8h4M2.5 12h6M10.5 9.5l1.5-3 1.5 4",
  graph: "M2.3 2.5v11h11.4M4.8 10.3l2.7-3.6 2.3 2 3.4-4.7",
  templates: "M8 1.8 14 5 8 8.2 2 5zM2.2 8 8 11.1 13.8 8M2.2 11 8 14.1 13.8 11",
  queue: "M2.5 3.5h11M2.5 6.5h8M2.5 9.5h11M2.5 12.5h5",
  health: "M1.8 8.5h3l1.7-4.7 3 8.6 1.7-3.9h3",
  gauge: "M2.6 12.2a6 6 0 1 1 10.8 0M8 9.5l2.6-3.4M8 10.4v.1",
  users:
    "M6 7.6a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8zM1.8 13.2c.3-2.3 2-3.7 4.2-3.7s3.9 1.4 4.2 3.7M10.7 3.1a2.2 2.2 0 0 1 0 4.2M12 9.9c1.3.5 2.1 1.7 2.3 3.3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.4 3.4",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.2 3.2L13 4.9",
  down: "M4 6.2l4 4 4-4",
  right: "M6.2 4l4 4-4 4",
  left: "M9.8 4l-4 4 4 4",
  out: "M6.5 4l-4 4 4 4M2.8 8H10M10 2.5h3.5v11H10",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13.3 9.6A5.7 5.7 0 0 1 6.4 2.7a5.7 5.7 0 1 0 6.9 6.9z",
  screen: "M2 3h12v8H2zM5.5 13.5h5",
  mute: "M4.2 9.2V6.8a3.8 3.8 0 0 1 6.5-2.7M11.8 7.6v1.8l1.3 2.1H6.8M2.9 11.5h1.6M6.6 13.6h2.8M2.5 2.5l11 11",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.7V8l2.2 1.5",
  ack: "M13.5 7.5a5.5 5.5 0 1 1-2.6-4.2M5.5 7.3l2.2 2.2 5.8-6",
  comment: "M2.5 3h11v7.5H7.7L4.8 13v-2.5H2.5z",
  edit: "M10.7 2.7l2.6 2.6-7.8 7.8-3.2.6.6-3.2z",
  trash: "M2.8 4.3h10.4M6 4.3V2.7h4v1.6M4.2 4.3l.6 9h6.4l.6-9M6.7 6.8v4M9.3 6.8v4",
  zoomOut: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.4 3.4M5 7h4",
  upload: "M8 10.5V3M4.8 5.8 8 2.6l3.2 3.2M2.5 10.5v2.8h11v-2.8",
  download: "M8 2.7v7.5M4.8 7.3 8 10.5l3.2-3.2M2.5 10.5v2.8h11v-2.8",
  link: "M6.6 9.4a2.7 2.7 0 0 0 3.9 0l2.1-2.2a2.7 2.7 0 0 0-3.8-3.8l-.9.9M9.4 6.6a2.7 2.7 0 0 0-3.9 0L3.4 8.8a2.7 2.7 0 0 0 3.8 3.8l.9-.9",
  unlink:
    "M5.5 6.6 3.4 8.8a2.7 2.7 0 0 0 3.8 3.8l.9-.9M10.5 9.4l2.1-2.2a2.7 2.7 0 0 0-3.8-3.8l-.9.9M2.5 2.5l11 11",
  send: "M14 2 1.8 6.6l4.8 2.2 2.2 4.9zM14 2 6.6 8.8",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  tree: "M5.5 2h5v3.5h-5zM2 10.5h4.5V14H2zM9.5 10.5H14V14H9.5zM8 5.5V8M4.2 10.5V8h7.6v2.5",
  target: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6z",
  bars: "M2.5 13.5V9M6.2 13.5V5M9.8 13.5V7M13.5 13.5V2.5",
  merge: "M3 3v2.5c0 2 5 2.5 5 5V14M13 3v2.5c0 2-5 2.5-5 5M5.8 11.8 8 14l2.2-2.2",
  log: "M3 2.2h10v11.6H3zM5.5 5.2h5M5.5 8h5M5.5 10.8h3",
  keyboard: "M1.7 4h12.6v8H1.7zM4 6.5h.1M6.6 6.5h.1M9.3 6.5h.1M12 6.5h.1M5 9.5h6",
  up: "M8 13V3.5M4 7.2l4-4 4 4",
  arrowDown: "M8 3v9.5M4 8.8l4 4 4-4",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  drag: "M6 4h.1M10 4h.1M6 8h.1M10 8h.1M6 12h.1M10 12h.1",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.7M8 5v.1",
  copy: "M5.5 5.5h7.5V13H5.5zM3 10.5V3h7.5",
  power: "M8 2v5.5M4.7 4a5.3 5.3 0 1 0 6.6 0",
  sidebar: "M2 3h12v10H2zM6 3v10",
  wrench:
    "M13.3 4.7a3.4 3.4 0 0 1-4.5 4.2l-4.4 4.4-1.7-1.7 4.4-4.4a3.4 3.4 0 0 1 4.2-4.5L9.2 4.8l2 2z",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
  flask:
    "M6.2 2.2h3.6M6.8 2.2v4L3.2 12.4a1 1 0 0 0 .9 1.4h7.8a1 1 0 0 0 .9-1.4L9.2 6.2v-4M4.9 10h6.2",
  play: "M5 3.2v9.6l7.5-4.8z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  phone:
    "M3.2 2.5h2.6l1.2 3-1.5 1.1a8 8 0 0 0 3.9 3.9l1.1-1.5 3 1.2v2.6c0 .4-.3.7-.7.7A10.3 10.3 0 0 1 2.5 3.2c0-.4.3-.7.7-.7z",
  pulse: "M1.8 8h2.7l1.4-3.2 2.4 6.9 2-5.6 1 1.9h2.9",
  key: "M5.3 13a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM7.3 8.2l5.7-5.7M10.7 4.8l1.9 1.9",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative outline; what it means is said by text or a label beside it. */
export function Icon({
  name,
  size = 16,
  className,
}: {
  name: IconName;
  size?: number;
  className?: string;
}) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`shrink-0 ${className ?? ""}`}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
