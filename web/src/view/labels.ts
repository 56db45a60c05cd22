/** Placing names so that none covers another. */

import type { Size } from "../geometry/camera";
import { textSize } from "./sizes";

export interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export interface Wanted {
  readonly point: number;
  readonly text: string;
  /** Where the point is on the screen, and how large its dot. */
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly width: number;
  /** Names are counted by kind. */
  readonly kind: number;
}

export interface Placed {
  readonly point: number;
  readonly text: string;
  /** From the point to the left end of the text's middle line. */
  readonly dx: number;
  readonly dy: number;
  readonly side: number;
}

const GAP = 3;
const ROW = 24;
const SIDES = 8;

/** The room that a line of names takes, in pixels. */
export function lineHeight(size: Size): number {
  return 1.25 * textSize(size);
}

/** Boxes sorted into rows of the screen, so that few have to be compared. */
class Occupied {
  private readonly rows = new Map<number, Box[]>();

  meets(box: Box): boolean {
    for (let row = Math.floor(box.y0 / ROW); row <= Math.floor(box.y1 / ROW); row++) {
      for (const other of this.rows.get(row) ?? []) {
        if (box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1) return true;
      }
    }
    return false;
  }

  add(box: Box): void {
    for (let row = Math.floor(box.y0 / ROW); row <= Math.floor(box.y1 / ROW); row++) {
      const boxes = this.rows.get(row);
      if (boxes) boxes.push(box);
      else this.rows.set(row, [box]);
    }
  }
}

/** Right of the point, left of it, above, below, then between these. */
function offset(side: number, { radius, width }: Wanted, height: number): [number, number] {
  if (side < 2) return [side === 0 ? radius + GAP : -radius - GAP - width, 0];
  if (side < 4) return [-width / 2, (side === 2 ? -1 : 1) * (radius + height / 2 + 1)];
  const [away, up] = [0.7 * radius + GAP, 0.7 * radius + height / 2];
  return [side % 2 === 0 ? away : -away - width, side < 6 ? -up : up];
}

/**
 * Place names in the order they come, each on the first free side of its point, the side it had before first;
 * a name without a free side, or one that would leave the screen, is left out. ``limits`` says how many each kind
 * may have.
 */
export function placeLabels(
  wanted: Iterable<Wanted>,
  size: Size,
  limits: readonly number[],
  taken: readonly Box[] = [],
  before: ReadonlyMap<number, number> = new Map(),
): Placed[] {
  const occupied = new Occupied();
  for (const box of taken) occupied.add(box);
  const placed: Placed[] = [];
  const left = [...limits];
  const height = lineHeight(size);
  for (const label of wanted) {
    if (left[label.kind] === 0) continue;
    const last = before.get(label.point) ?? 0;
    for (let turn = 0; turn < SIDES; turn++) {
      const side = turn === 0 ? last : turn <= last ? turn - 1 : turn;
      const [dx, dy] = offset(side, label, height);
      const [x, y] = [label.x + dx, label.y + dy];
      const box = { x0: x - 2, y0: y - height / 2, x1: x + label.width + 2, y1: y + height / 2 };
      if (box.x0 < 0 || box.x1 > size.width || box.y0 < 0 || box.y1 > size.height) continue;
      if (occupied.meets(box)) continue;
      occupied.add(box);
      left[label.kind]--;
      placed.push({ point: label.point, text: label.text, dx, dy, side });
      break;
    }
  }
  return placed;
}

const LONGEST = 42;

/** Shorten a long name for the map; the whole name stands in the panel. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= LONGEST ? line : `${[...line].slice(0, LONGEST - 1).join("")}…`;
}
