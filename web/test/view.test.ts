/** Cameras, regions, neighbours, names, links, and what is saved. */

import { expect, test } from "vitest";
import { between, close, fitting, fromTransform, resized, seen, toScreen, toTransform, toWorld } from "../src/geometry/camera";
import { frameOf } from "../src/geometry/frame";
import { nearestOfKinds, readCoordinates } from "../src/geometry/nearest";
import { boxPolygon, contains, pointsInside, simplified } from "../src/geometry/region";
import { LIGHT, DARK, CLASS_COLORS, contrast, dots, hex, readable, rgb } from "../src/look/palette";
import { csv } from "../src/save/csv";
import { fileName } from "../src/save/download";
import { escaped } from "../src/save/svg";
import { fromHash, toHash } from "../src/state/hash";
import { FIRST_VIEW, cameraAt, placeOf, type View } from "../src/state/view";
import { labelLimit, labelOrder, taking } from "../src/view/label_order";
import { lineHeight, placeLabels, shortened, type Box, type Wanted } from "../src/view/labels";
import { counted, shortNumber } from "../src/ui/format";
import { seeded } from "./chance";

const SIZE = { width: 800, height: 600 };

test("the screen and the map's plane lead to each other", () => {
  const camera = { x: 3, y: -2, k: 40 };
  expect(toScreen(camera, SIZE, 3, -2)).toEqual([400, 300]);
  expect(toScreen(camera, SIZE, 4, -1)).toEqual([440, 260]); // up is up
  const [x, y] = toWorld(camera, SIZE, ...toScreen(camera, SIZE, 1.25, 7));
  expect([x, y]).toEqual([1.25, 7]);
  const base = { x: 1, y: 1, k: 10 };
  const back = fromTransform(base, SIZE, toTransform(base, SIZE, camera));
  for (const name of ["x", "y", "k"] as const) expect(back[name]).toBeCloseTo(camera[name], 10);
  expect(cameraAt(placeOf(camera, SIZE), SIZE)).toEqual(camera);
});

test("a whole frame is seen, and a flight begins and ends where it should", () => {
  const frame = { x0: -5, y0: 0, x1: 5, y1: 2 };
  const camera = fitting(frame, SIZE);
  const sight = seen(camera, SIZE);
  expect(sight.x0).toBeLessThan(-5);
  expect(sight.x1).toBeGreaterThan(5);
  expect(sight.y0).toBeLessThan(0);
  expect(sight.y1).toBeGreaterThan(2);
  const far = { x: 9, y: 9, k: camera.k * 30 };
  expect(close(between(camera, far, 0), camera)).toBe(true);
  expect(close(between(camera, far, 1), far)).toBe(true);
  expect(resized(camera, SIZE, { width: 400, height: 300 }).k).toBe(camera.k / 2);
});

test("a few points far out do not squeeze the rest", () => {
  const random = seeded(3);
  const x = Float32Array.from({ length: 2000 }, random);
  x[0] = 1e6;
  const { x0, x1 } = frameOf(x, Float32Array.from({ length: 2000 }, random));
  expect(x1 - x0).toBeLessThan(2);
});

test("regions hold what lies in them", () => {
  const horseshoe = [0, 0, 3, 0, 3, 3, 2, 3, 2, 1, 1, 1, 1, 3, 0, 3];
  expect(contains(horseshoe, 0.5, 2)).toBe(true);
  expect(contains(horseshoe, 1.5, 2)).toBe(false);
  const found = pointsInside(boxPolygon(2, 2, 0, 0), Float32Array.of(1, 1, 5), Float32Array.of(1, 1, 1), (p) => p !== 1);
  expect(found).toEqual([0]);
  const circle = Array.from({ length: 400 }, (_, i) => (i % 2 ? Math.sin : Math.cos)((Math.PI * (i >> 1)) / 100) * 100);
  const fewer = simplified(circle, 1);
  expect(fewer.length).toBeLessThan(circle.length / 3);
  for (let i = 0; i < 50; i++) {
    const [r, a] = [100 * (i / 50), i];
    if (Math.abs(r - 100) > 2) expect(contains(fewer, r * Math.cos(a), r * Math.sin(a))).toBe(true);
  }
});

test("neighbours are the nearest of each kind, also from 16 bits", () => {
  const random = seeded(4);
  const values = Float32Array.from({ length: 3 * 60 }, random);
  const kinds = [{ name: "a", start: 0, count: 40 }, { name: "b", start: 40, count: 20 }];
  const found = nearestOfKinds({ k: 3, values }, kinds, 45, 5);
  for (const { name, start, count } of kinds) {
    const all = Array.from({ length: count }, (_, i) => start + i).filter((other) => other !== 45);
    const away = (i: number): number => Math.hypot(...[0, 1, 2].map((axis) => values[3 * i + axis] - values[135 + axis]));
    all.sort((p, q) => away(p) - away(q));
    expect(found.get(name)!.map(({ point }) => point)).toEqual(all.slice(0, 5));
    expect(found.get(name)![0].distance).toBeCloseTo(away(all[0]), 5);
  }
  const read = readCoordinates(
    { column: "c", k: 2, quantised: true, scale: [0.5, 2], offset: [1, -1] }, Uint16Array.of(2, 3, 0, 1));
  expect([...read.values]).toEqual([2, 5, 1, 1]);
});

test("names never overlap, keep to the screen, and leave what is taken", () => {
  const random = seeded(5);
  const wanted: Wanted[] = Array.from({ length: 400 }, (_, point) => ({
    point, text: `name ${point}`, x: 800 * random(), y: 600 * random(), radius: 2 + 4 * random(), width: 30 + 60 * random(), kind: point % 2,
  }));
  const taken: Box = { x0: 0, y0: 500, x1: 300, y1: 600 };
  const placed = placeLabels(wanted, SIZE, [60, 400], [taken], new Map([[3, 5]]));
  const height = lineHeight(SIZE);
  const boxes = placed.map(({ point, dx, dy }) => {
    const { x, y, width } = wanted[point];
    return { x0: x + dx, y0: y + dy - height / 2, x1: x + dx + width, y1: y + dy + height / 2 };
  });
  const meet = (a: Box, b: Box): boolean => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
  boxes.forEach((box, i) => {
    expect(box.x0 >= 0 && box.y0 >= 0 && box.x1 <= 800 && box.y1 <= 600 && !meet(box, taken)).toBe(true);
    for (const other of boxes.slice(i + 1)) expect(meet(box, other)).toBe(false);
  });
  expect(placed.filter(({ point }) => point % 2 === 0)).toHaveLength(60);
  expect(placed.length).toBeGreaterThan(120);
  expect(placed[0].point).toBe(0); // the first wanted is always there
});

test("importance orders names, kind by kind", () => {
  const kinds = [{ name: "a", start: 0, count: 3 }, { name: "b", start: 3, count: 2 }];
  const field = { type: "number", name: "n", kinds: ["a"], values: Float32Array.of(1, NaN, 5, NaN, NaN) } as const;
  const { leaders, rank } = labelOrder(kinds, [field]);
  expect([...leaders[0]]).toEqual([2, 0, 1]);
  expect(leaders[1]).toHaveLength(2);
  expect(rank(2)).toBe(5);
  expect([labelLimit(0), labelLimit(0.5), labelLimit(1)]).toEqual([0, 40, 400]);
  expect([...taking([[1, 2, 3], [9]])]).toEqual([1, 9, 2, 3]);
  expect(shortened("a  b")).toBe("a b");
  expect(shortened("x".repeat(80))).toHaveLength(42);
});

test("an address holds all of a view", () => {
  const view: View = {
    ...FIRST_VIEW, theme: "dark", color: null, size: "a|b=c~d", order: "n", hiddenKinds: ["x|y", "z"], hiddenClasses: ["\u0000others"],
    density: { "a=b": 0.25 }, focus: "kind:id:with|all=~", region: [0, 0, 1.5, 0, 1, -2], regionPane: 1,
    places: [null, { x: 1, y: 2, span: 3 }], moved: { "c|1": [0.5, -0.25] }, links: [], suggest: true,
    question: { side: "tail", entity: "entity:a b", relation: "r|s" }, row: 4,
  };
  const start: View = { ...FIRST_VIEW, color: "cohort", links: ["links"] };
  expect({ ...start, ...fromHash(`#${toHash(view, start)}`) }).toEqual(view);
  expect(toHash(start, start)).toBe("");
  expect(fromHash("theme=pink&region=1,2&at1=a,b,c&row=-3&moved=x&ask=head|x&labels=a")).toEqual({});
});

test("tables, names of files and markup are written safely", () => {
  expect(csv(["a", "b"], [['x,"y"', null], [1.5, NaN], [" z", "l\nm"]])).toBe('a,b\r\n"x,""y""",\r\n1.5,\r\n" z","l\nm"\r\n');
  expect(fileName("A map: Ünïcode / 2", ".svg")).toBe("a-map-ünïcode-2.svg");
  expect(fileName("///", ".csv")).toBe("map.csv");
  expect(escaped("<a href='x'>&\u0000")).toBe("&lt;a href=&apos;x&apos;&gt;&amp;");
});

test("numbers as people read them", () => {
  expect([shortNumber(1234567), shortNumber(-0.123456), shortNumber(1e-7), shortNumber(NaN)]).toEqual(["1,234,567", "−0.1235", "1.00e−7", "–"]);
  expect([counted(1, "word"), counted(2, "entity"), counted(3, "box"), counted(2, "cells")]).toEqual(["1 word", "2 entities", "3 boxes", "2 cells"]);
});

test("colours can be told from the paper", () => {
  expect(hex(rgb("#0072b2"))).toBe("#0072b2");
  for (const theme of [LIGHT, DARK]) {
    expect(contrast(rgb(theme.ink), rgb(theme.paper))).toBeGreaterThan(12);
    expect(contrast(rgb(theme.muted), rgb(theme.paper))).toBeGreaterThan(4.5);
    for (const color of dots(CLASS_COLORS, theme)) expect(contrast(readable(color, theme, 4.5), rgb(theme.paper))).toBeGreaterThan(4.5);
  }
  for (const color of dots(CLASS_COLORS, DARK)) expect(contrast(color, rgb(DARK.paper))).toBeGreaterThan(3.5);
});
