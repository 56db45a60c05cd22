/** Moving prototypes, and the figures that say what it costs. */

import { expect, test } from "vitest";
import { Arrangement } from "../src/data/arrangement";
import { readResponse } from "../src/data/response";
import { NONE, cohortPosition, cohortSeparation } from "../src/geometry/scores";
import { seeded } from "./chance";

const HOME = Float64Array.of(0, 0, 4, 0, 0, 4);
const SHARES = [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0, 0, 1], [1, 0, 0]];

function arrangement(): Arrangement {
  const at = (axis: number): Float32Array<ArrayBuffer> =>
    Float32Array.from(SHARES, (row) => row.reduce((sum, share, j) => sum + share * HOME[2 * j + axis], 0));
  const column = (cohort: number): Float32Array<ArrayBuffer> => Float32Array.from(SHARES, (row) => row[cohort]);
  return new Arrangement(["a", "b", "c"], HOME, { x: at(0), y: at(1) }, column);
}

test("places are the response times the prototypes", () => {
  const moved = arrangement();
  moved.move(1, 7, -2);
  moved.move(2, 1, 3);
  const { x, y } = moved.places();
  const prototypes = [0, 0, 7, -2, 1, 3];
  SHARES.forEach((row, i) => {
    expect(x[i]).toBeCloseTo(row.reduce((sum, share, j) => sum + share * prototypes[2 * j], 0), 5);
    expect(y[i]).toBeCloseTo(row.reduce((sum, share, j) => sum + share * prototypes[2 * j + 1], 0), 5);
  });
});

test("every step is undone, a reset too", () => {
  const moved = arrangement();
  expect(moved.canUndo).toBe(false);
  moved.reset();
  expect(moved.canUndo).toBe(false); // nothing to put back is no step
  moved.move(0, 1, 1);
  moved.move(0, 2, 2);
  moved.reset();
  expect(moved.moved).toBe(false);
  moved.undo();
  expect(moved.place(0)).toEqual([2, 2]);
  moved.undo();
  moved.undo();
  moved.undo();
  expect([...moved.prototypes]).toEqual([...HOME]);
  expect([...HOME]).toEqual([0, 0, 4, 0, 0, 4]);
});

test("a response is read whole or by its largest entries", () => {
  const told = { column: "response", scale: 0.5, offset: 1, error: 0 };
  const whole = readResponse({ ...told, form: "dense-u16" }, Uint16Array.of(0, 2, 4, 6), null, 2, 2);
  expect([...whole(0)]).toEqual([1, 3]);
  expect([...whole(1)]).toEqual([2, 4]);
  const top = { ...told, form: "top", kept: 2, offset: 0 } as const;
  const part = readResponse(top, Uint16Array.of(2, 4, 6, 8), Uint16Array.of(0, 2, 1, 2), 2, 3);
  expect([0, 1, 2].map((cohort) => [...part(cohort)])).toEqual([[1, 0], [0, 3], [2, 4]]);
  expect(() => readResponse(top, Uint16Array.of(1), Uint16Array.of(0), 2, 3)).toThrow("4 were expected");
  expect(() => readResponse(top, Uint16Array.of(1, 1, 1, 1), null, 2, 3)).toThrow("lacks the numbers");
});

test("figures are those of the obvious way", () => {
  const random = seeded(1);
  const n = 300;
  const places = { x: new Float32Array(n), y: new Float32Array(n) };
  const cohorts = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    // On a coarse lattice, so that many are equally near.
    [places.x[i], places.y[i]] = [Math.floor(12 * random()), Math.floor(3 * random())];
    cohorts[i] = random() < 0.1 ? NONE : Math.floor(3 * random());
  }
  const prototypes = Float64Array.of(1, 1, 8, 1, 5, 2);
  const square = (i: number, x: number, y: number): number => (places.x[i] - x) ** 2 + (places.y[i] - y) ** 2;
  let [position, separation, counted] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    if (cohorts[i] === NONE) continue;
    counted++;
    const away = [0, 1, 2].map((j) => square(i, prototypes[2 * j], prototypes[2 * j + 1]));
    const nearest = [0, 1, 2].filter((j) => away[j] === Math.min(...away));
    if (nearest.includes(cohorts[i])) position += 1 / nearest.length;
    const others = [...cohorts.keys()].filter((j) => j !== i && cohorts[j] !== NONE);
    const least = Math.min(...others.map((j) => square(i, places.x[j], places.y[j])));
    const close = others.filter((j) => square(i, places.x[j], places.y[j]) === least);
    separation += close.filter((j) => cohorts[j] === cohorts[i]).length / close.length;
  }
  expect(cohortPosition(places, cohorts, prototypes)).toBeCloseTo(position / counted, 10);
  expect(cohortSeparation(places, cohorts)).toBeCloseTo(separation / counted, 10);
});

test("figures of spread samples, and of none", () => {
  const random = seeded(2);
  const n = 400;
  const places = { x: Float32Array.from({ length: n }, () => random() ** 4), y: Float32Array.from({ length: n }, random) };
  const cohorts = Uint32Array.from({ length: n }, () => Math.floor(2 * random()));
  let separation = 0;
  for (let i = 0; i < n; i++) {
    let [least, own] = [Infinity, -1];
    for (let j = 0; j < n; j++) {
      const square = (places.x[i] - places.x[j]) ** 2 + (places.y[i] - places.y[j]) ** 2;
      if (j !== i && square < least) [least, own] = [square, cohorts[j]];
    }
    separation += own === cohorts[i] ? 1 : 0;
  }
  expect(cohortSeparation(places, cohorts)).toBeCloseTo(separation / n, 10);
  const none = { x: new Float32Array(2), y: new Float32Array(2) };
  expect(cohortPosition(none, Uint32Array.of(NONE, NONE), Float64Array.of(0, 0))).toBeNaN();
  expect(cohortSeparation(none, Uint32Array.of(NONE, 0))).toBeNaN();
});
