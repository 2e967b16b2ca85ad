import { Note, type WidgetProps } from "./frame";
import { Settings } from "./settings";
import { texts } from "./texts";

/** *URL*: a link. Pages of other servers inside this one are against the security policy of the UI. */
export function Url({ widget }: WidgetProps) {
  const url = Settings.of(widget).text("url");
  if (!/^https?:\/\//i.test(url)) return <Note>{texts.noUrl}</Note>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      className="block truncate p-3 underline"
      aria-label={`${texts.openUrl}: ${url}`}
    >
      {url}
    </a>
  );
}
