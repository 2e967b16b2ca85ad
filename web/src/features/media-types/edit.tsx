import { getRouteApi } from "@tanstack/react-router";
import { mediaTypeQuery } from "~/api/media-types";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { MediaTypeForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/media-types/$mediatypeid/edit");

export function MediaTypeNewPage() {
  return (
    <Page title={texts.createMediaType} scroll>
      <MediaTypeForm mediaType={null} />
    </Page>
  );
}

export function MediaTypeEditPage() {
  const { mediatypeid } = editRoute.useParams();
  const query = useFresh(mediaTypeQuery(mediatypeid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editMediaType} scroll>
      <Found query={query} gone={<Gone icon="send" title={texts.thisMediaTypeDoesNot} />}>
        {(mediaType) => <MediaTypeForm key={mediaType.mediatypeid} mediaType={mediaType} />}
      </Found>
    </Page>
  );
}
