/** The line layer: all links of a network, thin and pale, below the points. */

import { rgb } from "../look/palette";
import { LINK_OPACITY, type Look } from "./painter";
import { buffer, compile, fill } from "./program";
import { LINE_FRAGMENT, LINE_VERTEX } from "./shaders";

export class LineLayer {
  private readonly program: WebGLProgram;
  private readonly vertices: WebGLVertexArrayObject;
  private readonly places: WebGLBuffer;
  private count = 0;

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.program = compile(gl, LINE_VERTEX, LINE_FRAGMENT);
    this.places = buffer(gl);
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
  }

  setEnds(ends: Float32Array<ArrayBuffer>): void {
    this.count = ends.length / 2;
    fill(this.gl, this.places, ends);
  }

  draw({ camera, size, theme }: Look): void {
    if (this.count === 0) return;
    const { gl, program } = this;
    const [r, g, b] = rgb(theme.muted);
    gl.useProgram(program);
    gl.bindVertexArray(this.vertices);
    gl.uniform3f(gl.getUniformLocation(program, "u_camera"), camera.x, camera.y, camera.k);
    gl.uniform2f(gl.getUniformLocation(program, "u_half"), size.width / 2, size.height / 2);
    gl.uniform4f(gl.getUniformLocation(program, "u_color"), r / 255, g / 255, b / 255, LINK_OPACITY);
    gl.drawArrays(gl.LINES, 0, this.count);
    gl.bindVertexArray(null);
  }
}
