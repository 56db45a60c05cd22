/** The panel on the right: the mode of the map, then the thing looked at, the selection, or what the map is. */

import { cohortMode } from "../modes/cohorts";
import { knowledgeMode } from "../modes/knowledge";
import { linkSwitches, networkMode } from "../modes/network";
import { projectionMode } from "../modes/projection";
import { about } from "./about";
import { section, textButton } from "./controls";
import { detail } from "./detail";
import { element, refill, type Child } from "./dom";
import { mainPane, type Explorer } from "./explorer";
import { shortNumber } from "./format";
import { selectionPanel } from "./selection";

export function sidePanel(explorer: Explorer): { readonly root: HTMLElement; readonly start: () => Promise<void> } {
  const modes = element("div", { class: "modes" });
  const main = element("div", { class: "main" });
  const root = element("aside", { class: "panel side", "aria-label": "What is known" }, modes, main);
  const { store } = explorer;
  const show = (): void => void showMain(explorer, main, root).catch((error: unknown) => explorer.complain(error));
  store.onChange((_, changed) => changed("focus") && show());
  explorer.onSelection(show);
  return {
    root,
    start: async () => {
      show();
      refill(modes, ...(await modePanels(explorer)));
    },
  };
}

async function modePanels(explorer: Explorer): Promise<Child[]> {
  const { cohorts, knowledge, network, projection, relations } = mainPane(explorer).atlas.manifest;
  const drawn = relations.map(({ name }) => name).filter((name) => name !== network?.links);
  return [
    cohorts !== null && (await cohortMode(explorer)),
    knowledge !== null && knowledgeMode(explorer),
    network !== null && networkMode(explorer),
    projection !== null && (await projectionMode(explorer)),
    knowledge === null && drawn.length > 0 && section("Relations", "mode", ...linkSwitches(explorer, drawn)),
  ];
}

/** Show what is looked at; newer questions win over slower answers. */
async function showMain(explorer: Explorer, target: HTMLElement, scroller: HTMLElement): Promise<void> {
  const { store, panes } = explorer;
  const { focus } = store.view;
  const pane = panes.find(({ atlas }) => focus !== null && atlas.find(focus) >= 0) ?? mainPane(explorer);
  const point = focus === null ? -1 : pane.atlas.find(focus);
  for (const { view, atlas } of panes) {
    const here = focus === null ? -1 : atlas.find(focus);
    view.setMarks("focus", here < 0 ? null : { rings: [{ point: here, strong: true }], names: [here] });
  }
  if (point >= 0) {
    const shown = await detail(explorer, pane, point);
    if (store.view.focus !== focus) return;
    const count = pane.selected.length;
    const back =
      count > 0 && textButton(`‹ ${shortNumber(count)} selected`, () => store.set({ focus: null }), "back");
    refill(target, back, shown);
    explorer.announce(`${pane.atlas.kindOf(point).name} ${pane.atlas.label(point)}`);
    if (shown.offsetTop > scroller.scrollTop + scroller.clientHeight - 120) shown.scrollIntoView({ block: "nearest" });
  } else if (store.view.region !== null) refill(target, selectionPanel(explorer));
  else refill(target, ...panes.map(({ atlas }) => about(atlas.manifest, panes.length > 1)));
}
