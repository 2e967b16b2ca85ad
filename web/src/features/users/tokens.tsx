import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import { Status } from "~/api/schema";
import { session } from "~/api/session-store";
import {
  createToken,
  deleteToken,
  generateToken,
  setTokenStatus,
  type Token,
  tokensQuery,
  usersQuery,
} from "~/api/users";
import { CELL, PlainTable } from "~/shared/config-tables";
import { setSaving } from "~/shared/forms/unsaved";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useDelete, useDialogDraft } from "~/shared/save-dialog";
import { Ago } from "~/shared/value";
import { Button, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { canCopy, copy } from "~/ui/copy";
import { Dialog } from "~/ui/dialog";
import { SelectField, TextField } from "~/ui/field";
import { Empty, ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

const KEYS = [["tokens"]];
const DAY = 86_400;
const LIFETIMES = [
  ["90", "90 days"],
  ["365", "1 year"],
  ["30", "30 days"],
  ["0", "No expiry"],
] as const;

function Secret({ secret }: { secret: string }) {
  return (
    <div className="flex flex-col gap-3">
      <p>{texts.thisIsTheOnly}</p>
      <div className="flex items-center gap-2">
        <code className="flex-1 rounded-md bg-sunken px-3 py-2 font-mono text-xs break-all">
          {secret}
        </code>
        {canCopy && (
          <IconButton
            icon="copy"
            label={texts.copyToken}
            onClick={() => copy(secret, texts.theTokenWasCopied)}
          />
        )}
      </div>
      <p className="text-xs text-soft">{texts.sendItAsAuthorization}</p>
    </div>
  );
}

/** Creates a token and shows its secret once. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const me = session();
  const admin = me?.type === 3;
  const [draft, setDraft, restored] = useKeptState("token", {
    name: "",
    description: "",
    days: "90",
    userid: me?.userid ?? "",
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const { name, description, days, userid } = draft;
  const { data: users = [] } = useQuery({ ...usersQuery(), enabled: admin });
  const create = useMutation({
    mutationFn: () => {
      const expires = days === "0" ? 0 : Math.floor(Date.now() / 1000) + Number(days) * DAY;
      return createToken(name.trim(), userid, description.trim(), expires);
    },
    onSuccess: () => setSaving(true),
    onSettled: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const secret = create.data;
  const leave = useDialogDraft({ draft, restored, error: create.error, onClose });
  return (
    <Dialog
      title={texts.createApiToken}
      onClose={() => void leave()}
      footer={
        secret ? (
          <Button look="primary" onClick={onClose}>
            {texts.done}
          </Button>
        ) : (
          <>
            <Button onClick={() => void leave()}>{texts.cancel}</Button>
            <Button
              look="primary"
              disabled={!name.trim()}
              busy={create.isPending}
              onClick={() => create.mutate()}
            >
              {texts.createToken}
            </Button>
          </>
        )
      }
    >
      {secret ? (
        <Secret secret={secret} />
      ) : (
        <div className="flex flex-col gap-4">
          {create.error && <ErrorNote {...explain(create.error)} />}
          <TextField
            label={texts.name}
            required
            hint={texts.purposeOfTheToken}
            autoFocus
            value={name}
            onChange={(next) => set({ name: next })}
          />
          {admin && (
            <SelectField
              label={texts.user}
              hint={texts.requestsWithTheToken}
              options={users.map((user) => [user.userid, user.username] as const)}
              value={userid}
              onChange={(next) => set({ userid: next })}
            />
          )}
          <SelectField
            label={texts.validFor}
            options={LIFETIMES}
            value={days}
            onChange={(next) => set({ days: next })}
          />
          <TextField
            label={texts.description}
            value={description}
            onChange={(next) => set({ description: next })}
          />
        </div>
      )}
    </Dialog>
  );
}

function Expiry({ token }: { token: Token }) {
  const expires = Number(token.expires_at);
  if (expires === 0) return "never";
  const over = expires < Date.now() / 1000;
  return <span className={over ? "text-bad-ink" : undefined}>{formatClock(expires, "day")}</span>;
}

export function Tokens({ onCreate }: { onCreate: () => void }) {
  const client = useQueryClient();
  const query = useQuery(tokensQuery());
  const { data: users = [] } = useQuery(usersQuery());
  const [secret, setSecret] = useState("");
  const revoke = useDelete(deleteToken, KEYS);
  const failed = (error: unknown) => toast(explain(error).what, "bad");
  const onSettled = () => client.invalidateQueries({ queryKey: ["tokens"] });
  const status = useMutation({
    mutationFn: (token: Token) =>
      setTokenStatus(
        token.tokenid,
        token.status === Status.Enabled ? Status.Disabled : Status.Enabled,
      ),
    onError: failed,
    onSettled,
  });
  const renew = useMutation({
    mutationFn: (token: Token) => generateToken(token.tokenid),
    onSuccess: setSecret,
    onError: failed,
    onSettled,
  });
  const userName = (id: string) => users.find((user) => user.userid === id)?.username ?? "";
  return (
    <>
      <PlainTable<Token>
        query={query}
        head={[
          ["Name", ""],
          ["User", ""],
          ["Last used", "w-32"],
          ["Expires", "w-32"],
          ["", "w-72"],
        ]}
        empty={
          <Empty
            icon="key"
            title={texts.noApiTokens}
            action={<Button onClick={onCreate}>{texts.createApiToken}</Button>}
          >
            {texts.createASeparateToken}
          </Empty>
        }
        row={(token) => (
          <tr
            key={token.tokenid}
            className={`border-t hover:bg-hover ${token.status === Status.Disabled ? "text-faint" : ""}`}
          >
            <td className={`${CELL} font-medium`}>
              {token.name}
              {token.description && (
                <span className="block text-xs font-normal text-faint">{token.description}</span>
              )}
            </td>
            <td className={`${CELL} text-soft`}>{userName(token.userid)}</td>
            <td className={`${CELL} text-soft`}>
              <Ago clock={Number(token.lastaccess)} />
            </td>
            <td className={`${CELL} text-soft`}>
              <Expiry token={token} />
            </td>
            <td className="px-3 py-1 text-right whitespace-nowrap">
              <Button small look="quiet" onClick={() => status.mutate(token)}>
                {token.status === Status.Enabled ? texts.disable : texts.enable}
              </Button>
              <Button
                small
                look="quiet"
                onClick={async () => {
                  const body = <p>{texts.theCurrentSecretStops}</p>;
                  if (
                    await confirmed(
                      texts.newSecretFor(token.name),
                      body,
                      texts.generateSecret,
                      "key",
                    )
                  )
                    renew.mutate(token);
                }}
              >
                {texts.newSecret}
              </Button>
              <Button
                small
                look="danger"
                onClick={() =>
                  void revoke(token.tokenid, token.name, texts.requestsWithThisToken, texts.revoke)
                }
              >
                {texts.revoke}
              </Button>
            </td>
          </tr>
        )}
      />
      {secret && (
        <Dialog
          title={texts.newSecret}
          onClose={() => setSecret("")}
          footer={
            <Button look="primary" onClick={() => setSecret("")}>
              {texts.done}
            </Button>
          }
        >
          <Secret secret={secret} />
        </Dialog>
      )}
    </>
  );
}
