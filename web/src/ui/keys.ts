/** Keys of the whole page, and the dialog that lists them. */

import type { Completion } from "./completion";
import { iconButton } from "./controls";
import { element } from "./dom";
import { mainPane, type Explorer } from "./explorer";

const LIST: readonly (readonly [string, string])[] = [
  ["/", "search"],
  ["arrows", "move the map (when it has the focus)"],
  ["+  −  0", "zoom in, zoom out, show all"],
  ["V  B  L", "drag to move, select by box, select by lasso"],
  ["Shift + drag", "select by a box at any time"],
  ["Enter", "look at the point nearest to the middle"],
  ["N", "look at the nearest neighbour of the thing looked at"],
  ["Tab, arrows", "reach a cohort’s handle, and move it (Shift: finely)"],
  ["Esc", "close, clear the selection"],
  ["?", "this list"],
];

/** Where keys are written, or chosen by, rather than meant for the page. */
const WRITTEN_IN = "input:not([type=checkbox], [type=range]), select, textarea, dialog *";

const STEP = 60;
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

export function helpDialog(): HTMLDialogElement {
  const rows = LIST.flatMap(([keys, meaning]) => [
    element("dt", {}, ...keys.split("  ").map((key) => element("kbd", {}, key))),
    element("dd", {}, meaning),
  ]);
  const dialog = element(
    "dialog",
    { class: "help", "aria-label": "Keys and hints" },
    element("header", {}, element("h2", {}, "Keys"), iconButton("close", "Close", () => dialog.close())),
    element("dl", {}, ...rows),
    element("p", { class: "quiet" }, "The address of the page always holds the view: copy it to show the same again."),
  );
  return dialog;
}

/** Listen to keys that no control wants for itself. */
export function listenToKeys(explorer: Explorer, search: Completion, help: HTMLDialogElement): void {
  const { store, panes } = explorer;
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches(WRITTEN_IN)) return;
    if (event.key === "Escape") escape(explorer);
    else if (event.key === "/") search.input.focus();
    else if (event.key === "?") help.showModal();
    else if (event.key === "+" || event.key === "=") panes.forEach(({ view }) => view.zoomBy(1.8));
    else if (event.key === "-") panes.forEach(({ view }) => view.zoomBy(1 / 1.8));
    else if (event.key === "0") panes.forEach(({ view }) => view.fit());
    else if (event.key === "v") store.set({ tool: "pan" });
    else if (event.key === "b") store.set({ tool: "box" });
    else if (event.key === "l") store.set({ tool: "lasso" });
    else if (event.key === "n") document.querySelector<HTMLButtonElement>(".detail .things .thing")?.click();
    else if (!onMap(explorer, event)) return;
    event.preventDefault();
  });
}

/** Keys that count only while a map has the focus. */
function onMap({ panes, store }: Explorer, event: KeyboardEvent): boolean {
  const pane = panes.find(({ view }) => view.surface === event.target);
  if (pane === undefined) return false;
  const { view, atlas } = pane;
  const way = ARROWS[event.key];
  if (way !== undefined) view.panBy(...way);
  else if (event.key === "Enter") {
    const { width, height } = view.size;
    const point = view.pointAt(width / 2, height / 2, Math.hypot(width, height) / 2);
    if (point >= 0) store.set({ focus: atlas.key(point) });
  } else return false;
  return true;
}

/** Close the most recent thing that can be closed. */
function escape(explorer: Explorer): void {
  const { view } = explorer.store;
  if (view.focus !== null) explorer.store.set({ focus: null });
  else if (view.region !== null) explorer.store.set({ region: null });
  else if (view.tool !== "pan") explorer.store.set({ tool: "pan" });
  else mainPane(explorer).view.surface.focus();
}
