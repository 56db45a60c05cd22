/** The points and links of a map on their canvas. */

import type { Atlas } from "../data/atlas";
import { CanvasPainter } from "../paint/canvas_painter";
import { GlPainter, cardContext, pointCanvas } from "../paint/gl_painter";
import type { Links, Painter } from "../paint/painter";
import { opacityFor } from "./sizes";

const PALE = 0.2;
const PALEST = 10;

export class Layers {
  readonly painter: Painter;
  colors: Uint8Array;
  visible: Uint8Array;
  sizes: Float32Array;
  private readonly opacity: Uint8Array;
  private links: readonly Links[] = [];

  constructor(
    private readonly atlas: Atlas,
    handleKind: number,
    restored: () => void,
  ) {
    const canvas = pointCanvas();
    const gl = cardContext(canvas);
    this.painter =
      gl === null
        ? new CanvasPainter(pointCanvas(), atlas.kinds, handleKind)
        : new GlPainter(canvas, gl, atlas.kinds, handleKind, restored);
    this.colors = new Uint8Array(3 * atlas.n);
    this.visible = new Uint8Array(atlas.n).fill(1);
    this.opacity = new Uint8Array(atlas.n);
    this.sizes = new Float32Array(atlas.n).fill(1);
    this.painter.setColors(this.colors, this.opacity);
    this.painter.setSizes(this.sizes);
    this.settle();
  }

  /** Put everything at the map's places. */
  settle(): void {
    this.painter.setPlaces(this.atlas.x, this.atlas.y);
    this.layLinks();
  }

  /** Colour the points; ``emphasis`` pales all that are not in it. */
  setColors(colors: Uint8Array, visible: Uint8Array, emphasis: ReadonlySet<number> | null): void {
    [this.colors, this.visible] = [colors, visible];
    const usual = this.atlas.kinds.map(({ count }) => Math.round(255 * opacityFor(count)));
    for (let i = 0; i < this.atlas.n; i++) {
      const full = usual[this.atlas.kindNumbers[i]];
      this.opacity[i] = !visible[i] ? 0 : emphasis === null ? full : emphasis.has(i) ? 255 : Math.max(PALE * full, PALEST);
    }
    this.painter.setColors(colors, this.opacity);
    this.layLinks();
  }

  setSizes(sizes: Float32Array): void {
    this.sizes = sizes;
    this.painter.setSizes(sizes);
  }

  setLinks(links: readonly Links[]): void {
    this.links = links;
    this.layLinks();
  }

  private layLinks(): void {
    this.painter.setLinks(this.links, this.atlas.x, this.atlas.y, this.visible);
  }
}
