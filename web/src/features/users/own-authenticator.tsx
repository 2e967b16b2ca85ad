import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { createPortal } from "react-dom";
import { offerTotp, replaceTotp } from "~/api/authentication";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import type { Confirmation } from "~/api/users";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field, Input, TextField } from "~/ui/field";
import { QrCode } from "~/ui/qr-code";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { texts } from "./texts";

/** What the server says, such as that a code was wrong. */
const said = (error: unknown) =>
  error instanceof ApiError && error.code !== 0 ? { what: error.data, todo: "" } : explain(error);

function Replacement({ offer, onClose }: { offer: Confirmation; onClose: () => void }) {
  const [code, setCode] = useState("");
  const [current, setCurrent] = useState("");
  const replace = useMutation({
    mutationFn: () => replaceTotp(code.replace(/\s/g, ""), current.replace(/\s/g, "")),
    onSuccess: () => {
      toast(texts.wasReplaced);
      onClose();
    },
  });
  const box = (label: string, value: string, onChange: (value: string) => void) => (
    <TextField
      label={label}
      required
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={9}
      value={value}
      onChange={onChange}
    />
  );
  return (
    <Dialog
      title={texts.replaceTitle}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button
            look="primary"
            disabled={!code || !current}
            busy={replace.isPending}
            onClick={() => replace.mutate()}
          >
            {texts.replace}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {replace.error && <ErrorNote {...said(replace.error)} />}
        <p className="text-sm">{texts.replaceNote}</p>
        {offer.qr_code && <QrCode rows={offer.qr_code} label={texts.qrCode} />}
        <Field label={texts.key}>
          {(id) => <Input id={id} readOnly className="font-mono" value={offer.totp_secret} />}
        </Field>
        {box(texts.newCode, code, setCode)}
        {box(texts.currentCode, current, setCurrent)}
      </div>
    </Dialog>
  );
}

/** Replaces the user's own authenticator. */
export function OwnAuthenticator() {
  const [offer, setOffer] = useState<Confirmation | null>(null);
  const begin = useMutation({
    mutationFn: offerTotp,
    onSuccess: setOffer,
    onError: (error) => toast(said(error).what, "bad"),
  });
  return (
    <>
      <Button
        icon="key"
        className="self-start"
        busy={begin.isPending}
        onClick={() => begin.mutate()}
      >
        {texts.replaceAuthenticator}
      </Button>
      {/* Outside the form around it, which Enter would save. */}
      {offer &&
        createPortal(<Replacement offer={offer} onClose={() => setOffer(null)} />, document.body)}
    </>
  );
}
