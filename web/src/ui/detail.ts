/** What is known of one thing: its fields, what is near it, and its strongest relations, drawn as lines. */

import type { Atlas } from "../data/atlas";
import { MISSING } from "../data/fields";
import { degree, strongest, type Partner } from "../data/relations";
import { nearestOfKinds, readCoordinates, type Coordinates, type Near } from "../geometry/nearest";
import type { Line, Marks } from "../view/marks";
import { iconButton } from "./controls";
import { element, type Child } from "./dom";
import { mainPane, pointSwatch, type Explorer, type Pane } from "./explorer";
import { counted, shortNumber } from "./format";
import { goTo } from "./search_box";

const NEAR = 6;
const STRONGEST = 8;

/** Tell all about a point, and mark on the map what belongs to it. */
export async function detail(explorer: Explorer, pane: Pane, point: number): Promise<HTMLElement> {
  const { atlas } = pane;
  const [fields, near, related] = await Promise.all([
    fieldRows(atlas, point),
    neighbours(atlas, point),
    relations(atlas, point),
  ]);
  markFocus(explorer, pane, point, near, related);
  const kind = atlas.kindOf(point).name;
  const [label, id] = [atlas.label(point), atlas.ids[point]];
  return element(
    "section",
    { class: "detail", "aria-label": `${kind} ${label}` },
    element(
      "header",
      {},
      element("p", { class: "kind" }, pointSwatch(pane, point), kind),
      element(
        "div",
        { class: "actions" },
        iconButton("target", "Bring to the middle", () => {
          const [x, y] = pane.view.place(point);
          pane.view.flyTo({ x, y, k: pane.view.camera.k });
        }),
        iconButton("close", "Close (Esc)", () => explorer.store.set({ focus: null })),
      ),
    ),
    element("h2", {}, label),
    id !== label && element("p", { class: "quiet id" }, id),
    fields.length > 0 && element("dl", { class: "facts" }, ...fields.flat()),
    Object.keys(explorer.store.view.moved).length > 0 &&
      element("p", { class: "quiet" }, "Distances are those of the map as it was made, before cohorts were moved."),
    ...nearLists(explorer, pane, near),
    ...related.map((found) => partnerList(explorer, pane, found)),
  );
}

// ---------------------------------------------------------------------- what is known

async function fieldRows(atlas: Atlas, point: number): Promise<HTMLElement[][]> {
  const kind = atlas.kindOf(point).name;
  const names = atlas.fieldNames.filter((name) =>
    atlas.manifest.fields.some((entry) => entry.name === name && entry.kinds.includes(kind)),
  );
  const fields = await Promise.all(names.map((name) => atlas.field(name)));
  return fields.flatMap((field) => {
    let text: string | null = null;
    if (field.type === "number") text = Number.isNaN(field.values[point]) ? null : shortNumber(field.values[point]);
    else if (field.type === "category") {
      text = field.codes[point] === MISSING ? null : field.categories[field.codes[point]];
    } else text = field.values[point];
    return text === null || text === "" ? [] : [[element("dt", {}, field.name), element("dd", {}, text)]];
  });
}

interface Neighbours {
  readonly kinds: ReadonlyMap<string, readonly Near[]>;
  readonly note: string;
}

const loaded = new WeakMap<Atlas, Promise<Coordinates>>();

async function neighbours(atlas: Atlas, point: number): Promise<Neighbours> {
  const { coordinates, neighbors } = atlas.manifest;
  if (coordinates !== null && neighbors === "page") {
    const read =
      loaded.get(atlas) ??
      atlas.column(coordinates.column).then((column) => readCoordinates(coordinates, column as Float32Array));
    loaded.set(atlas, read);
    return { kinds: nearestOfKinds(await read, atlas.kinds, point, NEAR), note: "" };
  }
  if (neighbors !== "server" || atlas.source.offline !== "") {
    return { kinds: new Map(), note: atlas.source.offline || "This map does not carry its neighbours." };
  }
  const answer = await atlas.source.ask<{ kinds: Record<string, [number, number][]> }>("neighbors", { point, k: NEAR });
  const kinds = new Map(
    Object.entries(answer.kinds).map(([kind, pairs]) => [
      kind,
      pairs.map(([other, distance]) => ({ point: other, distance })),
    ]),
  );
  return { kinds, note: "" };
}

interface Related {
  readonly name: string;
  readonly total: number;
  readonly partners: readonly Partner[];
}

async function relations(atlas: Atlas, point: number): Promise<Related[]> {
  const kind = atlas.kindOf(point).name;
  const entries = atlas.manifest.relations.filter(({ from, to }) => from === kind || to === kind);
  const found = await Promise.all(
    entries.map(async ({ name }) => {
      const relation = await atlas.relation(name);
      return { name, total: degree(relation, point), partners: strongest(relation, point, STRONGEST) };
    }),
  );
  return found.filter(({ partners }) => partners.length > 0);
}

// ---------------------------------------------------------------------- on the map

/** Mark the point and what belongs to it, on its own map and, as far as they are there, on the other. */
function markFocus(explorer: Explorer, pane: Pane, point: number, near: Neighbours, related: readonly Related[]): void {
  const lines = related.flatMap(({ partners }): Line[] => {
    const most = Math.max(...partners.map(({ weight }) => Math.abs(weight))) || 1;
    return partners.map(({ point: other, weight }) => ({
      from: point,
      to: other,
      strength: Math.abs(weight) / most,
      dashed: false,
    }));
  });
  const nearest = [...near.kinds.values()].flatMap((list) => list.slice(0, NEAR).map(({ point: other }) => other));
  const joined = lines.map(({ to }) => to);
  const marks: Marks = {
    rings: [
      ...nearest.map((other) => ({ point: other, strong: false })),
      { point, strong: true },
    ],
    lines,
    names: [...new Set([point, ...nearest, ...joined])],
    pales: true,
  };
  pane.view.setMarks("focus", marks);
  for (const other of explorer.panes) if (other !== pane) other.view.setMarks("focus", elsewhere(marks, pane, other));
}

/** The rings and names of marks on another map, as far as it has the things. */
function elsewhere({ rings = [], names = [] }: Marks, { atlas }: Pane, other: Pane): Marks {
  const there = (point: number): number => other.atlas.find(atlas.key(point));
  return {
    rings: rings.map(({ point, strong }) => ({ point: there(point), strong })).filter(({ point }) => point >= 0),
    names: names.map(there).filter((point) => point >= 0),
    pales: true,
  };
}

// ---------------------------------------------------------------------- lists

function nearLists(explorer: Explorer, pane: Pane, { kinds, note }: Neighbours): Child[] {
  if (note !== "") return [element("p", { class: "quiet" }, note)];
  return [...kinds].flatMap(([kind, list]) => {
    if (list.length === 0) return [];
    const farthest = list[list.length - 1].distance || 1;
    const rows = list.map(({ point, distance }) =>
      thingRow(explorer, point, shortNumber(distance), 1 - (0.85 * distance) / farthest, pane),
    );
    return [element("h3", {}, `Nearest ${kind}`), element("ol", { class: "things" }, ...rows)];
  });
}

function partnerList(explorer: Explorer, pane: Pane, { name, total, partners }: Related): HTMLElement {
  const most = Math.max(...partners.map(({ weight }) => Math.abs(weight))) || 1;
  const entry = pane.atlas.manifest.relations.find((relation) => relation.name === name)!;
  const arrow = (outgoing: boolean): string => (entry.directed && entry.from === entry.to ? (outgoing ? "→ " : "← ") : "");
  const rows = partners.map(({ point, weight, outgoing }) =>
    thingRow(explorer, point, `${arrow(outgoing)}${shortNumber(weight)}`, Math.abs(weight) / most, pane),
  );
  const more = total > partners.length ? `, the strongest of ${counted(total, "pair")}` : "";
  return element(
    "div",
    {},
    element("h3", {}, name, element("span", { class: "quiet" }, more)),
    element("ol", { class: "things" }, ...rows),
  );
}

/** One thing in a list: a button that looks at it, a figure, and a bar that says how much. */
export function thingRow(
  explorer: Explorer,
  point: number,
  value: string,
  share: number,
  pane: Pane = mainPane(explorer),
): HTMLElement {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  bar.style.transform = `scaleX(${Math.min(Math.max(share, 0.02), 1)})`;
  return element(
    "li",
    {},
    element(
      "button",
      {
        type: "button",
        class: "thing",
        click: () => goTo(explorer, point, pane),
        pointerenter: () => pane.view.setMarks("pointed", { rings: [{ point, strong: true }], names: [point] }),
        pointerleave: () => pane.view.setMarks("pointed", null),
      },
      bar,
      pointSwatch(pane, point),
      element("span", { class: "name" }, pane.atlas.label(point)),
      element("span", { class: "value" }, value),
    ),
  );
}
