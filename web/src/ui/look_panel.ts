/** The panel on the left: colour and size by any field, the legend that filters, and names. */

import { OTHERS, WITHOUT, type ColorKey } from "../look/coloring";
import { hex, shades, type Theme } from "../look/palette";
import { markerPath } from "../look/markers";
import { usualDensity } from "./appearance";
import { chooser, section, slider, type Option } from "./controls";
import { element, refill, swatch, type Child } from "./dom";
import { kindColor, kindSwatch, mainPane, type Explorer } from "./explorer";
import { shortNumber } from "./format";

export function lookPanel(explorer: Explorer): HTMLElement {
  const legend = element("div", { class: "legend" });
  explorer.onLook(() => refill(legend, kindLegend(explorer), colorLegend(explorer)));
  return element(
    "aside",
    { class: "panel look", "aria-label": "How the map looks" },
    section("Colour and size", "choices", ...choices(explorer)),
    section("Legend", "legend-part", legend),
    section("Names", "names", ...nameChoices(explorer)),
  );
}

function choices({ store, panes }: Explorer): HTMLElement[] {
  const { atlas } = panes[0];
  const options = (first: string, names: readonly string[]): Option[] => [
    { value: "", text: first },
    ...names.map((name) => ({ value: name, text: name })),
  ];
  const { color, size } = store.view;
  const colors = chooser("Colour by", options("kind", atlas.namesOf("category", "number")), color ?? "", (value) =>
    store.set({ color: value || null, hiddenClasses: [] }),
  );
  const sizes = chooser("Size by", options("one size", atlas.namesOf("number")), size ?? "", (value) =>
    store.set({ size: value || null }),
  );
  store.onChange((view) => {
    colors.select.value = view.color ?? "";
    sizes.select.value = view.size ?? "";
  });
  return [colors.root, sizes.root];
}

// ---------------------------------------------------------------------- legend

interface Entry {
  readonly name: string;
  readonly text: string;
  readonly count: number;
  readonly mark: Child;
}

/** A list of entries, each a switch, with a button that shows it alone. */
function switches(
  label: string,
  entries: readonly Entry[],
  hidden: readonly string[],
  set: (hidden: readonly string[]) => void,
): HTMLElement {
  const names = entries.map(({ name }) => name);
  const rows = entries.map(({ name, text, count, mark }) => {
    const shown = !hidden.includes(name);
    const toggle = (): void => set(shown ? [...hidden, name] : hidden.filter((other) => other !== name));
    const alone = names.every((other) => (other === name) !== hidden.includes(other));
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: "switch", "aria-pressed": String(shown), title: text, click: toggle },
        mark,
        element("span", { class: "name" }, text),
        element("span", { class: "count" }, shortNumber(count)),
      ),
      entries.length > 1 &&
        element(
          "button",
          {
            type: "button",
            class: "only",
            "aria-label": alone ? "Show all" : `Show only ${text}`,
            click: () => set(alone ? [] : names.filter((other) => other !== name)),
          },
          alone ? "all" : "only",
        ),
    );
  });
  return element("ul", { class: "switches", "aria-label": label }, ...rows);
}

function kindLegend(explorer: Explorer): HTMLElement {
  const { store } = explorer;
  const entries = explorer.panes.flatMap((pane) =>
    pane.atlas.kinds.map(({ name, count }, number) => ({
      name,
      text: name,
      count,
      mark: kindSwatch(number, kindColor(pane, number, explorer.theme())),
    })),
  );
  const firsts = entries.filter(({ name }, i) => entries.findIndex((entry) => entry.name === name) === i);
  return switches("Kinds", firsts, store.view.hiddenKinds, (hiddenKinds) => store.set({ hiddenKinds }));
}

function colorLegend(explorer: Explorer): HTMLElement | null {
  const { store } = explorer;
  const { key } = mainPane(explorer);
  if (key.type === "kinds") return null;
  const title = element("h3", {}, key.field);
  if (key.type === "scale") return element("div", { class: "color-key" }, title, scaleKey(key, explorer.theme()));
  const list = switches(key.field, classEntries(key, explorer.theme()), store.view.hiddenClasses, (hiddenClasses) =>
    store.set({ hiddenClasses }),
  );
  return element("div", { class: "color-key" }, title, list);
}

function classEntries(key: ColorKey & { type: "classes" }, theme: Theme): Entry[] {
  const { names, counts, others, otherPoints, missing } = key.classes;
  const dot = (color: string): SVGSVGElement => swatch(markerPath("circle", 10, 10, 7), color);
  const entries: Entry[] = names.map((name, i) => ({
    name,
    text: name,
    count: counts[i],
    mark: dot(hex(key.colors[i])),
  }));
  const grey = theme.other;
  if (others > 0) entries.push({ name: OTHERS, text: `${others} more`, count: otherPoints, mark: dot(grey) });
  if (missing > 0) entries.push({ name: WITHOUT, text: `no ${key.field}`, count: missing, mark: dot(grey) });
  return entries;
}

function scaleKey({ scale, missing }: ColorKey & { type: "scale" }, theme: Theme): HTMLElement {
  const bar = element("div", { class: "ramp", role: "img", "aria-label": "Scale of colours, small to large" });
  const stops = shades(theme).filter((_, i) => i % 15 === 0);
  bar.style.backgroundImage = `linear-gradient(to right, ${stops.map(hex).join(", ")})`;
  return element(
    "div",
    { class: "scale" },
    bar,
    element("div", { class: "ends" }, element("span", {}, shortNumber(scale.low)), element("span", {}, shortNumber(scale.high))),
    missing && element("p", { class: "quiet" }, "Grey: no value."),
  );
}

// ---------------------------------------------------------------------- names

function nameChoices(explorer: Explorer): HTMLElement[] {
  const { store } = explorer;
  const { atlas } = mainPane(explorer);
  const numbers = atlas.namesOf("number");
  const handles = atlas.manifest.cohorts?.kind;
  const usual = atlas.manifest.importance.find((field) =>
    atlas.manifest.fields.some(({ name, kinds }) => name === field && kinds.some((kind) => kind !== handles)),
  );
  const options = [
    { value: "", text: usual === undefined ? "spread evenly" : `automatic (${usual})` },
    ...numbers.filter((name) => name !== usual).map((name) => ({ value: name, text: name })),
  ];
  const order = chooser("Most important by", options, store.view.order ?? "", (value) =>
    store.set({ order: value || null }),
  );
  const sliders = atlas.kinds
    .filter(({ name }) => name !== handles)
    .map((kind) => {
      const { name } = kind;
      const made = slider(name, `How many names of kind ${name}`, 0, (share) =>
        store.set({ density: { ...store.view.density, [name]: share } }),
      );
      const show = (): void =>
        void (made.input.value = String(store.view.density[name] ?? usualDensity(atlas, kind)));
      store.onChange((_, changed) => changed("density") && show());
      explorer.onLook(show);
      return made.root;
    });
  store.onChange((view) => (order.select.value = view.order ?? ""));
  return [order.root, element("div", { class: "sliders" }, ...sliders)];
}
