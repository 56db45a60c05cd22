/** What is drawn over the points to answer a question: rings, lines, names, and new places. */

/** From a point's edge to a strong ring around it, and from a star's middle to its text, in pixels. */
export const RING_GAP = 3.5;
export const STAR_TEXT = 15;

export interface Ring {
  readonly point: number;
  readonly strong: boolean;
}

export interface Line {
  readonly from: number;
  readonly to: number;
  /** From 0 to 1: how wide and how opaque. */
  readonly strength: number;
  readonly dashed: boolean;
}

export interface Star {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** Its colour, where it is not the accent of the page. */
  readonly color?: string;
  /** Points to join with the star by thin lines. */
  readonly near: readonly number[];
}

export interface Marks {
  readonly rings?: readonly Ring[];
  readonly lines?: readonly Line[];
  /** Points whose names are written before all others. */
  readonly names?: readonly number[];
  readonly stars?: readonly Star[];
  /** Whether all points that are not part of it become paler. */
  readonly pales?: boolean;
}

/** List the points that marks are about. */
export function markedPoints({ rings = [], lines = [], names = [], stars = [] }: Marks): number[] {
  return [
    ...rings.map(({ point }) => point),
    ...lines.flatMap(({ from, to }) => [from, to]),
    ...names,
    ...stars.flatMap(({ near }) => near),
  ];
}
