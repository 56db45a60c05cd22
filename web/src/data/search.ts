/** Search with completion: which names hold what was typed, the best first. */

/** Bring a text into the form in which it is compared: small letters, no accents. */
export function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
}

export interface Hit {
  readonly point: number;
  /** 0 the name itself, 1 its beginning, 2 the beginning of a word in it, 3 anywhere, 4 the id only. */
  readonly grade: number;
}

/** All names of a map, made ready for being searched. */
export class NameIndex {
  private readonly names: string[];
  private readonly ids: string[] | null;

  constructor(labels: readonly string[], ids: readonly string[]) {
    this.names = labels.map(folded);
    this.ids = labels === ids || labels.every((label, i) => label === ids[i]) ? null : ids.map(folded);
  }

  /**
   * Find up to ``count`` points among those ``allowed``, graded by where the text stands in the name; among
   * equals the more important comes first (``rank``: larger is more important), then the shorter name.
   */
  search(
    text: string,
    count: number,
    allowed: (point: number) => boolean = () => true,
    rank: (point: number) => number = () => 0,
  ): Hit[] {
    const wanted = folded(text).trim();
    if (wanted === "") return [];
    const buckets: number[][] = [[], [], [], [], []];
    for (let point = 0; point < this.names.length; point++) {
      const grade = this.grade(point, wanted);
      if (grade >= 0 && allowed(point)) buckets[grade].push(point);
    }
    const hits: Hit[] = [];
    for (let grade = 0; grade < buckets.length && hits.length < count; grade++) {
      buckets[grade].sort(
        (a, b) => rank(b) - rank(a) || this.names[a].length - this.names[b].length || a - b,
      );
      for (const point of buckets[grade].slice(0, count - hits.length)) hits.push({ point, grade });
    }
    return hits;
  }

  private grade(point: number, wanted: string): number {
    const name = this.names[point];
    const at = name.indexOf(wanted);
    if (at === 0) return name.length === wanted.length ? 0 : 1;
    if (at > 0) return startsWord(name, wanted, at) ? 2 : 3;
    return this.ids?.[point].includes(wanted) ? 4 : -1;
  }
}

function startsWord(name: string, wanted: string, first: number): boolean {
  for (let at = first; at > 0; at = name.indexOf(wanted, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(name[at - 1])) return true;
  }
  return false;
}
