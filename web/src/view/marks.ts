/** What is drawn over the points to answer a question: rings, lines, names, and new places. */

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
}
