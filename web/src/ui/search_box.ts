/** The search box of the page, across all kinds. */

import { completion, type Completion, type Suggestion } from "./completion";
import { mainPane, nameIndex, pointSwatch, type Explorer } from "./explorer";

const MOST = 12;

export function searchBox(explorer: Explorer): Completion {
  const pane = mainPane(explorer);
  const kinds = pane.atlas.kinds.map(({ name }) => name);
  const find = (text: string): Suggestion[] => pointSuggestions(explorer, text, null, (point) => goTo(explorer, point));
  return completion("Search the map", `Search ${kinds.slice(0, 3).join(", ")} …`, find, "Nothing on this map is called so.");
}

/** Suggest points whose names hold a text, of one kind or of all. */
export function pointSuggestions(
  explorer: Explorer,
  text: string,
  kind: string | null,
  choose: (point: number) => void,
): Suggestion[] {
  const pane = mainPane(explorer);
  const { atlas } = pane;
  if (!atlas.named) return [];
  const rank = pane.order?.rank ?? (() => 0);
  const allowed = (point: number): boolean => kind === null || atlas.kindOf(point).name === kind;
  return nameIndex(atlas)
    .search(text, MOST, allowed, rank)
    .map(({ point }) => ({
      mark: pointSwatch(pane, point),
      text: atlas.label(point),
      note: atlas.kindOf(point).name,
      choose: () => choose(point),
    }));
}

/** Look at a point: select it, bring it into view, and show its kind if it was hidden. */
export function goTo(explorer: Explorer, point: number): void {
  const { atlas, view } = mainPane(explorer);
  const { hiddenKinds } = explorer.store.view;
  const kind = atlas.kindOf(point).name;
  explorer.store.set({
    focus: atlas.key(point),
    ...(hiddenKinds.includes(kind) ? { hiddenKinds: hiddenKinds.filter((name) => name !== kind) } : {}),
  });
  view.reveal(point);
}
