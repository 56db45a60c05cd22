/** What the map is: shown while nothing is looked at. */

import type { Manifest } from "../data/manifest";
import { element, type Child } from "./dom";
import { counted, plain } from "./format";

/** Tell where a map comes from, how good it is, and how to begin. */
export function about({ title, summary, kinds, coordinates }: Manifest, several = false): HTMLElement {
  const dimensions = counted(summary.n_components, "dimension");
  const error = coordinates?.quantised ? coordinates.error : undefined;
  return element(
    "section",
    { class: "about" },
    element("h2", {}, several ? title : "This map"),
    element(
      "p",
      {},
      `${list(kinds.map(({ name, count }) => counted(count, name)))} in ${dimensions}`,
      summary.model ? `, placed by ${summary.model}.` : ".",
    ),
    summary.layout.note !== "" && element("p", { class: "quiet" }, summary.layout.note),
    facts("How good it is", summary.scores, true),
    facts("Settings", summary.parameters, false),
    facts("Where it comes from", summary.provenance, false),
    error !== undefined &&
      element("p", { class: "quiet" }, `Coordinates travel in 16 bits: off by at most ${percent(error)} of the map’s width.`),
    element(
      "p",
      { class: "quiet hint" },
      "Click a point to see what is near it. Scroll to zoom, drag to move, hold Shift and drag to select. ",
      element("kbd", {}, "?"),
      " lists all keys.",
    ),
  );
}

function list(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}

/** Write a small share as a percentage with two digits. */
export function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}

function facts(title: string, values: Readonly<Record<string, unknown>>, open: boolean): Child {
  const rows = Object.entries(values).filter(([, value]) => value !== null && plain(value) !== "");
  if (rows.length === 0) return null;
  return element(
    "details",
    { open },
    element("summary", {}, title),
    element(
      "dl",
      { class: "facts" },
      ...rows.flatMap(([name, value]) => [element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, plain(value))]),
    ),
  );
}
