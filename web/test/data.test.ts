/** Columns, fields, relations, search and the single file. */

import { expect, test } from "vitest";
import { readColumn } from "../src/data/columns";
import { fromBase64, gunzip, openContainer } from "../src/data/container";
import { MISSING, joinField, quantile, scaleOf, sortIntoClasses, type CategoryField } from "../src/data/fields";
import { checkedManifest } from "../src/data/manifest";
import { degree, indexRelation, strongest } from "../src/data/relations";
import { NameIndex } from "../src/data/search";

const KINDS = [
  { name: "doc", start: 0, count: 4 },
  { name: "word", start: 4, count: 2 },
];

test("columns are read by their type, and their length checked", () => {
  expect(readColumn("x", { dtype: "f32", length: 2 }, Float32Array.of(1.5, -2).buffer)).toEqual(Float32Array.of(1.5, -2));
  const texts = new TextEncoder().encode('["é",null]').buffer as ArrayBuffer;
  expect(readColumn("ids", { dtype: "utf8", length: 2 }, texts)).toEqual(["é", null]);
  expect(() => readColumn("x", { dtype: "u16", length: 3 }, new ArrayBuffer(4))).toThrow("2 values where 3");
});

test("a single file is opened, and a damaged one told", async () => {
  const manifest = { format: "relscape-explorer", version: 1, columns: { x: { dtype: "f32", length: 2, offset: 0, bytes: 8 } } };
  let text = "";
  for (let start = 0; ; start = Math.ceil((12 + text.length) / 8) * 8) {
    manifest.columns.x.offset = start;
    const next = JSON.stringify(manifest);
    if (next.length === text.length) break;
    text = next;
  }
  text = JSON.stringify(manifest);
  const whole = new Uint8Array(manifest.columns.x.offset + 8);
  whole.set(new TextEncoder().encode("RELSCAPE"));
  new DataView(whole.buffer).setUint32(8, text.length, true);
  whole.set(new TextEncoder().encode(text), 12);
  whole.set(new Uint8Array(Float32Array.of(3, 4).buffer), manifest.columns.x.offset);
  const stream = new Blob([whole]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const packed = btoa(String.fromCharCode(...bytes));
  const opened = openContainer(await gunzip(fromBase64(`\n${packed}\n`)));
  expect(new Float32Array(opened.column("x"))).toEqual(Float32Array.of(3, 4));
  expect(() => opened.column("y")).toThrow('does not carry the column "y"');
  expect(() => openContainer(new ArrayBuffer(64))).toThrow("damaged");
});

test("manifests of another kind or version are refused", () => {
  expect(() => checkedManifest({ format: "else" })).toThrow("another kind");
  expect(() => checkedManifest(null)).toThrow("another kind");
  expect(() => checkedManifest({ format: "relscape-explorer", version: 9 })).toThrow("version 9");
});

test("fields of some kinds are put onto all points", () => {
  const entry = { name: "n", kinds: ["word"], column: "f", start: 4, count: 2 } as const;
  const numbers = joinField([{ ...entry, type: "number" }], [Float32Array.of(1, 2)], 6);
  expect(numbers.type === "number" && [...numbers.values]).toEqual([NaN, NaN, NaN, NaN, 1, 2]);
  const classes = joinField([{ ...entry, type: "category", categories: ["b", "a"] }], [Uint32Array.of(1, MISSING)], 6);
  expect(classes.type === "category" && [...classes.codes]).toEqual([MISSING, MISSING, MISSING, MISSING, 1, MISSING]);
  const texts = joinField([{ ...entry, type: "text" }], [["x", null]], 6);
  expect(texts.type === "text" && texts.values).toEqual([null, null, null, null, "x", null]);
});

function topics(categories: string[], codes: number[]): CategoryField {
  return { type: "category", name: "topic", kinds: ["doc"], categories, codes: Uint32Array.from([...codes, MISSING, MISSING]) };
}

test("the most frequent classes get colours, numbers keep their order", () => {
  const classes = sortIntoClasses(topics(["b", "a", "c"], [2, 2, 0, MISSING]), KINDS, 1);
  expect([classes.names, classes.counts, [...classes.place]]).toEqual([["c"], [2], [-1, -1, 0]]);
  expect([classes.others, classes.otherPoints, classes.missing]).toEqual([1, 1, 1]);
  expect(sortIntoClasses(topics(["10", "9"], [0, 0, 0, 1]), KINDS, 5).names).toEqual(["9", "10"]);
});

test("a second map gives classes the places they have on the first", () => {
  const classes = sortIntoClasses(topics(["new", "a", "b"], [0, 0, 0, 1]), KINDS, 3, ["b", "gone"]);
  expect(classes.names).toEqual(["b", "gone", "new"]);
  expect(classes.counts).toEqual([0, 0, 3]);
  expect([...classes.place]).toEqual([2, -1, 0]);
  expect([classes.others, classes.otherPoints]).toEqual([1, 1]);
});

test("scales leave extremes out", () => {
  const values = Float64Array.from({ length: 1001 }, (_, i) => i);
  values[1000] = 1e9;
  expect(scaleOf(values)).toEqual({ low: 10, high: 990 });
  expect(scaleOf(Float32Array.of(NaN, 7, 7))).toEqual({ low: 6.5, high: 7.5 });
  expect(scaleOf(Float32Array.of(NaN))).toEqual({ low: 0, high: 1 });
  expect(quantile([0, 10, 20], 0.25)).toBe(5);
});

test("the strongest relations of a point, either way", () => {
  const entry = { name: "r", from: "doc", to: "doc", count: 4, columns: { from: "", to: "", weight: "" }, directed: true, role: "relation" } as const;
  const relation = indexRelation(entry, Uint32Array.of(0, 1, 0, 2), Uint32Array.of(1, 0, 2, 2), Float32Array.of(1, -5, 3, 4), 4);
  expect(strongest(relation, 0, 2)).toEqual([
    { point: 1, weight: -5, outgoing: false },
    { point: 2, weight: 3, outgoing: true },
  ]);
  expect(strongest(relation, 2, 9).map(({ weight }) => weight)).toEqual([4, 3]); // the loop once
  expect(degree(relation, 3)).toBe(0);
});

test("search finds names by their beginnings first, whatever the accents", () => {
  const labels = ["map", "Émile Zola", "roadmap", "heat map", "zola", "x"];
  const index = new NameIndex(labels, ["1", "2", "3", "4", "5", "map-id"]);
  expect(index.search("MAP", 9)).toEqual([
    { point: 0, grade: 0 },
    { point: 3, grade: 2 },
    { point: 2, grade: 3 },
    { point: 5, grade: 4 },
  ]);
  expect(index.search("emile", 9)[0].point).toBe(1);
  expect(index.search("o", 1, undefined, (point) => point)[0].point).toBe(4);
  expect(index.search("zola", 9, (point) => point === 1)).toHaveLength(1);
  expect(index.search("  ", 9)).toEqual([]);
});
