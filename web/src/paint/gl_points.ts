/** The point layer: all points of a map, drawn by WebGL 2. */

import type { KindEntry } from "../data/manifest";
import { drawingOrder, type DrawingOrder } from "./order";
import { LARGEST, type Look } from "./painter";
import { buffer, compile, fill } from "./program";
import { POINT_FRAGMENT, POINT_VERTEX } from "./shaders";

const PLACE = 0;
const TARGET = 1;
const COLOR = 2;
const SIZE = 3;
const SHARE = 4;

export class PointLayer {
  private readonly program: WebGLProgram;
  private readonly vertices: WebGLVertexArrayObject;
  private readonly order: DrawingOrder;
  private readonly placeBuffer: WebGLBuffer;
  private readonly targetBuffer: WebGLBuffer;
  private readonly colorBuffer: WebGLBuffer;
  private readonly sizeBuffer: WebGLBuffer;
  private readonly shareBuffer: WebGLBuffer;
  private readonly uniforms: Readonly<Record<string, WebGLUniformLocation | null>>;
  private move: readonly [number, number] = [0, 0];
  private progress = 0;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    kinds: readonly KindEntry[],
    private readonly hiddenKind = -1,
  ) {
    this.order = drawingOrder(kinds);
    this.program = compile(gl, POINT_VERTEX, POINT_FRAGMENT);
    const names = ["u_camera", "u_half", "u_diameter", "u_shape", "u_move", "u_progress"];
    this.uniforms = Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(this.program, name)]));
    [this.placeBuffer, this.targetBuffer, this.colorBuffer, this.sizeBuffer, this.shareBuffer] = Array.from(
      { length: 5 },
      () => buffer(gl),
    );
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    this.attribute(PLACE, this.placeBuffer, 2, gl.FLOAT, false);
    this.attribute(COLOR, this.colorBuffer, 4, gl.UNSIGNED_BYTE, true);
    this.attribute(SIZE, this.sizeBuffer, 1, gl.UNSIGNED_BYTE, true);
    gl.bindVertexArray(null);
  }

  private attribute(slot: number, target: WebGLBuffer, parts: number, type: number, normalized: boolean): void {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, target);
    gl.enableVertexAttribArray(slot);
    gl.vertexAttribPointer(slot, parts, type, normalized, 0, 0);
  }

  setPlaces(x: Float32Array, y: Float32Array): void {
    fill(this.gl, this.placeBuffer, this.interleaved(x, y));
    this.stop();
  }

  setTargets(x: Float32Array, y: Float32Array): void {
    fill(this.gl, this.targetBuffer, this.interleaved(x, y));
    this.gl.bindVertexArray(this.vertices);
    this.attribute(TARGET, this.targetBuffer, 2, this.gl.FLOAT, false);
    this.gl.bindVertexArray(null);
  }

  travel(progress: number): void {
    this.progress = progress;
  }

  setShares(shares: Float32Array): void {
    const { points } = this.order;
    const ordered = new Float32Array(points.length);
    for (let slot = 0; slot < points.length; slot++) ordered[slot] = shares[points[slot]];
    fill(this.gl, this.shareBuffer, ordered);
    this.gl.bindVertexArray(this.vertices);
    this.attribute(SHARE, this.shareBuffer, 1, this.gl.FLOAT, false);
    this.gl.bindVertexArray(null);
  }

  drag(dx: number, dy: number): void {
    this.move = [dx, dy];
  }

  private stop(): void {
    const { gl } = this;
    this.move = [0, 0];
    this.progress = 0;
    gl.bindVertexArray(this.vertices);
    gl.disableVertexAttribArray(TARGET);
    gl.disableVertexAttribArray(SHARE);
    gl.bindVertexArray(null);
  }

  setColors(colors: Uint8Array, opacity: Uint8Array): void {
    const { points } = this.order;
    const ordered = new Uint8Array(4 * points.length);
    for (let slot = 0; slot < points.length; slot++) {
      const point = points[slot];
      ordered[4 * slot] = colors[3 * point];
      ordered[4 * slot + 1] = colors[3 * point + 1];
      ordered[4 * slot + 2] = colors[3 * point + 2];
      ordered[4 * slot + 3] = opacity[point];
    }
    fill(this.gl, this.colorBuffer, ordered);
  }

  setSizes(sizes: Float32Array): void {
    const { points } = this.order;
    const ordered = new Uint8Array(points.length);
    for (let slot = 0; slot < points.length; slot++) {
      ordered[slot] = Math.round((255 * Math.min(sizes[points[slot]], LARGEST)) / LARGEST);
    }
    fill(this.gl, this.sizeBuffer, ordered);
  }

  draw({ camera, size, ratio, diameters }: Look): void {
    const { gl, uniforms } = this;
    gl.useProgram(this.program);
    gl.bindVertexArray(this.vertices);
    gl.vertexAttrib2f(TARGET, 0, 0);
    gl.vertexAttrib1f(SHARE, 0);
    gl.uniform3f(uniforms["u_camera"], camera.x, camera.y, camera.k);
    gl.uniform2f(uniforms["u_half"], size.width / 2, size.height / 2);
    gl.uniform2f(uniforms["u_move"], ...this.move);
    gl.uniform1f(uniforms["u_progress"], this.progress);
    for (const { kind, start, count } of this.order.spans) {
      if (kind === this.hiddenKind) continue;
      gl.uniform1f(uniforms["u_diameter"], diameters[kind] * ratio * LARGEST);
      gl.uniform1i(uniforms["u_shape"], kind % 8);
      gl.drawArrays(gl.POINTS, start, count);
    }
    gl.bindVertexArray(null);
  }

  private interleaved(x: Float32Array, y: Float32Array): Float32Array<ArrayBuffer> {
    const { points } = this.order;
    const places = new Float32Array(2 * points.length);
    for (let slot = 0; slot < points.length; slot++) {
      places[2 * slot] = x[points[slot]];
      places[2 * slot + 1] = y[points[slot]];
    }
    return places;
  }
}
