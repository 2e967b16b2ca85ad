import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { scheduleQuery } from "~/api/oncall";
import { serverZoneQuery } from "~/api/zone";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { ScheduleForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/oncall/$scheduleid/edit");

export function ScheduleNewPage() {
  const zone = useQuery(serverZoneQuery());
  return (
    <Page title={texts.createSchedule} scroll>
      <Found query={zone} gone={null}>
        {(serverZone) => <ScheduleForm schedule={null} serverZone={serverZone} />}
      </Found>
    </Page>
  );
}

export function ScheduleEditPage() {
  const { scheduleid } = editRoute.useParams();
  const query = useFresh(scheduleQuery(scheduleid));
  const zone = useQuery(serverZoneQuery());
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editSchedule} scroll>
      <Found query={zone} gone={null}>
        {(serverZone) => (
          <Found query={query} gone={<Gone icon="phone" title={texts.thisScheduleDoesNot} />}>
            {(schedule) => (
              <ScheduleForm key={schedule.scheduleid} schedule={schedule} serverZone={serverZone} />
            )}
          </Found>
        )}
      </Found>
    </Page>
  );
}
