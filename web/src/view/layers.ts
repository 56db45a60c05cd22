/** The points and links of a map on their canvas. */

import type { Atlas } from "../data/atlas";
import { CanvasPainter } from "../paint/canvas_painter";
import { GlPainter, cardContext, pointCanvas } from "../paint/gl_painter";
import { linkEnds, type Links, type Painter } from "../paint/painter";
import { opacityFor } from "./sizes";

const PALE = 0.2;
const PALER = 0.4;
const PALEST = 10;

export class Layers {
  readonly painter: Painter;
  colors: Uint8Array;
  visible: Uint8Array;
  sizes: Float32Array;
  private readonly opacity: Uint8Array;
  private emphasis: ReadonlySet<number> | null = null;
  private asked: ReadonlySet<number> | null = null;
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
    [this.colors, this.visible, this.emphasis] = [colors, visible, emphasis];
    this.paint();
    this.layLinks();
  }

  /** Pale all points that a question is not about; null for none. */
  setAsked(asked: ReadonlySet<number> | null): void {
    if (asked === null && this.asked === null) return;
    this.asked = asked;
    this.paint();
  }

  /** Say whether a point stands out: it is shown, and in the selection where there is one. */
  standsOut(point: number): boolean {
    return this.visible[point] === 1 && (this.emphasis === null || this.emphasis.has(point));
  }

  private paint(): void {
    const { emphasis, asked, visible, opacity } = this;
    const usual = this.atlas.kinds.map(({ count }) => Math.round(255 * opacityFor(count)));
    for (let i = 0; i < this.atlas.n; i++) {
      const full = usual[this.atlas.kindNumbers[i]];
      if (!visible[i]) opacity[i] = 0;
      else if (asked?.has(i) || emphasis?.has(i)) opacity[i] = 255;
      else if (emphasis !== null) opacity[i] = Math.max(PALE * full, PALEST);
      else opacity[i] = asked === null ? full : Math.max(PALER * full, PALEST);
    }
    this.painter.setColors(this.colors, opacity);
  }

  setSizes(sizes: Float32Array): void {
    this.sizes = sizes;
    this.painter.setSizes(sizes);
  }

  setLinks(links: readonly Links[]): void {
    this.links = links;
    this.layLinks();
  }

  /** The ends of all links that are drawn: x, y, x, y for each. */
  get ends(): Float32Array {
    return linkEnds(this.links, this.atlas.x, this.atlas.y, this.visible);
  }

  private layLinks(): void {
    this.painter.setLinks(this.links, this.atlas.x, this.atlas.y, this.visible);
  }
}
