import { useQuery, useQueryClient } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { Status } from "~/api/schema";
import { allows, session } from "~/api/session-store";
import { deleteUser, type Media, type User, unblockUser, usersQuery } from "~/api/users";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useDelete } from "~/shared/save-dialog";
import { Button, IconButton } from "~/ui/button";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import { texts } from "./texts";
import { KEYS } from "./user-dialog";

/** After so many failed attempts nobody may sign in as this user for a while. */
const BLOCKED_AT = 5;

/** How many media a user gets messages on. */
function MediaCount({ medias }: { medias: readonly Media[] }) {
  const count = medias.filter((media) => media.active === Status.Enabled).length;
  if (count === 0) return <span className="text-faint">{texts.noneOn}</span>;
  return texts.mediaOn(count);
}

export function Users({ onEdit }: { onEdit: (user: User) => void }) {
  const query = useQuery(usersQuery());
  const client = useQueryClient();
  const remove = useDelete(deleteUser, KEYS);
  const admin = session()?.type === 3 && allows("administration.users");
  const me = session()?.userid;
  const unblock = async (user: User) => {
    try {
      await unblockUser(user.userid);
      toast(texts.wasUnblocked(user.username));
    } catch (error) {
      toast(explain(error).what, "bad");
    }
    void client.invalidateQueries({ queryKey: ["users"] });
  };
  return (
    <PlainTable<User>
      query={query}
      head={[
        ["User name", ""],
        ["Name", ""],
        ["Role", ""],
        ["Groups", ""],
        ["Media", "w-28"],
        ["", "w-40"],
      ]}
      empty={<Empty icon="users" title={texts.youDoNotHavePermissionTo} />}
      row={(user) => (
        <tr key={user.userid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            {user.username}
            {user.userid === me && (
              <span className="pl-2 text-xs font-normal text-faint">{texts.you}</span>
            )}
            {user.provisioned === "1" && (
              <span className="pl-2 text-xs font-normal text-faint"> {texts.ofLdap}</span>
            )}
          </td>
          <td className={CELL}>{[user.name, user.surname].filter(Boolean).join(" ")}</td>
          <td className={`${CELL} text-soft`}>{Array.isArray(user.role) ? "" : user.role.name}</td>
          <td className={`${CELL} text-soft`}>
            {user.usrgrps.map((group) => group.name).join(", ")}
          </td>
          {/* Others see only their own. */}
          <td className={`${CELL} text-soft`}>
            {(admin || user.userid === me) && <MediaCount medias={user.medias} />}
          </td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            {admin && Number(user.attempt_failed) >= BLOCKED_AT && (
              <Button small onClick={() => void unblock(user)}>
                {texts.unblock}
              </Button>
            )}
            {(admin || user.userid === me) && (
              <IconButton
                icon="edit"
                label={texts.editUsername(user.username)}
                onClick={() => onEdit(user)}
              />
            )}
            {admin && user.userid !== me && (
              <IconButton
                icon="trash"
                label={texts.deleteUsername(user.username)}
                onClick={() =>
                  void remove(user.userid, user.username, texts.theUserSSessions, texts.delete)
                }
              />
            )}
          </td>
        </tr>
      )}
    />
  );
}
