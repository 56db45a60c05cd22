/** The page's address follows the view, and a changed address changes it. */

import { fromHash, toHash } from "./hash";
import type { Store } from "./store";
import type { View } from "./view";

const PAUSE = 250;

/** Keep address and view alike; ``start`` is what an address that says nothing means. Pages in a frame may forbid it; they then do without. */
export function followAddress(store: Store, start: View): void {
  let timer = 0;
  let written = window.location.hash.slice(1);
  store.onChange(() => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      written = toHash(store.view, start);
      try {
        window.history.replaceState(null, "", `#${written}`);
      } catch {
        // a page without an address of its own has no link to keep
      }
    }, PAUSE);
  });
  window.addEventListener("hashchange", () => {
    const hash = window.location.hash.slice(1);
    if (hash !== written) store.set({ ...start, tool: store.view.tool, ...fromHash(hash) });
    written = hash;
  });
}
