/** Raw little-endian bytes as the arrays they stand for. */

import type { ColumnEntry } from "./manifest";

export type Column =
  | Float32Array
  | Float64Array
  | Uint32Array
  | Int32Array
  | Uint16Array
  | Uint8Array
  | readonly (string | null)[];

const READERS = {
  f32: Float32Array,
  f64: Float64Array,
  u32: Uint32Array,
  i32: Int32Array,
  u16: Uint16Array,
  u8: Uint8Array,
} as const;

/** Read a column, checking that it is as long as the manifest says. */
export function readColumn(name: string, entry: ColumnEntry, bytes: ArrayBuffer): Column {
  const column =
    entry.dtype === "utf8"
      ? (JSON.parse(new TextDecoder().decode(bytes)) as (string | null)[])
      : new READERS[entry.dtype](bytes);
  if (column.length !== entry.length) {
    throw new Error(
      `Column "${name}" has ${column.length} values where ${entry.length} were announced; export the map again.`,
    );
  }
  return column;
}

/** Take a column as numbers, whatever their width. */
export function asNumbers(name: string, column: Column): Exclude<Column, readonly (string | null)[]> {
  if (Array.isArray(column)) throw new Error(`Column "${name}" holds texts where numbers were expected.`);
  return column as Exclude<Column, readonly (string | null)[]>;
}

/** Take a column as texts. */
export function asTexts(name: string, column: Column): readonly (string | null)[] {
  if (!Array.isArray(column)) throw new Error(`Column "${name}" holds numbers where texts were expected.`);
  return column;
}

/** Give the code that stands for a missing value: the largest of the type. */
export function missingCode(column: Uint32Array | Uint16Array | Uint8Array): number {
  return 2 ** (8 * column.BYTES_PER_ELEMENT) - 1;
}
