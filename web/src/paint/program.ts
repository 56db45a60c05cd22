/** Small helpers for WebGL 2. */

export function compile(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(type);
    if (shader === null) throw new Error("The graphics of this browser are not available.");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`The graphics of this browser refuse to draw points: ${gl.getProgramInfoLog(program) ?? ""}`);
  }
  return program;
}

/** Make a buffer of vertex attributes. */
export function buffer(gl: WebGL2RenderingContext): WebGLBuffer {
  return gl.createBuffer();
}

/** Fill a buffer anew. */
export function fill(gl: WebGL2RenderingContext, target: WebGLBuffer, data: ArrayBufferView<ArrayBuffer>): void {
  gl.bindBuffer(gl.ARRAY_BUFFER, target);
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
}
