import { Dialog } from "~/ui/dialog";
import { Kbd } from "~/ui/state";
import { destinations } from "./nav";
import { texts } from "./texts";

interface Group {
  title: string;
  keys: readonly (readonly [keys: string, what: string])[];
}

/** The pages that the user may open. */
function goTo(): Group {
  const pages = destinations().flatMap((section) => section.pages);
  const keyed = pages.filter((page) => page.key);
  return { title: "Go to", keys: keyed.map((page) => [`g ${page.key}`, page.label] as const) };
}

const GROUPS: readonly Group[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl K", "Find hosts, items, pages"],
      ["/", "Search on this page"],
      ["?", "This list"],
      ["Esc", "Close what is open"],
    ],
  },
  {
    title: "In a table",
    keys: [
      ["↓ j", "Next row"],
      ["↑ k", "Previous row"],
      ["Enter", "Open the row"],
      ["x", "Select the row"],
      ["Home", "First row"],
      ["End", "Last row"],
    ],
  },
  {
    title: "On problems",
    keys: [
      ["a", "Acknowledge"],
      ["m", "Write a message"],
      ["c", "Close the problem"],
      ["s", "Silence; also on hosts"],
      ["r", "Run a script; also on hosts"],
    ],
  },
];

export default function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={texts.keyboardShortcuts} onClose={onClose} wide>
      <div className="grid gap-x-10 sm:grid-cols-2 gap-y-5">
        {[...GROUPS, goTo()].map((group) => (
          <section key={group.title}>
            <h3 className="pb-1.5 text-xs font-semibold text-soft">{group.title}</h3>
            <dl className="flex flex-col">
              {group.keys.map(([keys, what]) => (
                <div
                  key={keys}
                  className="flex h-8 items-center justify-between border-b last:border-0"
                >
                  <dt>{what}</dt>
                  <dd className="flex gap-1">
                    {keys.split(" ").map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
