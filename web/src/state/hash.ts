/** The view as the end of the page's address, so that a link shows the same. */

import { FIRST_VIEW, type Place, type Question, type ThemeChoice, type View } from "./view";

const THEMES: readonly ThemeChoice[] = ["auto", "light", "dark"];

/** Write what differs from the view that the page starts with. */
export function toHash(view: View, start: View = FIRST_VIEW): string {
  const parts = new URLSearchParams();
  const put = (name: string, value: string | null | false): void => {
    if (value !== null && value !== false && value !== "") parts.set(name, value);
  };
  put("theme", view.theme !== start.theme && view.theme);
  if (view.color !== start.color) parts.set("color", view.color ?? "");
  put("size", view.size);
  put("order", view.order);
  put("kinds", list(view.hiddenKinds));
  put("classes", list(view.hiddenClasses));
  put("labels", pairs(view.density, (share) => number(share)));
  put("focus", view.focus);
  put("region", view.region && view.region.map(number).join(","));
  put("on", view.regionPane !== 0 && String(view.regionPane));
  view.places.forEach((place, pane) => put(`at${pane + 1}`, place && placeText(place)));
  put("moved", pairs(view.moved, ([x, y]) => `${number(x)},${number(y)}`));
  if (list(view.links) !== list(start.links)) parts.set("links", list(view.links));
  put("suggest", view.suggest && "1");
  put("ask", view.question && list([view.question.side, view.question.entity, view.question.relation]));
  put("row", view.row >= 0 && String(view.row));
  return parts.toString();
}

/** Read what an address says; what cannot be read is left as it was at first. */
export function fromHash(hash: string): Partial<View> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const found: { -readonly [name in keyof View]?: View[name] } = {};
  const theme = parts.get("theme") as ThemeChoice | null;
  if (theme !== null && THEMES.includes(theme)) found.theme = theme;
  for (const name of ["color", "size", "order", "focus"] as const) {
    const value = parts.get(name);
    if (value !== null) found[name] = value || null;
  }
  const lists = { kinds: "hiddenKinds", classes: "hiddenClasses", links: "links" } as const;
  for (const [name, key] of Object.entries(lists)) {
    const value = parts.get(name);
    if (value !== null) found[key as "links"] = unlist(value);
  }
  const density = unpairs(parts.get("labels"), 1);
  if (density !== null) found.density = Object.fromEntries(density.map(([name, [share]]) => [name, share]));
  const moved = unpairs(parts.get("moved"), 2);
  if (moved !== null) found.moved = Object.fromEntries(moved.map(([name, [x, y]]) => [name, [x, y] as const]));
  const region = numbers(parts.get("region"));
  if (region.length >= 6 && region.length % 2 === 0) found.region = region;
  if (parts.get("on") === "1") found.regionPane = 1;
  const places = [placeFrom(parts.get("at1")), placeFrom(parts.get("at2"))];
  if (places.some((place) => place !== null)) found.places = places;
  if (parts.get("suggest") === "1") found.suggest = true;
  const question = questionFrom(parts.get("ask"));
  if (question !== null) found.question = question;
  const row = Number(parts.get("row") ?? -1);
  if (Number.isInteger(row) && row >= 0) found.row = row;
  return found;
}

function number(value: number): string {
  return String(Number(value.toPrecision(7)));
}

function numbers(text: string | null): number[] {
  const values = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  return values.every(Number.isFinite) ? values : [];
}

/** Join names by "|", which a name may hold itself: it is then doubled by a tilde. */
function list(names: readonly string[]): string {
  return names.map(escaped).join("|");
}

function unlist(text: string): string[] {
  return text === "" ? [] : text.split("|").map(unescaped);
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("|", "~1").replaceAll("=", "~2").replaceAll("\u0000", "~3");
}

function unescaped(text: string): string {
  const meant: Readonly<Record<string, string>> = { "~0": "~", "~1": "|", "~2": "=", "~3": "\u0000" };
  return text.replace(/~[0-3]/g, (code) => meant[code]);
}

function pairs<Value>(values: Readonly<Record<string, Value>>, write: (value: Value) => string): string {
  return Object.entries(values)
    .map(([name, value]) => `${escaped(name)}=${write(value)}`)
    .join("|");
}

function unpairs(text: string | null, count: number): [string, number[]][] | null {
  if (text === null) return null;
  const read = text.split("|").map((part): [string, number[]] => {
    const at = part.lastIndexOf("=");
    return [unescaped(part.slice(0, at)), numbers(part.slice(at + 1))];
  });
  return read.every(([, values]) => values.length === count) ? read : null;
}

function placeText({ x, y, span }: Place): string {
  return [x, y, span].map(number).join(",");
}

function placeFrom(text: string | null): Place | null {
  const [x, y, span] = numbers(text);
  return span > 0 ? { x, y, span } : null;
}

function questionFrom(text: string | null): Question | null {
  const [side, entity, relation] = unlist(text ?? "");
  return (side === "head" || side === "tail") && entity && relation ? { side, entity, relation } : null;
}
