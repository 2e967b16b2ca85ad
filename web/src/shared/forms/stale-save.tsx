import { ask } from "~/ui/confirm";
import { type Changed, changedSince } from "~/util/stale";
import { texts } from "../texts";

/** The object that the form on the page started from. */
interface Watched {
  before: unknown;
  /** Reads it again. */
  now: () => Promise<unknown>;
}

const watched = new Set<Watched>();

export function watchFresh(object: Watched): () => void {
  watched.add(object);
  return () => watched.delete(object);
}

function Comparison({ changes }: { changes: readonly Changed[] }) {
  return (
    <div className="flex flex-col gap-3">
      <p>{texts.savingNowWouldOverwrite}</p>
      <dl className="flex max-h-72 flex-col gap-2 overflow-auto text-sm">
        {changes.map((change) => (
          <div key={change.name}>
            <dt className="font-medium">{change.name}</dt>
            <dd className="font-mono text-xs break-all text-soft">
              {texts.was(change.before || "–")}
            </dd>
            <dd className="font-mono text-xs break-all">{texts.now(change.now || "–")}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** True if nobody changed the object since the form was opened, or the user overwrites the change. */
export async function mayOverwrite(): Promise<boolean> {
  for (const object of watched) {
    const now = await object.now();
    // A deleted object: saving reports that.
    if (now === null || now === undefined) continue;
    const changes = changedSince(object.before, now);
    if (changes.length === 0) continue;
    const answer = await ask({
      title: "This was changed in the meantime",
      body: <Comparison changes={changes} />,
      choices: [{ value: "overwrite", label: "Overwrite", look: "danger" }],
    });
    if (answer !== "overwrite") return false;
    object.before = now;
  }
  return true;
}
