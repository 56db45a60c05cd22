/** Drawing by the graphics card, which remembers all it needs to begin again when the card forgets. */

import type { KindEntry } from "../data/manifest";
import { element } from "../ui/dom";
import { LineLayer } from "./gl_lines";
import { PointLayer } from "./gl_points";
import { linkEnds, type Links, type Look, type Painter } from "./painter";

type Call = (points: PointLayer, lines: LineLayer) => void;

export class GlPainter implements Painter {
  private points: PointLayer;
  private lines: LineLayer;
  /** The last of every kind of call, to be made again on a restored context. */
  private readonly calls = new Map<string, Call>();

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
    kinds: readonly KindEntry[],
    handleKind: number,
    restored: () => void,
  ) {
    this.points = new PointLayer(gl, kinds, handleKind);
    this.lines = new LineLayer(gl);
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.points = new PointLayer(gl, kinds, handleKind);
      this.lines = new LineLayer(gl);
      for (const call of this.calls.values()) call(this.points, this.lines);
      restored();
    });
  }

  private call(name: string, call: Call): void {
    this.calls.set(name, call);
    call(this.points, this.lines);
  }

  setPlaces(x: Float32Array, y: Float32Array): void {
    for (const name of ["targets", "travel", "shares", "drag"]) this.calls.delete(name);
    this.call("places", (points) => points.setPlaces(x, y));
  }

  setTargets(x: Float32Array, y: Float32Array): void {
    this.call("targets", (points) => points.setTargets(x, y));
  }

  travel(progress: number): void {
    this.call("travel", (points) => points.travel(progress));
  }

  setShares(shares: Float32Array): void {
    this.call("shares", (points) => points.setShares(shares));
  }

  drag(dx: number, dy: number): void {
    this.call("drag", (points) => points.drag(dx, dy));
  }

  setColors(colors: Uint8Array, opacity: Uint8Array): void {
    this.call("colors", (points) => points.setColors(colors, opacity));
  }

  setSizes(sizes: Float32Array): void {
    this.call("sizes", (points) => points.setSizes(sizes));
  }

  setLinks(links: readonly Links[], x: Float32Array, y: Float32Array, visible: Uint8Array): void {
    const ends = linkEnds(links, x, y, visible);
    this.call("links", (_, lines) => lines.setEnds(ends));
  }

  draw(look: Look): void {
    const { gl, canvas } = this;
    const [width, height] = [Math.round(look.size.width * look.ratio), Math.round(look.size.height * look.ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.lines.draw(look);
    this.points.draw(look);
  }
}

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Find a context that a graphics card draws; a processor that imitates one is slower than our own drawing. */
export function cardContext(canvas: HTMLCanvasElement): WebGL2RenderingContext | null {
  const gl = canvas.getContext("webgl2", {
    antialias: false,
    depth: false,
    premultipliedAlpha: true,
    failIfMajorPerformanceCaveat: true,
  });
  if (gl === null) return null;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(gl.getParameter(info === null ? gl.RENDERER : info.UNMASKED_RENDERER_WEBGL));
  return SOFTWARE.test(renderer) ? null : gl;
}

/** Make a fresh canvas for points. */
export function pointCanvas(): HTMLCanvasElement {
  return element("canvas", { class: "points", "aria-hidden": "true" });
}
