import { type FormEvent, useEffect, useState } from "react";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import { type Confirmation, confirmation, confirmSignIn, type LoginAnswer } from "~/api/users";
import { Button } from "~/ui/button";
import { Field, Input } from "~/ui/field";
import { QrCode } from "~/ui/qr-code";
import { ErrorNote } from "~/ui/state";

import { texts } from "./texts";

function codeError(error: unknown): { what: string; todo: string } {
  if (error instanceof ApiError && error.code !== 0) {
    return { what: error.data, todo: "Each code of the authenticator can be used once." };
  }
  return explain(error);
}

interface Props {
  user: LoginAnswer;
  remember: boolean;
  onDone: () => void;
  /** The session has ended, or the user gives up. */
  onBack: () => void;
}

/** The second step of a sign-in: a code of the authenticator, which users without one enrol first. */
export function CodeForm({ user, remember, onDone, onBack }: Props) {
  const [asked, setAsked] = useState<Confirmation | null>(null);
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<{ what: string; todo: string } | null>(null);

  useEffect(() => {
    confirmation(user).then(setAsked, (thrown) => setError(codeError(thrown)));
  }, [user]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await confirmSignIn(user, code.replace(/\s/g, ""), remember);
      onDone();
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.signedOut) onBack();
      setError(codeError(thrown));
      setCode("");
      setBusy(false);
    }
  };

  return (
    <form
      onSubmit={submit}
      className="flex flex-col gap-4 rounded-xl border bg-surface p-6 shadow-card"
    >
      {error && <ErrorNote {...error} />}
      {asked?.qr_code && (
        <>
          <p className="text-sm">{texts.scanTheCode}</p>
          <QrCode rows={asked.qr_code} label={texts.qrCode} />
          <Field label={texts.key}>
            {(id) => <Input id={id} readOnly className="font-mono" value={asked.totp_secret} />}
          </Field>
        </>
      )}
      <Field label={texts.code}>
        {(id) => (
          <Input
            id={id}
            autoFocus
            required
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={9}
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary" busy={busy} className="h-9">
        {texts.verify}
      </Button>
      <Button type="button" onClick={onBack} className="h-9">
        {texts.otherAccount}
      </Button>
    </form>
  );
}
