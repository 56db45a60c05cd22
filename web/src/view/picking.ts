/** Which point is under the pointer, and which are in a part of the map. */

import KDBush from "kdbush";
import type { Frame } from "../geometry/camera";

export class Picker {
  private readonly index: KDBush;

  constructor(
    private readonly x: Float32Array,
    private readonly y: Float32Array,
  ) {
    this.index = new KDBush(x.length, 64, Float32Array);
    for (let i = 0; i < x.length; i++) this.index.add(x[i], y[i]);
    this.index.finish();
  }

  /** The nearest shown point within ``reach`` of a place, or -1. */
  nearest(x: number, y: number, reach: number, shown: (point: number) => boolean): number {
    let [best, least] = [-1, Infinity];
    for (const point of this.index.within(x, y, reach)) {
      const square = (this.x[point] - x) ** 2 + (this.y[point] - y) ** 2;
      if ((square < least || (square === least && point > best)) && shown(point)) [best, least] = [point, square];
    }
    return best;
  }

  inside({ x0, y0, x1, y1 }: Frame): number[] {
    return this.index.range(x0, y0, x1, y1);
  }
}
