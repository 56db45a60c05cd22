/** Drawing by the processor alone, for machines without a graphics card: quick, as it does only what is needed. */

import type { KindEntry } from "../data/manifest";
import { markerOf } from "../look/markers";
import { rgb } from "../look/palette";
import { drawingOrder, type DrawingOrder } from "./order";
import { LINK_OPACITY, linkEnds, type Links, type Look, type Painter } from "./painter";
import { blend, drawLine, packed, type Sheet } from "./sheet";
import { FINE, StampBook } from "./stamps";

/** Points farther outside of the sheet than this, in pixels, are not drawn. */
const OUTSIDE = 64;

export class CanvasPainter implements Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly order: DrawingOrder;
  private readonly books: readonly StampBook[];
  private readonly x: Float32Array;
  private readonly y: Float32Array;
  private readonly colors: Int32Array;
  private readonly opacity: Uint8Array;
  private readonly sizes: Float32Array;
  private targets: readonly [Float32Array, Float32Array] | null = null;
  private progress = 0;
  private shares: Float32Array | null = null;
  private move: readonly [number, number] = [0, 0];
  private ends = new Float32Array(0);
  private image: ImageData | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    kinds: readonly KindEntry[],
    private readonly handleKind: number,
  ) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    this.order = drawingOrder(kinds);
    this.books = kinds.map((_, kind) => new StampBook(markerOf(kind)));
    const n = this.order.points.length;
    [this.x, this.y, this.sizes] = [new Float32Array(n), new Float32Array(n), new Float32Array(n).fill(1)];
    [this.colors, this.opacity] = [new Int32Array(n), new Uint8Array(n)];
  }

  /** Put values into the order of drawing. */
  private sort(values: ArrayLike<number>, into: Float32Array | Uint8Array = new Float32Array(values.length)): typeof into {
    const { points } = this.order;
    for (let slot = 0; slot < points.length; slot++) into[slot] = values[points[slot]];
    return into;
  }

  setPlaces(x: Float32Array, y: Float32Array): void {
    this.sort(x, this.x);
    this.sort(y, this.y);
    [this.targets, this.shares, this.move, this.progress] = [null, null, [0, 0], 0];
  }

  setTargets(x: Float32Array, y: Float32Array): void {
    this.targets = [this.sort(x) as Float32Array, this.sort(y) as Float32Array];
  }

  travel(progress: number): void {
    this.progress = progress;
  }

  setShares(shares: Float32Array): void {
    this.shares = this.sort(shares) as Float32Array;
  }

  drag(dx: number, dy: number): void {
    this.move = [dx, dy];
  }

  setColors(colors: Uint8Array, opacity: Uint8Array): void {
    const { points } = this.order;
    for (let slot = 0; slot < points.length; slot++) {
      const at = 3 * points[slot];
      this.colors[slot] = packed([colors[at], colors[at + 1], colors[at + 2]]);
    }
    this.sort(opacity, this.opacity);
  }

  setSizes(sizes: Float32Array): void {
    this.sort(sizes, this.sizes);
  }

  setLinks(links: readonly Links[], x: Float32Array, y: Float32Array, visible: Uint8Array): void {
    this.ends = linkEnds(links, x, y, visible);
  }

  draw(look: Look): void {
    const { canvas, context } = this;
    const [width, height] = [Math.round(look.size.width * look.ratio), Math.round(look.size.height * look.ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    if (this.image?.width !== width || this.image.height !== height) this.image = context.createImageData(width, height);
    const sheet: Sheet = { width, height, pixels: new Int32Array(this.image.data.buffer) };
    sheet.pixels.fill(packed(rgb(look.theme.paper)));
    this.drawLinks(sheet, look);
    for (const { kind, start, count } of this.order.spans) {
      if (kind !== this.handleKind) this.drawKind(sheet, look, kind, start, start + count);
    }
    context.putImageData(this.image, 0, 0);
  }

  private drawLinks(sheet: Sheet, { camera, ratio, theme }: Look): void {
    const { ends } = this;
    const k = camera.k * ratio;
    const [left, top] = [sheet.width / 2 - camera.x * k, sheet.height / 2 + camera.y * k];
    const [ink, strength] = [packed(rgb(theme.muted)), Math.round(256 * LINK_OPACITY)];
    for (let at = 0; at < ends.length; at += 4) {
      drawLine(sheet, left + ends[at] * k, top - ends[at + 1] * k, left + ends[at + 2] * k, top - ends[at + 3] * k, ink, strength);
    }
  }

  private drawKind(sheet: Sheet, look: Look, kind: number, start: number, end: number): void {
    const { x, y, colors, opacity, sizes, targets, progress, shares } = this;
    const { width, height } = sheet;
    const k = look.camera.k * look.ratio;
    const left = width / 2 - look.camera.x * k;
    const top = height / 2 + look.camera.y * k;
    const dx = this.move[0];
    const dy = this.move[1];
    const book = this.books[kind];
    const diameter = look.diameters[kind] * look.ratio;
    let size = 1;
    let page = book.page(diameter, width);
    for (let slot = start; slot < end; slot++) {
      if (opacity[slot] === 0) continue;
      let px = x[slot];
      let py = y[slot];
      if (targets !== null) {
        px += (targets[0][slot] - px) * progress;
        py += (targets[1][slot] - py) * progress;
      }
      if (shares !== null) {
        px += shares[slot] * dx;
        py += shares[slot] * dy;
      }
      const sx = left + px * k;
      const sy = top - py * k;
      if (!(sx > -OUTSIDE && sy > -OUTSIDE && sx < width + OUTSIDE && sy < height + OUTSIDE)) continue;
      if (sizes[slot] !== size) {
        size = sizes[slot];
        page = book.page(diameter * size, width);
      }
      const column = Math.floor(sx);
      const row = Math.floor(sy);
      const stamp = page[Math.floor((sy - row) * FINE) * FINE + Math.floor((sx - column) * FINE)];
      blend(sheet, stamp, column, row, colors[slot], opacity[slot]);
    }
  }
}
