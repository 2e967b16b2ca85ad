import { Button } from "~/ui/button";
import { Empty } from "~/ui/state";
import { isNarrowed } from "~/util/search";
import { NO_FILTERS, type ProblemSearch } from "./filter";
import { texts } from "./texts";

/** In place of an empty list. */
export function NoProblems({ search, onClear }: { search: ProblemSearch; onClear: () => void }) {
  if (isNarrowed(search, NO_FILTERS)) {
    return (
      <Empty
        icon="filter"
        title={texts.noProblemMatchesThese}
        action={<Button onClick={onClear}>{texts.clearFilters}</Button>}
      >
        {texts.changeTheFiltersOr}
      </Empty>
    );
  }
  return (
    <Empty
      icon="check"
      title={search.show === "history" ? texts.noProblemsInThis : texts.noProblems}
    >
      {search.show === "history" ? texts.chooseALongerTime : texts.pastProblemsAreIn}
    </Empty>
  );
}
