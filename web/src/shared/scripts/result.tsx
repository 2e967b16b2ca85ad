import { explain } from "~/api/errors";
import type { Execution } from "~/api/scripts";
import { Button } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { ErrorNote } from "~/ui/state";
import { download } from "~/util/download";
import { formatCount } from "~/util/format";
import { texts } from "./texts";

/** Characters of an output that are shown. */
const SHOWN = 20_000;

/** "250 ms", "3.2 s". */
export const milliseconds = (ms: number) =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/** The end of a run: its output or its error, and how long it took. */
export interface Outcome {
  ms: number;
  execution?: Execution;
  error?: unknown;
}

interface LogProps {
  lines: readonly { level: number | string; ms: number | string; message: string }[];
}

/** What a webhook logged. */
export function ScriptLog({ lines }: LogProps) {
  if (lines.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-xs text-soft">{texts.log(lines.length)}</summary>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard
        tabIndex={0}
        className="mt-1 max-h-60 overflow-auto rounded-md bg-sunken p-2 text-xs break-words whitespace-pre-wrap"
      >
        {lines.map(({ ms, message }) => `${milliseconds(Number(ms))}  ${message}`).join("\n")}
      </pre>
    </details>
  );
}

/** A long text as it is, with a way to have all of it. */
export function Output({ text, name }: { text: string; name: string }) {
  if (text === "") return <p className="text-soft">{texts.noOutput}</p>;
  return (
    <div className="flex flex-col gap-2">
      <section
        aria-label={texts.output}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard
        tabIndex={0}
        className="max-h-[45vh] overflow-auto rounded-md bg-sunken p-2.5"
      >
        <pre className="font-mono text-xs break-words whitespace-pre-wrap">
          {text.slice(0, SHOWN)}
        </pre>
      </section>
      {text.length > SHOWN && (
        <div className="flex flex-wrap items-center gap-2 text-xs text-soft">
          {texts.cut(formatCount(SHOWN), formatCount(text.length))}
          <Button small icon="download" onClick={() => download(name, text, "txt")}>
            {texts.download}
          </Button>
        </div>
      )}
    </div>
  );
}

/** What a run returned. */
export function Result({ outcome, name }: { outcome: Outcome; name: string }) {
  const { ms, execution, error } = outcome;
  if (!execution)
    return (
      <div className="flex flex-col gap-2">
        <ErrorNote {...explain(error)} />
        <p className="text-xs text-soft">{texts.failed(milliseconds(ms))}</p>
      </div>
    );
  const took = Number(execution.debug?.ms ?? Number.NaN);
  return (
    <div className="flex flex-col gap-2">
      <p role="status" className="flex items-center gap-1.5 font-medium text-good-ink">
        <Icon name="check" size={15} />
        {texts.succeeded(milliseconds(Number.isFinite(took) ? took : ms))}
      </p>
      <Output text={execution.value} name={name} />
      <ScriptLog lines={execution.debug?.logs ?? []} />
    </div>
  );
}
