import { type ReactNode, useSyncExternalStore } from "react";
import { Button } from "./button";
import { Dialog } from "./dialog";
import type { IconName } from "./icon";
import { texts } from "./texts";

interface Choice<V extends string> {
  value: V;
  label: string;
  look?: "primary" | "danger" | "plain";
  icon?: IconName;
}

interface Question<V extends string> {
  title: string;
  /** What follows from each choice. */
  body?: ReactNode;
  choices: readonly Choice<V>[];
  /** Label of the button that closes it; default: Cancel. */
  cancel?: string;
}

interface Asked extends Question<string> {
  id: number;
  answer: (value: string | null) => void;
}

let asked: Asked[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: Asked[]): void {
  asked = next;
  for (const listener of listeners) listener();
}

/** Asks in a dialog; null when the reader cancels. */
export function ask<V extends string>(question: Question<V>): Promise<V | null> {
  return new Promise((resolve) => {
    const id = ++lastId;
    const answer = (value: string | null) => {
      set(asked.filter((other) => other.id !== id));
      resolve(value as V | null);
    };
    set([...asked, { ...question, id, answer }]);
  });
}

/** Asks before something that cannot be undone. */
export async function confirmed(
  title: string,
  body: ReactNode,
  action: string,
  icon: IconName = "trash",
): Promise<boolean> {
  const choices = [{ value: "yes", label: action, look: "danger", icon }] as const;
  return (await ask({ title, body, choices })) === "yes";
}

/** Where `ask` shows its dialogs; once, in the frame of the application. */
export function Questions() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  return shown.map((question) => (
    <Dialog
      key={question.id}
      title={question.title}
      onClose={() => question.answer(null)}
      footer={
        <>
          <Button onClick={() => question.answer(null)}>{question.cancel ?? texts.cancel}</Button>
          {question.choices.map((choice) => (
            <Button
              key={choice.value}
              look={choice.look}
              icon={choice.icon}
              onClick={() => question.answer(choice.value)}
            >
              {choice.label}
            </Button>
          ))}
        </>
      }
    >
      <div className="flex flex-col gap-2">{question.body}</div>
    </Dialog>
  ));
}
