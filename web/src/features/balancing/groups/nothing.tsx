import { Button } from "~/ui/button";
import { Empty } from "~/ui/state";
import { texts } from "./texts";

interface NothingProps {
  title: string;
  hint: string;
  /** Takes the filters away; present while one narrows the list. */
  onClear?: () => void;
}

/** A list without rows: because of its filters, or because there are none. */
export function Nothing({ title, hint, onClear }: NothingProps) {
  if (!onClear) {
    return (
      <Empty icon="power" title={title}>
        {hint}
      </Empty>
    );
  }
  return (
    <Empty
      icon="search"
      title={texts.noMatch}
      action={<Button onClick={onClear}>{texts.clear}</Button>}
    >
      {texts.noMatchHint}
    </Empty>
  );
}
