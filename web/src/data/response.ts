/** The response matrix: how much of a cohort's move each sample follows. */

import type { ResponseEntry } from "./manifest";

/** Read one column of the matrix: the share of cohort ``cohort`` in every sample's place. */
export type ResponseColumn = (cohort: number) => Float32Array<ArrayBuffer>;

/** Make a reader of the matrix, n samples × c cohorts, from what was stored of it. */
export function readResponse(
  entry: ResponseEntry,
  values: Uint16Array,
  indices: Uint16Array | null,
  n: number,
  c: number,
): ResponseColumn {
  const scale = (cohort: number): number => (typeof entry.scale === "number" ? entry.scale : entry.scale[cohort]);
  const offset = (cohort: number): number =>
    typeof entry.offset === "number" ? entry.offset : entry.offset[cohort];
  if (entry.form === "dense-u16") {
    expectLength(values, n * c);
    return (cohort) => {
      const column = new Float32Array(n);
      const [s, o] = [scale(cohort), offset(cohort)];
      for (let i = 0; i < n; i++) column[i] = o + s * values[i * c + cohort];
      return column;
    };
  }
  const kept = entry.kept ?? 0;
  expectLength(values, n * kept);
  if (indices === null || indices.length !== values.length) {
    throw new Error("The response matrix lacks the numbers of its cohorts; export the map again.");
  }
  return (cohort) => {
    const column = new Float32Array(n);
    const [s, o] = [scale(cohort), offset(cohort)];
    for (let at = 0; at < values.length; at++) {
      if (indices[at] === cohort) column[Math.floor(at / kept)] = o + s * values[at];
    }
    return column;
  };
}

function expectLength(values: Uint16Array, length: number): void {
  if (values.length !== length) {
    throw new Error(
      `The response matrix has ${values.length} entries where ${length} were expected; export the map again.`,
    );
  }
}
