// The picture of the server in a form for drawing: groups, filters and neighbours are worked out here.
import type { GraphPicture } from "../api";

/** The letter of an entity without an answer yet. */
export const UNKNOWN = "?";
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name on a canvas, where no element isolates it: marks of direction are shown, not obeyed. */
export const drawn = (name: string, most: number): string => {
  const plain = name.slice(0, most).replace(BIDI, "\ufffd");
  return name.length > most ? `${plain}…` : plain;
};

export type Group = { value: string; members: number[]; depth: number };

export class GraphModel {
  readonly count: number;
  readonly number: Map<string, number>;
  private texts: string[] | null = null;

  constructor(readonly picture: GraphPicture) {
    this.count = picture.names.length;
    this.number = new Map(picture.names.map((name, at) => [name, at]));
  }

  name = (at: number): string => this.picture.names[at] ?? "";

  /** What the entity has of each facet, without empty values. */
  facetsOf(at: number): { name: string; value: string }[] {
    return this.picture.facets
      .map(({ name, values, of }) => ({ name, value: values[of[at] ?? 0] ?? "" }))
      .filter(({ value }) => value !== "");
  }

  /** One for each entity that has all words in its name, layer, owner, kind, period or tags. */
  matching(search: string): Uint8Array {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return new Uint8Array(this.count).fill(1);
    const facets = this.picture.facets.map(({ name, values, of }) => ({
      of,
      texts: values.map((value) => (value === "" ? "" : name.startsWith("tag ") ? `${name.slice(4)}=${value}` : value).toLowerCase()),
    }));
    this.texts ??= this.picture.names.map((name, at) => [name.toLowerCase(), ...facets.map(({ of, texts }) => texts[of[at] ?? 0])].join(" "));
    return Uint8Array.from(this.texts, (text) => (words.every((word) => text.includes(word)) ? 1 : 0));
  }

  /** The matching entities by the value of a facet, from upstream to downstream. */
  groups(facet: string, matching: Uint8Array): Group[] {
    const told = this.picture.facets.find(({ name }) => name === facet) ?? this.picture.facets[0];
    if (!told) return [];
    const groups: Group[] = told.values.map((value) => ({ value, members: [], depth: 0 }));
    told.of.forEach((value, at) => {
      const group = groups[value];
      if (!matching[at] || !group) return;
      group.members.push(at);
      group.depth += this.picture.columns[at] ?? 0;
    });
    const shown = groups.filter(({ members }) => members.length > 0);
    shown.forEach((group) => (group.depth /= group.members.length));
    return shown.sort((one, other) => one.depth - other.depth);
  }
}

/** How many entities have each letter, in the order of the words: worst first. */
export function tally(members: Iterable<number>, states: string, letters: string[]): { letter: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const at of members) counts.set(states[at] ?? UNKNOWN, (counts.get(states[at] ?? UNKNOWN) ?? 0) + 1);
  return letters.filter((letter) => counts.has(letter)).map((letter) => ({ letter, count: counts.get(letter) ?? 0 }));
}

export const LETTER_CLASSES: Record<string, string> = {
  f: "failed", b: "flagged", a: "absent", l: "late", r: "running", w: "waiting", t: "to-come", c: "completed", "-": "none",
};
export const GLYPHS: Record<string, string> = { f: "✕", b: "!", a: "–", l: "…", r: "▸", w: "…", t: "·", c: "✓", "-": "" };
