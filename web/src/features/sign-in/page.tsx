import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import { endReason, session } from "~/api/session-store";
import { type LoginAnswer, NoInterfaceAccess, signIn } from "~/api/users";
import { Button } from "~/ui/button";
import { Checkbox, Field, Input } from "~/ui/field";
import { Mark } from "~/ui/logo";
import { ErrorNote } from "~/ui/state";
import { CodeForm } from "./code-form";
import { texts } from "./texts";

const route = getRouteApi("/login");

/** The server does not tell a wrong password from a blocked account, so neither can this page. */
function loginError(error: unknown, attempts: number): { what: string; todo: string } {
  if (error instanceof ApiError && error.code === 429) {
    return { what: error.data, todo: "Sign-in is delayed after several wrong passwords." };
  }
  if (error instanceof ApiError && /temporarily blocked|Incorrect user name/i.test(error.data)) {
    return attempts < 4
      ? { what: "Wrong user name or password.", todo: "Check both. They are case-sensitive." }
      : {
          what: "Wrong user name or password, or too many attempts.",
          todo: "After several wrong passwords an account is blocked for a short time. Wait 30 seconds, then try again.",
        };
  }
  if (error instanceof NoInterfaceAccess) {
    return { what: error.message, todo: "Use the API, or ask your administrator for access." };
  }
  if (error instanceof ApiError && error.code !== 0) {
    return { what: error.data, todo: "If this is not expected, ask your administrator." };
  }
  return explain(error);
}

/** Only addresses of this application: nobody can be sent elsewhere after signing in. */
function safeNext(next: string | undefined): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") ? next : "/";
}

export function LoginPage() {
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const [remember, setRemember] = useState(true);
  /** The password was right, and the session waits for a code. */
  const [waiting, setWaiting] = useState<LoginAnswer | null>(null);
  const done = () => router.history.push(safeNext(next));

  useEffect(() => {
    document.title = "Sign in · Vedette";
    if (session()) void navigate({ to: "/" });
  }, [navigate]);

  return (
    <main className="flex min-h-full items-center justify-center p-6">
      <div className="w-full max-w-sm">
        <div className="flex flex-col items-center gap-3 pb-6">
          <Mark size={44} />
          <h1 className="text-xl font-semibold tracking-tight">{texts.signInToVedette}</h1>
        </div>
        {waiting ? (
          <CodeForm
            user={waiting}
            remember={remember}
            onDone={done}
            onBack={() => setWaiting(null)}
          />
        ) : (
          <PasswordForm
            remember={remember}
            onRemember={setRemember}
            onAnswer={(answer) => (answer ? setWaiting(answer) : done())}
          />
        )}
        <p className="pt-4 text-center text-xs text-faint">{texts.firstStartTheServer}</p>
      </div>
    </main>
  );
}

interface PasswordProps {
  remember: boolean;
  onRemember: (remember: boolean) => void;
  /** `null`: signed in. */
  onAnswer: (answer: LoginAnswer | null) => void;
}

function PasswordForm({ remember, onRemember, onAnswer }: PasswordProps) {
  const [username, setUsername] = useState("Admin");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [attempts, setAttempts] = useState(0);
  const [error, setError] = useState<{ what: string; todo: string } | null>(null);
  const expired = endReason() === "expired";

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      onAnswer(await signIn(username, password, remember));
    } catch (thrown) {
      setAttempts(attempts + 1);
      setError(loginError(thrown, attempts + 1));
      setBusy(false);
    }
  };

  return (
    <form
      onSubmit={submit}
      className="flex flex-col gap-4 rounded-xl border bg-surface p-6 shadow-card"
    >
      {expired && !error && (
        <p role="status" className="rounded-lg bg-accent-soft px-3 py-2.5 text-sm text-accent-ink">
          {texts.yourSessionHasEnded}
        </p>
      )}
      {error && <ErrorNote {...error} />}
      <Field label={texts.userName}>
        {(id) => (
          <Input
            id={id}
            autoFocus
            required
            autoComplete="username"
            value={username}
            onChange={(event) => setUsername(event.target.value)}
          />
        )}
      </Field>
      <Field label={texts.password}>
        {(id) => (
          <Input
            id={id}
            type="password"
            required
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <Checkbox
        label={texts.keepMeSignedIn}
        checked={remember}
        onChange={(event) => onRemember(event.target.checked)}
      />
      <Button type="submit" look="primary" busy={busy} className="h-9">
        {texts.signIn}
      </Button>
    </form>
  );
}
