import type { MessageTemplate } from "~/api/media-types";
import { EventSource, MediaTypeKind } from "~/api/schema";
import { IconButton } from "~/ui/button";
import { Select, TextareaField, TextField } from "~/ui/field";
import { messageName } from "~/util/event-sources";
import { patched, without } from "~/util/rows";
import { proposedMessage } from "./default-messages";
import { missingMessages } from "./draft";
import { texts } from "./texts";

interface MessagesEditorProps {
  messages: MessageTemplate[];
  /** The kind of the media type: SMS has no subjects. */
  type: string;
  onChange: (messages: MessageTemplate[]) => void;
}

/** Default texts by what they are about, each opened on demand. */
export function MessagesEditor({ messages, type, onChange }: MessagesEditorProps) {
  const missing = missingMessages(messages);
  const hasTrigger = messages.some((one) => one.eventsource === EventSource.Trigger);
  return (
    <div className="flex flex-col gap-2">
      {!hasTrigger && <p className="text-xs text-bad-ink">{texts.noTriggerText}</p>}
      {messages.map((one, at) => {
        const name = messageName(one.eventsource, one.recovery);
        const set = (next: Partial<MessageTemplate>) => onChange(patched(messages, at, next));
        return (
          <div key={name} className="flex items-start gap-2">
            <details className="min-w-0 flex-1 rounded-md border">
              <summary className="cursor-pointer rounded-md px-3 py-1.5 hover:bg-hover">
                <span className="font-medium">{name}</span>{" "}
                <span className="text-xs break-words text-soft">{one.subject}</span>
              </summary>
              <div className="flex flex-col gap-3 border-t p-3">
                {type !== MediaTypeKind.Sms && (
                  <TextField
                    label={texts.subject}
                    maxLength={255}
                    value={one.subject}
                    onChange={(subject) => set({ subject })}
                  />
                )}
                <TextareaField
                  label={texts.message}
                  rows={7}
                  value={one.message}
                  onChange={(message) => set({ message })}
                />
              </div>
            </details>
            <IconButton
              icon="trash"
              label={texts.removeMessage(name)}
              onClick={() => onChange(without(messages, at))}
            />
          </div>
        );
      })}
      {missing.length > 0 && (
        <Select
          className="max-w-64"
          aria-label={texts.addMessage}
          options={[["", texts.chooseMessage], ...missing]}
          value=""
          onChange={(e) => {
            const [source, mode] = e.target.value.split(" ");
            if (source && mode) onChange([...messages, proposedMessage(source, mode)]);
          }}
        />
      )}
    </div>
  );
}
