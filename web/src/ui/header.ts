/** The bar at the top: what map this is, search, and what can be saved. */

import { download, downloadText, fileName } from "../save/download";
import { csv } from "../save/csv";
import { keysOf, png, type Key } from "../save/picture";
import { svg } from "../save/svg";
import { tableOf } from "../save/table";
import type { ThemeChoice } from "../state/view";
import type { Completion } from "./completion";
import { iconButton } from "./controls";
import { element, icon, refill } from "./dom";
import { mainPane, type Explorer, type Pane } from "./explorer";
import { counted } from "./format";
import { ICONS } from "./icons";
import { menu } from "./menu";

const NEXT_THEME: Readonly<Record<ThemeChoice, ThemeChoice>> = { auto: "light", light: "dark", dark: "auto" };
const THEME_ICON = { auto: "auto", light: "sun", dark: "moon" } as const;
const THEME_TEXT = { auto: "as the system", light: "light", dark: "dark" } as const;

export function header(explorer: Explorer, search: Completion, help: () => void): HTMLElement {
  const { manifest } = mainPane(explorer).atlas;
  const kinds = manifest.kinds.map(({ name, count }) => counted(count, name));
  return element(
    "header",
    { class: "bar" },
    element(
      "div",
      { class: "title" },
      element("h1", { title: manifest.title }, manifest.title),
      element("p", { class: "quiet" }, kinds.join(" · ")),
    ),
    search.root,
    element(
      "div",
      { class: "tools" },
      saveMenu(explorer),
      iconButton("link", "Copy a link to this view", () => void copyLink(explorer)),
      themeButton(explorer),
      iconButton("help", "Keys and hints (?)", help),
    ),
  );
}

function themeButton({ store }: Explorer): HTMLButtonElement {
  const button = iconButton("auto", "", () => store.set({ theme: NEXT_THEME[store.view.theme] }));
  const show = (): void => {
    const { theme } = store.view;
    const text = `Colours of the page: ${THEME_TEXT[theme]}`;
    button.setAttribute("aria-label", text);
    button.title = text;
    refill(button, icon(...ICONS[THEME_ICON[theme]]));
  };
  show();
  store.onChange((_, changed) => changed("theme") && show());
  return button;
}

async function copyLink(explorer: Explorer): Promise<void> {
  try {
    await navigator.clipboard.writeText(window.location.href);
    explorer.say("Link copied: it shows this view again.");
  } catch {
    explorer.say("The browser did not allow copying; the link is in the address bar.");
  }
}

// ---------------------------------------------------------------------- saving

function saveMenu(explorer: Explorer): HTMLElement {
  const attempt = (task: () => Promise<void>) => () => void task().catch((error: unknown) => explorer.complain(error));
  return menu("save", "Save", [
    { text: "Picture", note: "PNG", choose: attempt(() => savePng(explorer)) },
    { text: "Drawing", note: "SVG", choose: attempt(() => saveSvg(explorer)) },
    { text: "All shown points", note: "CSV", choose: attempt(() => saveTable(explorer)) },
  ]);
}

/** The legend of a map, and a line that says what it is. */
function around(explorer: Explorer, pane: Pane): { keys: Key[]; note: string } {
  const { hiddenKinds, hiddenClasses } = explorer.store.view;
  const { summary } = pane.atlas.manifest;
  const note = [summary.model, summary.layout.note || summary.layout.name].filter(Boolean).join(" · ");
  return { keys: keysOf(pane, hiddenKinds, hiddenClasses, explorer.theme()), note };
}

async function savePng(explorer: Explorer): Promise<void> {
  for (const pane of explorer.panes) {
    const { keys, note } = around(explorer, pane);
    download(fileName(pane.atlas.manifest.title, ".png"), await png(pane, keys, note));
  }
  explorer.say("Picture saved.");
}

async function saveSvg(explorer: Explorer): Promise<void> {
  for (const pane of explorer.panes) {
    const { keys, note } = around(explorer, pane);
    downloadText(fileName(pane.atlas.manifest.title, ".svg"), svg(pane, keys, note), "image/svg+xml");
  }
  explorer.say("Drawing saved.");
}

async function saveTable(explorer: Explorer): Promise<void> {
  const { atlas, view } = mainPane(explorer);
  const points = Array.from({ length: atlas.n }, (_, i) => i).filter((point) => view.layers.visible[point] === 1);
  const { header: names, rows } = await tableOf(atlas, points);
  downloadText(fileName(atlas.manifest.title, ".csv"), csv(names, rows), "text/csv");
  explorer.say(`${counted(points.length, "row")} saved.`);
}
