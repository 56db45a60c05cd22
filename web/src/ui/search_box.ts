/** The search box of the page, across all kinds. */

import { completion, type Completion, type Suggestion } from "./completion";
import { mainPane, nameIndex, pointSwatch, type Explorer, type Pane } from "./explorer";

const MOST = 12;

export function searchBox(explorer: Explorer): Completion {
  const pane = mainPane(explorer);
  const kinds = pane.atlas.kinds.map(({ name }) => name);
  const find = (text: string): Suggestion[] => {
    const found = explorer.panes.flatMap((where) =>
      pointSuggestions(explorer, text, null, (point) => goTo(explorer, point, where), where).filter(
        ({ key }) => where === pane || pane.atlas.find(key) < 0,
      ),
    );
    return found.slice(0, MOST);
  };
  return completion("Search the map", `Search ${kinds.slice(0, 3).join(", ")} …`, find, "Nothing on this map is called so.");
}

interface PointSuggestion extends Suggestion {
  readonly key: string;
}

/** Suggest points whose names hold a text, of one kind or of all. */
export function pointSuggestions(
  explorer: Explorer,
  text: string,
  kind: string | null,
  choose: (point: number) => void,
  pane: Pane = mainPane(explorer),
): PointSuggestion[] {
  const { atlas } = pane;
  if (!atlas.named) return [];
  const rank = pane.order?.rank ?? (() => 0);
  const allowed = (point: number): boolean => kind === null || atlas.kindOf(point).name === kind;
  return nameIndex(atlas)
    .search(text, MOST, allowed, rank)
    .map(({ point }) => ({
      key: atlas.key(point),
      mark: pointSwatch(pane, point),
      text: atlas.label(point),
      note: atlas.kindOf(point).name,
      choose: () => choose(point),
    }));
}

/** Look at a point: select it, bring it into view on every map that has it, and show its kind if it was hidden. */
export function goTo(explorer: Explorer, point: number, { atlas }: Pane = mainPane(explorer)): void {
  const { hiddenKinds } = explorer.store.view;
  const kind = atlas.kindOf(point).name;
  const key = atlas.key(point);
  explorer.store.set({
    focus: key,
    ...(hiddenKinds.includes(kind) ? { hiddenKinds: hiddenKinds.filter((name) => name !== kind) } : {}),
  });
  for (const pane of explorer.panes) {
    const there = pane.atlas.find(key);
    if (there >= 0) pane.view.reveal(there);
  }
}
