// The graph by groups: a box for each, with its entities where it is open, and the dependencies between the boxes.
import { useMemo } from "preact/hooks";
import { GLYPHS, type GraphModel, type Group, LETTER_CLASSES, tally, UNKNOWN } from "./model";

const COLUMNS = 6;
const [WIDTH, HEAD, ROW, GAP_X, GAP_Y, PAD] = [210, 62, 26, 90, 22, 12];
const ROWS = 14;
const MOST_OPEN = 168;
const MOST_LINES = 3000;

const px = (size: number) => `${size}px`;

type Box = { x: number; y: number; width: number; height: number };
type Placed = Box & { group: Group; isOpen: boolean; shown: number[] };

export function GroupedGraph(props: {
  model: GraphModel;
  by: string;
  matching: Uint8Array;
  open: ReadonlySet<string>;
  states: string;
  letters: Record<string, string>;
  chosen: ReadonlySet<number>;
  toggle: (value: string) => void;
  select: (at: number) => void;
}) {
  const { model, by, matching, open, states, letters, chosen, toggle, select } = props;
  const groups = useMemo(() => model.groups(by, matching), [model, by, matching]);
  const { placed, width, height } = useMemo(() => place(groups, open), [groups, open]);
  const lines = useMemo(() => between(model, placed, chosen), [model, placed, chosen]);
  return (
    <div class="boxes scroll card" data-drawn="true">
      <div class="plane" style={{ width: px(width), height: px(height) }}>
        <svg width={width} height={height} aria-hidden="true">
          {lines.map(({ path, weight, isChosen }) => (
            <path key={path} d={path} class={isChosen ? "is-chosen" : undefined} stroke-width={1 + Math.log2(weight) / 2} />
          ))}
        </svg>
        {placed.map((box) => (
          <section key={box.group.value} class="box" aria-label={box.group.value || `no ${by}`} style={{ left: px(box.x), top: px(box.y), width: px(box.width), height: px(box.height) }}>
            <button type="button" class="head" aria-expanded={box.isOpen} onClick={() => toggle(box.group.value)} title={box.group.value}>
              <bdi class="name">{box.group.value || `(no ${by})`}</bdi>
              <span class="note">{box.group.members.length.toLocaleString("en")}</span>
              <Bar members={box.group.members} states={states} letters={letters} />
            </button>
            {box.isOpen && (
              <ul>
                {box.shown.map((at) => (
                  <li key={at}>
                    <button type="button" class={`entity${chosen.has(at) ? " is-chosen" : ""}`} title={`${model.name(at)}: ${letters[states[at] ?? UNKNOWN] ?? "?"}`} onClick={() => select(at)}>
                      <i class={`cell is-${LETTER_CLASSES[states[at] ?? UNKNOWN] ?? "none"}`} aria-hidden="true">{GLYPHS[states[at] ?? UNKNOWN] ?? ""}</i>
                      <bdi>{model.name(at)}</bdi>
                    </button>
                  </li>
                ))}
                {box.shown.length < box.group.members.length && <li class="more">and {(box.group.members.length - box.shown.length).toLocaleString("en")} more: filter to see them</li>}
              </ul>
            )}
          </section>
        ))}
      </div>
    </div>
  );
}

/** How many are in which state, as shares of a bar and in words. */
function Bar({ members, states, letters }: { members: number[]; states: string; letters: Record<string, string> }) {
  const told = useMemo(() => tally(members, states, Object.keys(letters)), [members, states]);
  const words = told.map(({ letter, count }) => `${count.toLocaleString("en")} ${letters[letter]}`).join(", ");
  let begin = 0;
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      {told.map(({ letter, count }) => {
        const share = Math.max(1.5, (100 * count) / members.length);
        const part = <rect key={letter} class={`is-${LETTER_CLASSES[letter]}`} x={begin} width={share} height="6" />;
        begin += share;
        return part;
      })}
    </svg>
  );
}

function place(groups: Group[], open: ReadonlySet<string>): { placed: Placed[]; width: number; height: number } {
  const [least, most] = [groups[0]?.depth ?? 0, groups.at(-1)?.depth ?? 0];
  const columns: Group[][] = [];
  const count = Math.min(COLUMNS, groups.length);
  groups.forEach((group, at) => {
    const byDepth = most > least ? Math.round(((group.depth - least) / (most - least)) * (count - 1)) : at % count;
    (columns[byDepth] ??= []).push(group);
  });
  const placed: Placed[] = [];
  let [x, height] = [PAD, 0];
  for (const column of columns.filter(Boolean)) {
    let [y, wide] = [PAD, WIDTH];
    for (const group of column) {
      const isOpen = open.has(group.value);
      const shown = isOpen ? group.members.slice(0, MOST_OPEN) : [];
      const lines = shown.length + (isOpen && shown.length < group.members.length ? 1 : 0);
      const across = Math.max(1, Math.ceil(lines / ROWS));
      const box = { group, isOpen, shown, x, y, width: WIDTH * across, height: HEAD + (isOpen ? ROW * Math.min(ROWS, lines) + 8 : 0) };
      placed.push(box);
      wide = Math.max(wide, box.width);
      y += box.height + GAP_Y;
    }
    height = Math.max(height, y);
    x += wide + GAP_X;
  }
  return { placed, width: x - GAP_X + PAD, height };
}

type Line = { path: string; weight: number; isChosen: boolean };

function between(model: GraphModel, placed: Placed[], chosen: ReadonlySet<number>): Line[] {
  const ends: Box[] = [];
  const endOf = new Int32Array(model.count).fill(-1);
  for (const box of placed) {
    box.group.members.forEach((at) => (endOf[at] = ends.length));
    ends.push(box);
    box.shown.forEach((at, index) => {
      const [column, row] = [Math.floor(index / ROWS), index % ROWS];
      endOf[at] = ends.length;
      ends.push({ x: box.x + WIDTH * column, y: box.y + HEAD + ROW * row, width: WIDTH, height: ROW });
    });
  }
  const weights = new Map<number, { weight: number; isChosen: boolean }>();
  const { up, down } = model.picture;
  up.forEach((from, index) => {
    const to = down[index] ?? 0;
    const [begin, end] = [endOf[from] ?? -1, endOf[to] ?? -1];
    if (begin < 0 || end < 0 || begin === end) return;
    const key = begin * ends.length + end;
    const line = weights.get(key) ?? { weight: 0, isChosen: false };
    line.weight += 1;
    line.isChosen ||= chosen.has(from) && chosen.has(to);
    weights.set(key, line);
  });
  const heaviest = [...weights].sort(([, one], [, other]) => other.weight - one.weight).slice(0, MOST_LINES);
  return heaviest.map(([key, line]) => ({ ...line, path: curve(ends[Math.floor(key / ends.length)]!, ends[key % ends.length]!) }));
}

function curve(from: Box, to: Box): string {
  const isForward = to.x > from.x + from.width / 2;
  const [x1, y1] = [from.x + from.width, from.y + Math.min(from.height, HEAD) / 2];
  const [x2, y2] = [isForward ? to.x : to.x + to.width, to.y + Math.min(to.height, HEAD) / 2];
  const bend = isForward ? Math.max(30, (x2 - x1) / 2) : 60;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${isForward ? x2 - bend : x2 + bend} ${y2} ${x2} ${y2}`;
}
