import { useMutation, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { type TestAnswer, testDirectory } from "~/api/authentication";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import { rolesQuery, userGroupNamesQuery } from "~/api/users";
import { Button } from "~/ui/button";
import { TextField } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { type DirectoryDraft, directoryParams } from "./directory-draft";
import { texts } from "./texts";

/** What the server says of the user, which a general explanation would hide. */
function testError(error: unknown) {
  if (error instanceof ApiError && error.code !== 0) return { what: error.data, todo: "" };
  return explain(error);
}

function Outcome({ answer }: { answer: TestAnswer }) {
  const { data: roles = [] } = useQuery(rolesQuery());
  const { data: groups = [] } = useQuery(userGroupNamesQuery());
  const named = (id: string) => groups.find((group) => group.usrgrpid === id)?.name ?? id;
  const list = (values: readonly string[]) => values.join(", ") || texts.none;
  const role = roles.find((one) => one.roleid === String(answer.roleid));
  const lines =
    answer.roleid === undefined
      ? []
      : [
          texts.becomes(texts.fullName, [answer.name, answer.surname].filter(Boolean).join(" ")),
          texts.becomes(texts.role, role?.name ?? texts.noRole),
          texts.becomes(
            texts.userGroups,
            list(answer.usrgrps?.map((one) => named(one.usrgrpid)) ?? []),
          ),
          texts.becomes(texts.media, list(answer.medias?.flatMap((one) => one.sendto) ?? [])),
        ];
  return (
    <div role="status" className="rounded-lg bg-accent-soft px-3 py-2.5 text-sm text-accent-ink">
      <p className="font-medium">{texts.signsIn(answer.username)}</p>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

interface TestProps {
  /** The stored server, whose bind password is used if the draft has none. */
  id: string | null;
  draft: DirectoryDraft;
  /** The draft cannot be used yet. */
  disabled: boolean;
}

/** Tries to sign in at the server as the draft has it. */
export function TestSignIn({ id, draft, disabled }: TestProps) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const test = useMutation({
    mutationFn: () =>
      testDirectory(id, directoryParams(draft), {
        test_username: username,
        test_password: password,
      }),
  });
  const isReady = !disabled && username !== "" && password !== "";
  // Enter would save the server.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (isReady) test.mutate();
  };
  return (
    <section className="flex flex-col gap-2 border-t pt-4">
      <h3 className="text-xs font-medium text-soft">{texts.test}</h3>
      <p className="text-xs text-faint">{texts.testNote}</p>
      <div className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_auto]">
        <TextField
          label={texts.userName}
          onKeyDown={onKeyDown}
          value={username}
          onChange={setUsername}
        />
        <TextField
          label={texts.password}
          type="password"
          autoComplete="off"
          onKeyDown={onKeyDown}
          value={password}
          onChange={setPassword}
        />
        <Button disabled={!isReady} busy={test.isPending} onClick={() => test.mutate()}>
          {texts.test}
        </Button>
      </div>
      {test.error && <ErrorNote {...testError(test.error)} />}
      {test.data && !test.isPending && <Outcome answer={test.data} />}
    </section>
  );
}
