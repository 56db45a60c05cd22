/** The buttons over the map: what dragging does, and how near one is. */

import type { Tool } from "../state/view";
import { iconButton } from "./controls";
import { element } from "./dom";
import type { Explorer } from "./explorer";

const TOOLS: readonly { readonly tool: Tool; readonly label: string }[] = [
  { tool: "pan", label: "Move the map (V)" },
  { tool: "box", label: "Select by a box (B)" },
  { tool: "lasso", label: "Select by a lasso (L)" },
];

export function tools(explorer: Explorer): HTMLElement {
  const { store, panes } = explorer;
  const buttons = TOOLS.map(({ tool, label }) => iconButton(tool, label, () => store.set({ tool })));
  const show = (): void =>
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(TOOLS[i].tool === store.view.tool)));
  show();
  store.onChange((_, changed) => changed("tool") && show());
  const each = (act: (pane: (typeof panes)[number]) => void) => () => panes.forEach(act);
  return element(
    "div",
    { class: "map-tools" },
    element("div", { class: "group", role: "group", "aria-label": "What dragging does" }, ...buttons),
    element(
      "div",
      { class: "group", role: "group", "aria-label": "Zoom" },
      iconButton("plus", "Zoom in (+)", each(({ view }) => view.zoomBy(1.8))),
      iconButton("minus", "Zoom out (−)", each(({ view }) => view.zoomBy(1 / 1.8))),
      iconButton("fit", "Show all (0)", each(({ view }) => view.fit())),
    ),
  );
}
