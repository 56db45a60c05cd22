/** How large and how opaque points are. */

/** The diameter of a usual point among so many of its kind, in pixels: the more, the smaller. */
export function diameterFor(count: number): number {
  const area = Math.min(Math.max(40 * (60 / Math.max(count, 1)) ** 0.42, 3.2), 40);
  return 1.5 * Math.sqrt(area);
}

export function opacityFor(count: number): number {
  return Math.min(Math.max((600 / Math.max(count, 1)) ** 0.22, 0.4), 0.9);
}

/** How much points grow when one looks closer. */
export function growth(zoom: number): number {
  return Math.min(Math.max(zoom ** 0.3, 0.75), 3.5);
}
