/** What draws points and links, whether by the graphics card or by the processor. */

import type { Camera, Size } from "../geometry/camera";
import type { Theme } from "../look/palette";

export interface Links {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
}

export interface Look {
  readonly camera: Camera;
  readonly size: Size;
  /** Pixels of the screen for one of the page. */
  readonly ratio: number;
  readonly theme: Theme;
  /** Diameter of a usual point of each kind, in pixels of the page. */
  readonly diameters: readonly number[];
}

export interface Painter {
  readonly canvas: HTMLCanvasElement;
  /** Put the points somewhere, and end all movement. */
  setPlaces(x: Float32Array, y: Float32Array): void;
  /** Have the points travel to other places; ``travel`` says how far they are, from 0 to 1. */
  setTargets(x: Float32Array, y: Float32Array): void;
  travel(progress: number): void;
  /** Say how much each point follows the prototype that is about to be dragged. */
  setShares(shares: Float32Array): void;
  /** Move all points by their share of a prototype's move. */
  drag(dx: number, dy: number): void;
  /** Colour the points: red, green, blue, and how opaque each is, from 0 (not drawn) to 255. */
  setColors(colors: Uint8Array, opacity: Uint8Array): void;
  /** Size the points, 1 being the usual size and 4 the largest. */
  setSizes(sizes: Float32Array): void;
  /** Draw lines between these visible points. */
  setLinks(links: readonly Links[], x: Float32Array, y: Float32Array, visible: Uint8Array): void;
  draw(look: Look): void;
}

export const LARGEST = 4;
export const LINK_OPACITY = 0.22;

/** List the ends of all links between visible points: x, y, x, y for each. */
export function linkEnds(
  links: readonly Links[],
  x: Float32Array,
  y: Float32Array,
  visible: Uint8Array,
): Float32Array<ArrayBuffer> {
  const ends = new Float32Array(4 * links.reduce((sum, { from }) => sum + from.length, 0));
  let at = 0;
  for (const { from, to } of links) {
    for (let e = 0; e < from.length; e++) {
      const [a, b] = [from[e], to[e]];
      if (!visible[a] || !visible[b]) continue;
      ends[at++] = x[a];
      ends[at++] = y[a];
      ends[at++] = x[b];
      ends[at++] = y[b];
    }
  }
  return ends.subarray(0, at);
}
