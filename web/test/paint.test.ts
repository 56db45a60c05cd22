/** Drawing by the processor. */

import { expect, test } from "vitest";
import { MARKERS } from "../src/look/markers";
import { drawingOrder } from "../src/paint/order";
import { linkEnds } from "../src/paint/painter";
import { blend, drawLine, mix, packed, type Sheet } from "../src/paint/sheet";
import { FINE, StampBook, makeStamp } from "../src/paint/stamps";

function sheet(width: number, height: number): Sheet {
  return { width, height, pixels: new Int32Array(width * height).fill(packed([255, 255, 255])) };
}

const parts = (pixel: number): number[] => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];

test("colours are mixed as they should, within rounding", () => {
  for (const strength of [0, 1, 77, 128, 255, 256]) {
    const mixed = parts(mix(packed([10, 200, 255]), packed([250, 0, 40]), strength));
    [[10, 250], [200, 0], [255, 40]].forEach(([below, above], i) => {
      expect(Math.abs(mixed[i] - (below + ((above - below) * strength) / 256))).toBeLessThanOrEqual(1);
    });
  }
});

test("a stamp covers the area of its marker", () => {
  for (const marker of MARKERS) {
    const { cover } = makeStamp(marker, 20, 0.5, 0.5, 50);
    const share = cover.reduce((sum, part) => sum + part, 0) / 256 / (Math.PI * 100);
    expect(share).toBeGreaterThan(0.35);
    expect(share).toBeLessThan(1.02);
  }
  const circle = makeStamp("circle", 20, 0.5, 0.5, 50).cover.reduce((sum, part) => sum + part, 0) / 256;
  expect(Math.abs(circle / (Math.PI * 100) - 1)).toBeLessThan(0.02);
  const speck = makeStamp("circle", 0.5, 0.5, 0.5, 50).cover.reduce((sum, part) => sum + part, 0) / 256;
  expect(speck).toBeLessThan(0.5);
  const book = new StampBook("square");
  expect(book.page(5, 12)).toHaveLength(FINE * FINE);
  expect(book.page(5.1, 12)).toBe(book.page(5, 12));
});

test("stamps are cut off at the edges", () => {
  const stamp = makeStamp("square", 9, 0.5, 0.5, 12);
  for (const [column, row] of [[-2, 3], [11, 3], [4, -3], [4, 12], [-50, -50], [50, 50]]) {
    const paper = sheet(12, 12);
    blend(paper, stamp, column, row, packed([0, 0, 0]), 255);
    const inked = [...paper.pixels.keys()].filter((at) => parts(paper.pixels[at])[0] < 128);
    for (const at of inked) {
      expect(Math.abs((at % 12) - column)).toBeLessThanOrEqual(5);
      expect(Math.abs(Math.floor(at / 12) - row)).toBeLessThanOrEqual(5);
    }
    expect(inked.length > 0).toBe(Math.abs(column) < 20);
  }
});

test("a stamp on the sheet mixes every pixel that it covers", () => {
  for (const marker of MARKERS) {
    const [paper, expected] = [sheet(20, 20), sheet(20, 20)];
    const stamp = new StampBook(marker).page(6, 20)[7];
    const ink = packed([30, 90, 200]);
    for (const [column, row] of [[9, 8], [11, 10]]) {
      blend(paper, stamp, column, row, ink, 140);
      stamp.cover.forEach((cover, i) => {
        const [u, v] = [i % stamp.width, Math.floor(i / stamp.width)];
        const at = (row + stamp.top + v) * 20 + column + stamp.left + u;
        expected.pixels[at] = mix(expected.pixels[at], ink, (cover * 140) >> 8);
      });
    }
    expect([...paper.pixels]).toEqual([...expected.pixels]);
  }
});

test("lines reach from end to end and leave the rest alone", () => {
  const paper = sheet(10, 10);
  drawLine(paper, -20, 5, 30, 5, packed([0, 0, 0]), 256);
  drawLine(paper, 2, -5, 2, -1, packed([0, 0, 0]), 256);
  const inked = [...paper.pixels.keys()].filter((at) => parts(paper.pixels[at])[0] === 0);
  expect(inked.every((at) => Math.floor(at / 10) === 5)).toBe(true);
  expect(inked.length).toBeGreaterThanOrEqual(9);
});

test("every point is drawn once, small kinds on top", () => {
  const { points, spans } = drawingOrder([{ name: "few", start: 0, count: 3 }, { name: "many", start: 3, count: 50 }]);
  expect([...points].sort((a, b) => a - b)).toEqual(Array.from({ length: 53 }, (_, i) => i));
  expect(spans.map(({ kind }) => kind)).toEqual([1, 0]);
  expect([...points.subarray(0, 50)].every((point) => point >= 3)).toBe(true);
});

test("links of hidden points are left out", () => {
  const links = [{ from: Uint32Array.of(0, 1), to: Uint32Array.of(1, 2) }];
  const at = Float32Array.of(1, 2, 3);
  expect([...linkEnds(links, at, at, Uint8Array.of(1, 1, 0))]).toEqual([1, 1, 2, 2]);
});
