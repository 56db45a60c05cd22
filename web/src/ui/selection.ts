/** What a box or lasso holds: a table, and the same as a file. */

import { csv } from "../save/csv";
import { downloadText, fileName } from "../save/download";
import { tableOf, valueOf } from "../save/table";
import { iconButton, textButton } from "./controls";
import { element } from "./dom";
import { mainPane, pointSwatch, type Explorer, type Pane } from "./explorer";
import { counted, shortNumber } from "./format";
import { goTo } from "./search_box";

const MOST = 200;

export function selectionPanel(explorer: Explorer): HTMLElement {
  const pane = explorer.panes[explorer.store.view.regionPane] ?? mainPane(explorer);
  const { atlas, field, order } = pane;
  const rank = order?.rank ?? (() => 0);
  const points = [...pane.selected].sort((a, b) => rank(b) - rank(a) || a - b);
  const counts = atlas.kinds
    .map(({ name, start, count }) => ({ name, held: points.filter((p) => p >= start && p < start + count).length }))
    .filter(({ held }) => held > 0)
    .map(({ name, held }) => counted(held, name));
  const shown = points.slice(0, MOST);
  const rows = shown.map((point) => {
    const value = field === null ? null : valueOf(field, point);
    return element(
      "tr",
      {},
      element(
        "td",
        {},
        element(
          "button",
          { type: "button", class: "thing", click: () => goTo(explorer, point, pane) },
          pointSwatch(pane, point),
          element("span", { class: "name" }, atlas.label(point)),
        ),
      ),
      element("td", {}, field === null ? atlas.kindOf(point).name : typeof value === "number" ? shortNumber(value) : (value ?? "–")),
    );
  });
  return element(
    "section",
    { class: "selection", "aria-label": "Selection" },
    element(
      "header",
      {},
      element("h2", {}, `${shortNumber(points.length)} selected`),
      element("div", { class: "actions" }, iconButton("close", "Clear the selection (Esc)", () => clear(explorer))),
    ),
    element("p", { class: "quiet" }, points.length === 0 ? "Nothing lies in this region." : counts.join(", ")),
    points.length > 0 && textButton("Download as CSV", () => void save(explorer, pane, points), "wide"),
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "name"), element("th", { scope: "col" }, field?.name ?? "kind"))),
      element("tbody", {}, ...rows),
    ),
    points.length > MOST && element("p", { class: "quiet" }, `The first ${MOST} are listed; the file has all.`),
  );
}

export function clear(explorer: Explorer): void {
  explorer.store.set({ region: null });
}

async function save(explorer: Explorer, { atlas }: Pane, points: readonly number[]): Promise<void> {
  try {
    const { header, rows } = await tableOf(atlas, points);
    downloadText(fileName(atlas.manifest.title, "-selection.csv"), csv(header, rows), "text/csv");
    explorer.say(`${shortNumber(points.length)} rows saved.`);
  } catch (error) {
    explorer.complain(error);
  }
}
