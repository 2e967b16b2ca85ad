import { useMutation, useQueryClient } from "@tanstack/react-query";
import { provisionUser, resetTotp } from "~/api/authentication";
import { explain } from "~/api/errors";
import type { User } from "~/api/users";
import { Button } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { toast } from "~/ui/toast";
import { texts } from "./texts";

/** What a Super admin can do about the sign-in of a user, besides the fields of the form. */
export function SignInButtons({ user, own }: { user: User; own: boolean }) {
  const client = useQueryClient();
  const onError = (error: unknown) => toast(explain(error).what, "bad");
  const reset = useMutation({
    mutationFn: () => resetTotp(user.userid),
    onSuccess: () => toast(texts.authenticatorWasReset(user.username)),
    onError,
  });
  const provision = useMutation({
    mutationFn: () => provisionUser(user.userid),
    onSuccess: (done) =>
      done ? toast(texts.wasProvisioned(user.username)) : toast(texts.cannotBeProvisioned, "bad"),
    onError,
    onSettled: () => void client.invalidateQueries({ queryKey: ["users"] }),
  });
  const onReset = async () => {
    const body = <p>{own ? texts.resetOwn : texts.resetOther}</p>;
    const title = texts.resetQuestion(user.username);
    if (await confirmed(title, body, texts.reset, "key")) reset.mutate();
  };
  return (
    <div className="flex flex-wrap gap-2">
      <Button icon="key" busy={reset.isPending} onClick={() => void onReset()}>
        {texts.resetAuthenticator}
      </Button>
      {user.provisioned === "1" && (
        <Button busy={provision.isPending} onClick={() => provision.mutate()}>
          {texts.provisionNow}
        </Button>
      )}
    </div>
  );
}
