import type { ReactNode } from "react";
import { ask } from "~/ui/confirm";
import { texts } from "./texts";

/** Asks whether what a template brought goes with it; null when nothing shall be done. */
export async function askUnlinking(title: string, body: ReactNode): Promise<boolean | null> {
  const choice = await ask({
    title,
    body,
    choices: [
      { value: "clear", label: "Unlink and clear", look: "danger", icon: "trash" },
      { value: "keep", label: "Unlink", look: "primary", icon: "unlink" },
    ],
  });
  return choice === null ? null : choice === "clear";
}

/** The same before a form is saved; false at once where it unlinks nothing. */
export async function askUnlinked(
  templates: readonly { name: string }[],
  body: ReactNode,
): Promise<boolean | null> {
  if (templates.length === 0) return false;
  return askUnlinking(
    texts.unlinkTemplates,
    <>
      <p>{texts.willNoLongerBeLinked(templates.map((template) => template.name).join(", "))}</p>
      {body}
    </>,
  );
}
