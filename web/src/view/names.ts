/** The names on a map: which are written now, and where. */

import type { Atlas } from "../data/atlas";
import { seen, toScreen, type Camera, type Frame, type Size } from "../geometry/camera";
import { labelLimit, taking, type LabelOrder } from "./label_order";
import { placeLabels, shortened, type Box, type Placed, type Wanted } from "./labels";
import { fontFor } from "./overlay";
import { roominess, textSize } from "./sizes";
import type { Picker } from "./picking";

export interface LabelSettings {
  readonly order: LabelOrder;
  /** How many names each kind may have, from 0 to 1, in the order of kinds. */
  readonly density: readonly number[];
}

/** What names have to know of the map they are on. */
export interface Stage {
  readonly camera: Camera;
  readonly size: Size;
  /** Whether a point may be named without being asked for. */
  readonly nameable: (point: number) => boolean;
  readonly picker: Picker | null;
  readonly place: (point: number) => readonly [number, number];
  readonly radius: (point: number) => number;
  /** Points to name before all others. */
  readonly first: readonly number[];
  readonly taken: readonly Box[];
}

const ENOUGH = 6;

/** Let names that a question asks for come on top of the usual ones. */
function withFirst(limits: readonly number[], first: number): number[] {
  return limits.map((limit) => limit + first);
}

export class Names {
  placed: readonly Placed[] = [];
  settings: LabelSettings | null = null;
  private placedFor: number | null = null;
  private readonly widths = new Map<string, number>();
  private widthsAt = 0;
  /** The side on which each name was last, so that names do not jump while one zooms. */
  private readonly sides = new Map<number, number>();

  constructor(
    private readonly atlas: Atlas,
    private readonly context: CanvasRenderingContext2D,
    /** A kind whose names are written by others. */
    private readonly without: number,
  ) {}

  /** Have the names placed anew at the next opportunity, as if for the first time: a link then shows the same. */
  forget(): void {
    this.placedFor = null;
    this.sides.clear();
  }

  /** Say whether names have to be placed: panning moves them as they are, so that only a new scale counts. */
  stale(k: number): boolean {
    return this.settings !== null && this.atlas.named && this.placedFor !== k;
  }

  arrange(stage: Stage): void {
    this.placedFor = stage.camera.k;
    if (this.widthsAt !== textSize(stage.size)) this.widths.clear();
    this.widthsAt = textSize(stage.size);
    this.context.font = fontFor(stage.size);
    const room = roominess(stage.size);
    const limits = this.settings!.density.map((share, kind) => (kind === this.without ? 0 : Math.round(room * labelLimit(share))));
    const wanted = this.wanted(stage, limits);
    this.placed = placeLabels(wanted, stage.size, withFirst(limits, stage.first.length), stage.taken, this.sides);
    for (const { point, side } of this.placed) this.sides.set(point, side);
  }

  private *wanted(stage: Stage, limits: readonly number[]): Generator<Wanted> {
    const { order } = this.settings!;
    const frame = seen(stage.camera, stage.size);
    const first = new Set(stage.first);
    const queues = order.leaders.map((leaders, kind) => this.queue(stage, leaders, kind, limits[kind], frame));
    for (const point of first) yield this.label(stage, point);
    for (const point of taking(queues)) if (!first.has(point)) yield this.label(stage, point);
  }

  private label(stage: Stage, point: number): Wanted {
    const [x, y] = toScreen(stage.camera, stage.size, ...stage.place(point));
    const text = shortened(this.atlas.label(point));
    return { point, text, x, y, radius: stage.radius(point), width: this.widthOf(text), kind: this.atlas.kindNumbers[point] };
  }

  /** List the points of a kind that may be named: leaders in view, or all in view where leaders are few. */
  private queue(stage: Stage, leaders: Uint32Array, kind: number, limit: number, frame: Frame): number[] {
    if (limit === 0) return [];
    const inView = (point: number): boolean => {
      const [x, y] = stage.place(point);
      return stage.nameable(point) && x >= frame.x0 && x <= frame.x1 && y >= frame.y0 && y <= frame.y1;
    };
    const found: number[] = [];
    for (const point of leaders) if (inView(point) && found.push(point) >= ENOUGH * limit) return found;
    if (leaders.length === this.atlas.kinds[kind].count || stage.picker === null) return found;
    const { rank } = this.settings!.order;
    const all = stage.picker.inside(frame).filter((point) => this.atlas.kindNumbers[point] === kind && inView(point));
    return all.sort((a, b) => rank(b) - rank(a) || a - b).slice(0, ENOUGH * limit);
  }

  private widthOf(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = Math.ceil(this.context.measureText(text).width);
      this.widths.set(text, width);
    }
    return width;
  }
}
