// All entities as one picture on two canvases: dependencies below, entities above. A new day draws only the upper one.
import { useEffect, useRef } from "preact/hooks";
import { drawn, type GraphModel, LETTER_CLASSES, UNKNOWN } from "./model";

const AT_ONCE = 30_000; // dependencies drawn in one frame, so that the page answers in between
const PER_STROKE = 500; // a path of many thousand lines is slow
const MOST_LABELS = 1500;
const COLOURS: Record<string, string> = {
  failed: "--bad", flagged: "--bad", absent: "--bad", late: "--warm", running: "--work", waiting: "--idle", "to-come": "--line-strong", completed: "--good", none: "--line-strong",
};

type Place = { x: number; y: number; kx: number; ky: number };
type Shown = { model: GraphModel; matching: Uint8Array; states: string; chosen: ReadonlySet<number> };

export function WholeGraph(props: Shown & { day: string; select: (at: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const painter = useRef<Painter | null>(null);
  useEffect(() => {
    const mine = (painter.current = new Painter(box.current!, (at) => props.select(at)));
    return () => mine.end();
  }, []);
  useEffect(() => painter.current?.show(props), [props.model, props.matching, props.states, props.chosen]);
  return (
    <div class="whole card" data-day={props.day} ref={box} tabIndex={0} role="application" aria-label="The whole graph. Arrow keys move it, plus and minus zoom, 0 shows all. The filter finds an entity by its name.">
      <canvas class="edges" />
      <canvas class="nodes" />
      <span class="moves">
        {(["+", "−", "0"] as const).map((key) => (
          <button key={key} type="button" aria-label={{ "+": "Zoom in", "−": "Zoom out", "0": "Show all" }[key]} onClick={() => painter.current?.press(key)}>{key === "0" ? "All" : key}</button>
        ))}
      </span>
    </div>
  );
}

class Painter {
  private readonly edges: HTMLCanvasElement;
  private readonly nodes: HTMLCanvasElement;
  private readonly resized: ResizeObserver;
  private readonly themed: MutationObserver;
  private readonly listening = new AbortController();
  private shown: Shown | null = null;
  private place: Place = { x: 0, y: 0, kx: 1, ky: 1 };
  private round = 0;
  private settle: number | undefined;
  private drag: { x: number; y: number; moved: number } | null = null;

  constructor(
    private readonly box: HTMLElement,
    private readonly select: (at: number) => void,
  ) {
    this.edges = box.querySelector(".edges")!;
    this.nodes = box.querySelector(".nodes")!;
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(box);
    this.themed = new MutationObserver(() => this.draw());
    this.themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const { signal } = this.listening;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(), { signal });
    box.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
    box.addEventListener("pointerdown", (event) => (this.drag = { x: event.clientX, y: event.clientY, moved: 0 }), { signal });
    box.addEventListener("pointermove", (event) => this.move(event), { signal });
    addEventListener("pointerup", (event) => this.up(event), { signal });
    box.addEventListener("keydown", (event) => event.target === box && this.press(event.key) && event.preventDefault(), { signal });
  }

  end(): void {
    this.round++;
    window.clearTimeout(this.settle);
    this.resized.disconnect();
    this.themed.disconnect();
    this.listening.abort();
  }

  show(shown: Shown): void {
    const before = this.shown;
    this.shown = shown;
    if (before?.model !== shown.model || before.matching !== shown.matching) this.fit();
    else if (before.chosen !== shown.chosen || before.states !== shown.states) this.drawNodes();
  }

  press(key: string): boolean {
    const step = 80;
    const moves: Record<string, () => void> = {
      "+": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), "−": () => this.zoom(1 / 1.5), "0": () => this.fit(),
      ArrowLeft: () => this.shift(step, 0), ArrowRight: () => this.shift(-step, 0), ArrowUp: () => this.shift(0, step), ArrowDown: () => this.shift(0, -step),
    };
    moves[key]?.();
    return key in moves;
  }

  /** All matching entities in the window. */
  private fit(): void {
    if (!this.shown) return;
    const { clientWidth: width, clientHeight: height } = this.box;
    const ratio = Math.min(2, devicePixelRatio);
    for (const canvas of [this.edges, this.nodes]) [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const { columns, rows } = this.shown.model.picture;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    this.shown.matching.forEach((is, at) => {
      if (!is) return;
      left = Math.min(left, columns[at]!);
      right = Math.max(right, columns[at]!);
      top = Math.min(top, rows[at]!);
      bottom = Math.max(bottom, rows[at]!);
    });
    if (left === Infinity) [left, right, top, bottom] = [0, 0, 0, 0];
    const kx = Math.min(260, (width - 60) / (right - left + 1));
    const ky = Math.min(48, (height - 60) / (bottom - top + 1));
    this.place = { kx, ky, x: 30 - left * kx + (width - 60 - kx * (right - left + 1)) / 2, y: 30 - top * ky + ky / 2 + (height - 60 - ky * (bottom - top + 1)) / 2 };
    this.draw();
  }

  private zoom(by: number, x = this.box.clientWidth / 2, y = this.box.clientHeight / 2): void {
    const { place } = this;
    this.place = { kx: place.kx * by, ky: place.ky * by, x: x - (x - place.x) * by, y: y - (y - place.y) * by };
    this.drawNodes();
    this.later();
  }

  private shift(x: number, y: number): void {
    this.place = { ...this.place, x: this.place.x + x, y: this.place.y + y };
    this.drawNodes();
    this.later();
  }

  /** Dependencies follow once the picture rests. */
  private later(): void {
    this.round++;
    this.edges.hidden = true;
    window.clearTimeout(this.settle);
    this.settle = window.setTimeout(() => this.draw(), 120);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { left, top } = this.box.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), event.clientX - left, event.clientY - top);
  }

  private move(event: PointerEvent): void {
    if (!this.drag) {
      const at = this.at(event);
      this.box.title = at === null ? "" : drawn(this.shown!.model.name(at), 200);
      return;
    }
    const [x, y] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
    this.drag = { x: event.clientX, y: event.clientY, moved: this.drag.moved + Math.abs(x) + Math.abs(y) };
    if (this.drag.moved > 4) this.shift(x, y);
  }

  private up(event: PointerEvent): void {
    const isClick = this.drag !== null && this.drag.moved <= 4 && (event.target as Element).tagName === "CANVAS";
    this.drag = null;
    const at = isClick ? this.at(event) : null;
    if (at !== null) this.select(at);
  }

  private at(event: PointerEvent): number | null {
    if (!this.shown) return null;
    const { left, top } = this.box.getBoundingClientRect();
    const { columns, rows } = this.shown.model.picture;
    let [nearest, distance] = [-1, 14 ** 2];
    for (let at = 0; at < columns.length; at++) {
      const away = (columns[at]! * this.place.kx + this.place.x - event.clientX + left) ** 2 + (rows[at]! * this.place.ky + this.place.y - event.clientY + top) ** 2;
      if (away < distance && this.shown.matching[at]) [nearest, distance] = [at, away];
    }
    return nearest < 0 ? null : nearest;
  }

  private draw(): void {
    this.drawNodes();
    this.drawEdges();
  }

  private colour(name: string): string {
    return getComputedStyle(this.box).getPropertyValue(name).trim();
  }

  private begin(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const context = canvas.getContext("2d")!;
    const ratio = Math.min(2, devicePixelRatio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    return context;
  }

  private drawEdges(): void {
    if (!this.shown) return;
    const { model, matching } = this.shown;
    const { columns, rows, up, down } = model.picture;
    const { x, y, kx, ky } = this.place;
    const [mine, context, width] = [++this.round, this.begin(this.edges), this.box.clientWidth];
    this.edges.hidden = false;
    context.strokeStyle = this.colour("--line-strong");
    context.globalAlpha = Math.max(0.12, Math.min(0.9, 4000 / up.length));
    delete this.box.dataset["drawn"];
    const some = (first: number) => {
      if (mine !== this.round) return;
      const last = Math.min(up.length, first + AT_ONCE);
      for (let begin = first; begin < last; begin += PER_STROKE) {
        context.beginPath();
        for (let edge = begin; edge < Math.min(last, begin + PER_STROKE); edge++) {
          const [from, to] = [up[edge]!, down[edge]!];
          const [x1, x2] = [columns[from]! * kx + x, columns[to]! * kx + x];
          if (!matching[from] || !matching[to] || Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) continue;
          context.moveTo(x1, rows[from]! * ky + y);
          context.lineTo(x2, rows[to]! * ky + y);
        }
        context.stroke();
      }
      if (last < up.length) requestAnimationFrame(() => some(last));
      else requestAnimationFrame(() => mine === this.round && (this.box.dataset["drawn"] = "true"));
    };
    some(0);
  }

  private drawNodes(): void {
    if (!this.shown) return;
    const { model, matching, states, chosen } = this.shown;
    const { columns, rows, up, down } = model.picture;
    const { x, y, kx, ky } = this.place;
    const [context, width, height] = [this.begin(this.nodes), this.box.clientWidth, this.box.clientHeight];
    const size = Math.max(1.6, Math.min(11, ky * 0.6, kx * 0.6));
    const byColour = new Map<string, number[]>();
    const visible: number[] = [];
    for (let at = 0; at < model.count; at++) {
      const [left, top] = [columns[at]! * kx + x, rows[at]! * ky + y];
      if (left < -20 || top < -20 || left > width + 20 || top > height + 20) continue;
      const colour = matching[at] ? (COLOURS[LETTER_CLASSES[states[at] ?? UNKNOWN] ?? "none"] ?? "--line-strong") : "--line";
      let same = byColour.get(colour);
      if (!same) byColour.set(colour, (same = []));
      same.push(at);
      if (matching[at]) visible.push(at);
    }
    for (const [colour, members] of byColour) {
      context.fillStyle = this.colour(colour);
      for (const at of members) context.fillRect(columns[at]! * kx + x - size / 2, rows[at]! * ky + y - size / 2, size, size);
    }
    if (chosen.size > 0) {
      context.strokeStyle = context.fillStyle = this.colour("--accent");
      context.lineWidth = 2;
      context.beginPath();
      for (let edge = 0; edge < up.length; edge++) {
        const [from, to] = [up[edge]!, down[edge]!];
        if (!chosen.has(from) || !chosen.has(to)) continue;
        context.moveTo(columns[from]! * kx + x, rows[from]! * ky + y);
        context.lineTo(columns[to]! * kx + x, rows[to]! * ky + y);
      }
      for (const at of chosen) context.rect(columns[at]! * kx + x - size, rows[at]! * ky + y - size, size * 2, size * 2);
      context.stroke();
    }
    const most = Math.floor((kx - size - 10) / 6.6);
    const labelled = most >= 6 && ky >= 13 && visible.length <= MOST_LABELS ? visible : [...chosen].slice(0, 60);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = this.colour("--text");
    for (const at of labelled) context.fillText(drawn(model.name(at), Math.max(most, chosen.has(at) ? 30 : 0)), columns[at]! * kx + x + size / 2 + 4, rows[at]! * ky + y);
  }
}
