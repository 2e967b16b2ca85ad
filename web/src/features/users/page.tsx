import { getRouteApi } from "@tanstack/react-router";
import { allows, session } from "~/api/session-store";
import type { Role, User, UserGroup } from "~/api/users";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Page } from "~/shared/page";
import { Button } from "~/ui/button";
import { Tabs } from "~/ui/segmented";
import { GroupDialog, Groups } from "./groups";
import { RoleDialog, Roles } from "./roles";
import { texts } from "./texts";
import { TokenDialog, Tokens } from "./tokens";
import { UserDialog } from "./user-dialog";
import { Users } from "./users";

const route = getRouteApi("/inside/users");
type Tab = "users" | "groups" | "roles" | "tokens";
const TABS: readonly (readonly [Tab, string, create: string])[] = [
  ["users", "Users", "Create user"],
  ["groups", "User groups", "Create user group"],
  ["roles", "Roles", "Create role"],
  ["tokens", "API tokens", "Create API token"],
];

/** What a dialog is open for; null stands for a new one. */
interface Editing {
  user?: User | null;
  group?: UserGroup | null;
  role?: Role | null;
  token?: null;
}

const ELEMENTS = { groups: "administration.user_groups", roles: "administration.user_roles" };

/** Everybody has a profile, and tokens if the role allows; the rest is for super admins. */
function mayOpen(tab: Tab): boolean {
  if (tab === "users") return true;
  if (tab === "tokens") return allows("manage_api_tokens");
  return session()?.type === 3 && allows(ELEMENTS[tab]);
}

/** Who may sign in, what they may do, and the tokens of programs. */
export function UsersPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [editing, setEditing] = useKeptState<Editing>("dialog", {});
  const admin = session()?.type === 3 && allows("administration.users");
  const tabs = TABS.filter(([name]) => mayOpen(name));
  const [tab, , create] =
    tabs.find(([name]) => name === search.tab) ?? (TABS[0] as (typeof TABS)[0]);
  const close = () => setEditing({});
  const onCreate = () => {
    const what = { users: "user", groups: "group", roles: "role", tokens: "token" } as const;
    setEditing({ [what[tab]]: null });
  };
  return (
    <Page
      title={texts.usersAndTokens}
      scroll
      actions={
        (admin || tab !== "users") && (
          <Button look="primary" icon="plus" onClick={onCreate}>
            {create}
          </Button>
        )
      }
      bar={
        <div className="w-full overflow-x-auto">
          <Tabs<Tab>
            label={texts.usersGroupsRolesAnd}
            value={tab}
            options={tabs.map(([name, label]) => [name, label] as const)}
            onChange={(value) =>
              void navigate({ search: { tab: value === "users" ? undefined : value } })
            }
          />
        </div>
      }
    >
      {tab === "users" && <Users onEdit={(user) => setEditing({ user })} />}
      {tab === "groups" && <Groups onEdit={(group) => setEditing({ group })} />}
      {tab === "roles" && <Roles onEdit={(role) => setEditing({ role })} />}
      {tab === "tokens" && <Tokens onCreate={onCreate} />}
      {editing.user !== undefined && <UserDialog user={editing.user} onClose={close} />}
      {editing.group !== undefined && <GroupDialog group={editing.group} onClose={close} />}
      {editing.role !== undefined && <RoleDialog role={editing.role} onClose={close} />}
      {editing.token !== undefined && <TokenDialog onClose={close} />}
    </Page>
  );
}
