/** Points and all that is known of them, as rows of a table. */

import type { Atlas } from "../data/atlas";
import { MISSING, type Field } from "../data/fields";
import type { Cell } from "./csv";

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Lay out points as a table: kind, id, label, place, and every field that one of them has. */
export async function tableOf(atlas: Atlas, points: readonly number[]): Promise<Table> {
  const kinds = new Set(points.map((point) => atlas.kindOf(point).name));
  const names = atlas.fieldNames.filter((name) =>
    atlas.manifest.fields.some((entry) => entry.name === name && entry.kinds.some((kind) => kinds.has(kind))),
  );
  const fields = await Promise.all(names.map((name) => atlas.field(name)));
  return {
    header: ["kind", "id", "label", "x", "y", ...names],
    rows: points.map((point) => [
      atlas.kindOf(point).name,
      atlas.ids[point],
      atlas.label(point),
      atlas.x[point],
      atlas.y[point],
      ...fields.map((field) => valueOf(field, point)),
    ]),
  };
}

/** The value of a field at a point; null where there is none. */
export function valueOf(field: Field, point: number): Cell {
  if (field.type === "number") return Number.isNaN(field.values[point]) ? null : field.values[point];
  if (field.type === "text") return field.values[point];
  return field.codes[point] === MISSING ? null : field.categories[field.codes[point]];
}
