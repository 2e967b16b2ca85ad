import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import { session } from "~/api/session-store";
import {
  createToken,
  deleteToken,
  type Token,
  tokensQuery,
  type User,
  usersQuery,
} from "~/api/users";
import { PlainTable } from "~/parts/config-tables";
import { Ago } from "~/parts/value";
import { Page } from "~/shell/page";
import { Button, IconButton } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field, Input, Select } from "~/ui/field";
import { Empty, ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { formatDate } from "~/util/time";

const CELL = "px-3 py-2 align-top break-words";
const DAY = 86_400;
const LIFETIMES = [
  ["90", "90 days"],
  ["365", "1 year"],
  ["30", "30 days"],
  ["0", "No end"],
] as const;

function TokenDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const create = useMutation({
    mutationFn: () => {
      const expires = days === "0" ? 0 : Math.floor(Date.now() / 1000) + Number(days) * DAY;
      return createToken(name.trim(), session()?.userid ?? "", expires);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const secret = create.data;
  return (
    <Dialog
      title="Create API token"
      onClose={onClose}
      footer={
        secret ? (
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              look="primary"
              disabled={!name.trim()}
              busy={create.isPending}
              onClick={() => create.mutate()}
            >
              Create token
            </Button>
          </>
        )
      }
    >
      {secret ? (
        <div className="flex flex-col gap-3">
          <p>This is the only time the token is shown. Copy it now.</p>
          <div className="flex items-center gap-2">
            <code className="flex-1 rounded-md bg-sunken px-3 py-2 font-mono text-xs break-all">
              {secret}
            </code>
            <IconButton
              icon="copy"
              label="Copy token"
              onClick={() => {
                void navigator.clipboard?.writeText(secret);
                toast("The token is copied.");
              }}
            />
          </div>
          <p className="text-xs text-soft">Send it as “Authorization: Bearer …” with each call.</p>
        </div>
      ) : (
        <div className="flex flex-col gap-4">
          {create.error && <ErrorNote {...explain(create.error)} />}
          <Field label="Name" required hint="What it is for, such as “Grafana”.">
            {(id) => (
              <Input id={id} autoFocus value={name} onChange={(e) => setName(e.target.value)} />
            )}
          </Field>
          <Field label="Valid for">
            {(id) => (
              <Select
                id={id}
                options={LIFETIMES}
                value={days}
                onChange={(e) => setDays(e.target.value)}
              />
            )}
          </Field>
        </div>
      )}
    </Dialog>
  );
}

function Users() {
  const query = useQuery(usersQuery());
  return (
    <PlainTable<User>
      query={query}
      head={[
        ["User name", ""],
        ["Name", ""],
        ["Role", ""],
        ["Groups", ""],
      ]}
      empty={<Empty icon="users" title="You may see no users" />}
      row={(user) => (
        <tr key={user.userid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            {user.username}
            {user.userid === session()?.userid && (
              <span className="pl-2 text-xs font-normal text-faint">you</span>
            )}
          </td>
          <td className={CELL}>{[user.name, user.surname].filter(Boolean).join(" ")}</td>
          <td className={`${CELL} text-soft`}>{Array.isArray(user.role) ? "" : user.role.name}</td>
          <td className={`${CELL} text-soft`}>
            {user.usrgrps.map((group) => group.name).join(", ")}
          </td>
        </tr>
      )}
    />
  );
}

function Tokens({ onCreate }: { onCreate: () => void }) {
  const client = useQueryClient();
  const query = useQuery(tokensQuery());
  const remove = useMutation({
    mutationFn: (token: Token) => deleteToken(token.tokenid),
    onSuccess: (_, token) => toast(`${token.name} was revoked.`),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  return (
    <PlainTable<Token>
      query={query}
      head={[
        ["Name", ""],
        ["Last used", "w-40"],
        ["Expires", "w-40"],
        ["", "w-28"],
      ]}
      empty={
        <Empty
          icon="key"
          title="No API tokens"
          action={<Button onClick={onCreate}>Create API token</Button>}
        >
          Give each program a token of its own, and revoke it when it is no longer used.
        </Empty>
      }
      row={(token) => (
        <tr key={token.tokenid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>{token.name}</td>
          <td className={`${CELL} text-soft`}>
            <Ago clock={Number(token.lastaccess)} />
          </td>
          <td className={`${CELL} text-soft`}>
            {token.expires_at === "0" ? "never" : formatDate(Number(token.expires_at))}
          </td>
          <td className="px-3 text-right">
            <Button small look="danger" onClick={() => remove.mutate(token)}>
              Revoke
            </Button>
          </td>
        </tr>
      )}
    />
  );
}

export function UsersPage() {
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title="Users and tokens"
      scroll
      actions={
        <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
          Create API token
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <h2 className="text-sm font-semibold">Users</h2>
        <Users />
        <h2 className="pt-3 text-sm font-semibold">API tokens</h2>
        <Tokens onCreate={() => setCreating(true)} />
      </div>
      {creating && <TokenDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}
