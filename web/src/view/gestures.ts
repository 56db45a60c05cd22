/** Pointer and wheel: pan and zoom by d3, regions drawn by hand, hovering and picking. */

import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent } from "d3-zoom";
import { fromTransform, toTransform, toWorld, type Camera, type Size } from "../geometry/camera";
import { boxPolygon, simplified, type Polygon } from "../geometry/region";
import type { Tool } from "../state/view";

export interface Listeners {
  readonly camera: (camera: Camera) => void;
  readonly hover: (sx: number, sy: number) => void;
  readonly leave: () => void;
  readonly pick: (sx: number, sy: number) => void;
  readonly drawing: (polygon: Polygon | null) => void;
  readonly region: (polygon: Polygon) => void;
}

const SCALES: [number, number] = [0.25, 5000];
const SHORTEST = 4;
const ROUGHNESS = 1.5;

export class Gestures {
  tool: Tool = "pan";
  private base: Camera = { x: 0, y: 0, k: 1 };
  private size: Size = { width: 1, height: 1 };
  private readonly behavior = zoom<HTMLElement, unknown>();
  private quiet = false;

  constructor(
    private readonly surface: HTMLElement,
    private readonly listeners: Listeners,
  ) {
    this.behavior
      .scaleExtent(SCALES)
      .clickDistance(SHORTEST)
      .filter((event: MouseEvent) => event.type === "wheel" || (!event.button && !this.draws(event) && !event.ctrlKey))
      .on("zoom", (event: D3ZoomEvent<HTMLElement, unknown>) => {
        if (!this.quiet) listeners.camera(fromTransform(this.base, this.size, event.transform));
      });
    select(surface).call(this.behavior);
    surface.addEventListener("pointermove", (event) => {
      if (event.buttons === 0) listeners.hover(event.offsetX, event.offsetY);
      else listeners.leave();
    });
    surface.addEventListener("pointerleave", () => listeners.leave());
    surface.addEventListener("click", (event) => listeners.pick(event.offsetX, event.offsetY));
    surface.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && this.draws(event)) this.draw(event);
    });
  }

  /** Say what the whole map looks like on a screen of this size: d3's zoom of 1. */
  setBase(base: Camera, size: Size): void {
    this.base = base;
    this.size = size;
  }

  /** Tell d3 of a camera that did not come from it. */
  setCamera(camera: Camera): void {
    const { k, x, y } = toTransform(this.base, this.size, camera);
    this.quiet = true;
    select(this.surface).call(this.behavior.transform, zoomIdentity.translate(x, y).scale(k));
    this.quiet = false;
  }

  private draws(event: MouseEvent): boolean {
    return this.tool !== "pan" || event.shiftKey;
  }

  private draw(start: PointerEvent): void {
    const lasso = this.tool === "lasso";
    const path: number[] = [start.offsetX, start.offsetY];
    const camera = fromTransform(this.base, this.size, this.transform());
    const inMap = (polygon: readonly number[]): Polygon => {
      const corners: number[] = [];
      for (let i = 0; i < polygon.length; i += 2) corners.push(...toWorld(camera, this.size, polygon[i], polygon[i + 1]));
      return corners;
    };
    const outline = (): readonly number[] => {
      const [x0, y0, x1, y1] = [path[0], path[1], path.at(-2)!, path.at(-1)!];
      return lasso ? path : boxPolygon(x0, y0, x1, y1);
    };
    const move = (event: PointerEvent): void => {
      path.push(event.offsetX, event.offsetY);
      this.listeners.drawing(inMap(outline()));
    };
    const end = (event: PointerEvent): void => {
      this.surface.removeEventListener("pointermove", move);
      this.surface.removeEventListener("pointerup", end);
      this.surface.removeEventListener("pointercancel", end);
      this.listeners.drawing(null);
      const far = Math.max(...path.map((value, i) => Math.abs(value - path[i % 2])));
      if (event.type === "pointercancel" || far < SHORTEST) return;
      this.surface.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, once: true });
      this.listeners.region(inMap(lasso ? simplified(path, ROUGHNESS) : outline()));
    };
    this.surface.setPointerCapture(start.pointerId);
    this.surface.addEventListener("pointermove", move);
    this.surface.addEventListener("pointerup", end);
    this.surface.addEventListener("pointercancel", end);
    start.preventDefault();
  }

  private transform(): { k: number; x: number; y: number } {
    return (this.surface as HTMLElement & { __zoom?: { k: number; x: number; y: number } }).__zoom ?? zoomIdentity;
  }
}
