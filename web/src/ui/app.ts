/** The page put together. */

import type { Atlas } from "../data/atlas";
import type { Manifest } from "../data/manifest";
import { kindColors } from "../look/coloring";
import { DARK, LIGHT, type Theme } from "../look/palette";
import { followAddress } from "../state/address";
import { fromHash } from "../state/hash";
import { Store } from "../state/store";
import { FIRST_VIEW, placeOf, type Place, type View } from "../state/view";
import type { Box } from "../view/labels";
import { MapView } from "../view/map_view";
import { Appearance } from "./appearance";
import { element } from "./dom";
import type { Explorer, Pane } from "./explorer";
import { header } from "./header";
import { helpDialog, listenToKeys } from "./keys";
import { lookPanel } from "./look_panel";
import { Messages } from "./messages";
import { searchBox } from "./search_box";
import { sidePanel } from "./side_panel";
import { Tooltip } from "./tooltip";
import { tools } from "./tools";

/** Show one map, or two side by side. */
export async function startExplorer(root: HTMLElement, atlases: readonly Atlas[]): Promise<void> {
  const start: View = { ...FIRST_VIEW, ...firstChoices(atlases[0]) };
  const store = new Store({ ...start, ...fromHash(window.location.hash) });
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = (): Theme => {
    const { theme: chosen } = store.view;
    return chosen === "dark" || (chosen === "auto" && prefersDark.matches) ? DARK : LIGHT;
  };
  const dress = (): void => void (document.documentElement.dataset["theme"] = theme().name);
  dress();
  store.onChange((_, changed) => changed("theme") && dress());

  const maps = element("main", { class: "maps" });
  const messages = new Messages();
  const listeners = { look: [] as (() => void)[], selection: [] as (() => void)[] };
  const panes: Pane[] = [];
  const explorer: Explorer = {
    store,
    panes,
    theme,
    say: (text) => messages.say(text),
    announce: (text) => messages.announce(text),
    complain: (error) => messages.complain(error),
    placesChanged: () => store.view.region !== null && appearance.select(),
    onLook: (listener) => void listeners.look.push(listener),
    onSelection: (listener) => void listeners.selection.push(listener),
  };
  root.replaceChildren(maps, messages.root);
  atlases.forEach((atlas, number) => panes.push(makePane(explorer, atlas, number, maps, atlases.length > 1)));

  const appearance = new Appearance(store, panes, theme, {
    look: () => listeners.look.forEach((listener) => listener()),
    selection: () => listeners.selection.forEach((listener) => listener()),
    complain: (error) => messages.complain(error),
  });
  const side = sidePanel(explorer);
  const search = searchBox(explorer);
  const help = helpDialog();
  const floating = tools(explorer);
  maps.append(floating);
  for (const { view } of panes) {
    const over = [floating, ...view.host.querySelectorAll<HTMLElement>(".map-note, .map-title")];
    view.taken = () => over.map((part) => boxOver(view.host, part));
  }
  root.replaceChildren(
    header(explorer, search, () => help.showModal()),
    lookPanel(explorer),
    maps,
    side.root,
    messages.root,
    help,
  );
  root.classList.add("open");
  for (const { view, number } of panes) view.start(store.view.places[number] ?? null);
  appearance.firstLook();
  prefersDark.addEventListener("change", () => {
    dress();
    void appearance.everything();
  });
  listenToKeys(explorer, search, help);
  followAddress(store, start);
  await nextFrame();
  performance.mark("first-picture");
  await Promise.all(atlases.map((atlas) => atlas.loadNames()));
  for (const { view } of panes) view.prepare();
  await Promise.all([appearance.recolor(), appearance.resize(), appearance.label(), appearance.link()]);
  await side.start();
  if (store.view.region !== null) appearance.select();
  await nextFrame();
  document.documentElement.dataset["ready"] = "yes";
}

/** Begin with what tells most: cohorts in their colours, links drawn where they are few. */
function firstChoices({ manifest }: Atlas): Partial<View> {
  const { cohorts, network, relations } = manifest;
  const field = manifest.fields.find(({ name, type }) => name === "cohort" && type === "category");
  const links = relations.find(({ name }) => name === network?.links);
  return {
    color: cohorts !== null && field !== undefined ? field.name : null,
    links: links !== undefined && links.count <= 20_000 ? [links.name] : [],
  };
}

function makePane(explorer: Explorer, atlas: Atlas, number: number, maps: HTMLElement, several: boolean): Pane {
  const { store } = explorer;
  const { manifest } = atlas;
  const host = element("div", { class: "map" });
  const tooltip = new Tooltip();
  let known: Place | null = store.view.places[number] ?? null;
  maps.append(host);
  const view = new MapView(
    host,
    atlas,
    {
      camera: (camera, size) => {
        const places: (Place | null)[] = [...store.view.places];
        places[number] = known = view.whole ? null : placeOf(camera, size);
        store.set({ places });
      },
      hover: (point, sx, sy) => {
        tooltip.show(pane, point, sx, sy);
        for (const other of explorer.panes) if (other !== pane) pointAt(other, point < 0 ? "" : atlas.key(point));
      },
      pick: (point) => store.set({ focus: point < 0 ? null : atlas.key(point) }),
      region: (region) => store.set({ region, regionPane: number, focus: null, tool: "pan" }),
    },
    { name: `Map: ${manifest.title}`, handles: number === 0 },
  );
  host.append(tooltip.root);
  host.append(note(caption(manifest)));
  if (several) host.append(element("p", { class: "map-title" }, manifest.title));
  const pane: Pane = {
    number,
    atlas,
    view,
    key: { type: "kinds", colors: kindColors(atlas.kinds, explorer.theme()) },
    field: null,
    order: null,
    selected: [],
  };
  store.onChange((current, changed) => {
    view.gestures.tool = current.tool;
    view.surface.dataset["tool"] = current.tool;
    const place = current.places[number] ?? null;
    if (changed("places") && place !== known) view.goTo(place);
    known = place;
  });
  return pane;
}

/** Mark on the other map the thing under the pointer. */
function pointAt({ atlas, view }: Pane, key: string): void {
  const point = key === "" ? -1 : atlas.find(key);
  view.setMarks("other", point < 0 ? null : { rings: [{ point, strong: true }], names: [point] });
}

/** Say what the two axes of the picture are, or how it was laid out. */
function caption({ summary: { layout, n_components: dimensions } }: Manifest): string {
  const axes = (layout.axes ?? []).filter((axis) => axis !== "" && (dimensions > 2 || axis.includes("%")));
  return [layout.note, axes.join(" × ")].filter((part) => part !== "").join(" · ");
}

function note(text: string): HTMLElement {
  return element("p", { class: "map-note", hidden: text === "" }, text);
}

/** The room that something over the map takes from its names. */
function boxOver(host: HTMLElement, over: HTMLElement): Box {
  const [own, box] = [host.getBoundingClientRect(), over.getBoundingClientRect()];
  return { x0: box.left - own.left, y0: box.top - own.top, x1: box.right - own.left, y1: box.bottom - own.top };
}

function nextFrame(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}
