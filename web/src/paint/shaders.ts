/** The programs that run on the graphics card. */

/**
 * A point's place is where it is, or a part of the way to where it travels, plus its share of the move of the
 * prototype that is dragged: one column of the response matrix is all a drag needs.
 */
export const POINT_VERTEX = `#version 300 es
layout(location = 0) in vec2 a_place;
layout(location = 1) in vec2 a_target;
layout(location = 2) in vec4 a_color;
layout(location = 3) in float a_size;
layout(location = 4) in float a_share;
uniform vec3 u_camera;
uniform vec2 u_half;
uniform vec2 u_move;
uniform float u_progress;
uniform float u_diameter;
out vec4 v_color;
out float v_radius;
void main() {
  vec2 place = mix(a_place, a_target, u_progress) + a_share * u_move;
  vec2 screen = (place - u_camera.xy) * u_camera.z / u_half;
  float diameter = u_diameter * a_size;
  gl_Position = a_color.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(screen, 0.0, 1.0);
  gl_PointSize = diameter + 1.0;
  v_radius = 0.5 * diameter;
  v_color = a_color;
}`;

/** Every kind has a shape; edges are smoothed over one pixel. */
export const POINT_FRAGMENT = `#version 300 es
precision mediump float;
uniform int u_shape;
in vec4 v_color;
in float v_radius;
out vec4 color;
float outline(vec2 p) {
  vec2 a = abs(p);
  if (u_shape == 0) return length(p);
  if (u_shape == 1) return max(p.y + 0.28, 0.874 * a.x - 0.483 * p.y + 0.517);
  if (u_shape == 2) return max(a.x, a.y) / 0.82;
  if (u_shape == 3) return a.x / 0.86 + a.y;
  if (u_shape == 4) return max(0.28 - p.y, 0.874 * a.x + 0.483 * p.y + 0.517);
  if (u_shape == 5) return max(max(a.x, a.y), min(a.x, a.y) / 0.36);
  if (u_shape == 6) {
    vec2 q = 0.7071 * abs(vec2(p.x + p.y, p.x - p.y));
    return max(max(q.x, q.y), min(q.x, q.y) / 0.36);
  }
  return max(a.x, 0.5 * a.x + 0.866 * a.y) / 0.866;
}
void main() {
  float away = outline((2.0 * gl_PointCoord - 1.0) * (v_radius + 0.5) / v_radius);
  float cover = clamp((1.0 - away) * v_radius + 0.5, 0.0, 1.0);
  if (cover == 0.0) discard;
  float alpha = v_color.a * cover;
  color = vec4(v_color.rgb * alpha, alpha);
}`;

/** Thin lines between points, for networks. */
export const LINE_VERTEX = `#version 300 es
layout(location = 0) in vec2 a_place;
uniform vec3 u_camera;
uniform vec2 u_half;
void main() {
  gl_Position = vec4((a_place - u_camera.xy) * u_camera.z / u_half, 0.0, 1.0);
}`;

export const LINE_FRAGMENT = `#version 300 es
precision mediump float;
uniform vec4 u_color;
out vec4 color;
void main() {
  color = vec4(u_color.rgb * u_color.a, u_color.a);
}`;
