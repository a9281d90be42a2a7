// What needs a person, worst first, with what helps; and the promises that are at risk though nothing is wrong yet.
import { useEffect } from "preact/hooks";
import type { Baseline, Baselines, LakeStatus, Pressing } from "../api";
import { useAnswer } from "../answer";
import type { Change } from "../live";
import { Card, CopyButton, decode, Loading, Sentence, SliceLink, Time, Trouble } from "../parts";
import { ago, viewerZone } from "../time";

const RISK = 0.1;
const MEANINGS: Record<string, string> = {
  late: "promised, and not there",
  failed: "its run failed",
  invalid: "a rule is broken",
  foreign: "somebody else changed its data",
  absent: "its data is gone",
  tainted: "an input was found wrong",
};

export function TodayPage(props: { refused: () => void; onChanges: (take: (changes: Change[] | null) => void) => () => void }) {
  const { refused, onChanges } = props;
  const stands = useAnswer<LakeStatus>("/v1/status", refused);
  const promised = useAnswer<Baselines>("/v1/baseline", refused);
  useEffect(() => {
    let timer: number | undefined;
    const ask = () => ((timer = undefined), stands.again(), promised.again());
    const stop = onChanges(() => (timer ??= window.setTimeout(ask, 500)));
    const minute = window.setInterval(ask, 60_000);
    return () => (window.clearTimeout(timer), window.clearInterval(minute), stop());
  }, [stands.again, promised.again]);
  useEffect(() => {
    document.title = `${stands.data?.pressing.length ? `(${stands.data.pressing.length}) ` : ""}Today · Tidemark`;
  }, [stands.data]);
  if (!stands.data) return stands.error ? <Trouble error={stands.error} again={stands.again} /> : <Loading what="today" />;
  const told = stands.data;
  return (
    <article class="today">
      {stands.error && <Trouble error={stands.error} again={stands.again} />}
      <header class="page-head">
        <h1>Today</h1>
        <p class="note">
          as of <Time at={told.now} zone={viewerZone} /> ({viewerZone})
        </p>
      </header>
      {told.center_trouble && <p class="trouble" role="alert"><Sentence text={told.center_trouble} /></p>}
      <Sums told={told} />
      {told.pressing.length === 0 ? <AllWell /> : <Lines lines={told.pressing} />}
      <AtRisk told={promised.data?.baselines ?? []} />
      <Backfills told={told} />
    </article>
  );
}

function Sums({ told }: { told: LakeStatus }) {
  const count = (of: (each: LakeStatus["entities"][number]) => number) => told.entities.reduce((sum, each) => sum + of(each), 0);
  const sums: [string, number, boolean][] = [
    ["late", count((each) => each.late.length), true],
    ["failed", count((each) => each.failed.length), true],
    ["invalid", count((each) => each.invalid.length), true],
    ["tainted", count((each) => each.tainted.length), true],
    ["running", count((each) => each.under_way.length), false],
    ["waiting", count((each) => each.waiting.length), false],
    ["completed", count((each) => each.completed), false],
  ];
  return (
    <dl class="sums">
      {sums.map(([word, figure, isBad]) => (
        <div key={word} class={isBad && figure > 0 ? "is-bad" : ""}>
          <dt>{word}</dt>
          <dd>{figure.toLocaleString("en")}</dd>
        </div>
      ))}
    </dl>
  );
}

const AllWell = () => (
  <section class="verdict is-calm">
    <p>Nothing needs a person.</p>
    <p class="note">No slice is late, failed, invalid, tainted, changed by others or absent.</p>
  </section>
);

function Lines({ lines }: { lines: Pressing[] }) {
  return (
    <ol class="pressing" aria-label="What needs a person, worst first">
      {lines.map((line) => (
        <li key={`${line.kind} ${line.slice}`} class={`card is-${line.kind}`}>
          <div class="what">
            <span class={`flag${line.kind === "late" ? " is-warm" : " is-bad"}`} title={MEANINGS[line.kind]}>{line.kind}</span>
            <strong><SliceLink slice={line.slice} /></strong>
            <span class="reach">{reach(line)}</span>
          </div>
          <ul class="why">
            {line.why.map((reason) => (
              <li key={reason}><Sentence text={reason} /></li>
            ))}
          </ul>
          <div class="about">
            {line.since && (
              <span>
                {line.kind === "late" ? "promised for " : "since "}
                <Time at={line.since} zone={viewerZone} /> ({ago(line.since, Date.now())})
              </span>
            )}
            {line.owner && <span>owner <bdi>{line.owner}</bdi></span>}
            <span>{line.promises === 1 ? "1 promise hangs on it" : `${line.promises} promises hang on it`}</span>
            <span class="helps">
              <code>{line.command}</code>
              <CopyButton label="Copy" text={() => line.command} />
            </span>
          </div>
        </li>
      ))}
    </ol>
  );
}

function reach(line: Pressing): string {
  if (line.kind === "late") {
    const own = line.entities.length === 1 && line.slice.startsWith(`${encodeURIComponent(line.entities[0] ?? "")}@`);
    const slices = line.slices === 1 ? "1 late slice" : `${line.slices} late slices`;
    return own ? slices : `is the cause of ${slices} of ${line.entities.length === 1 ? decode(line.entities[0] ?? "") : `${line.entities.length} entities`}`;
  }
  return line.slices === 1 ? "" : `and ${line.slices - 1} before it`;
}

function AtRisk({ told }: { told: Baseline[] }) {
  const risky = told.filter((each) => each.late >= RISK && each.state !== "late").slice(0, 20);
  if (risky.length === 0) return null;
  return (
    <Card title="At risk" note="promises that the forecast may break">
      <ul class="risks">
        {risky.map((each) => (
          <li key={each.slice}>
            <SliceLink slice={each.slice} /> <span class="note">promised by <Time at={each.ready_by} zone={viewerZone} /></span>
            <span class="unmet">late with {Math.round(each.late * 100)} %</span>
            {each.why_late.map((reason) => <small key={reason}><Sentence text={reason} /></small>)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Backfills({ told }: { told: LakeStatus }) {
  if (told.backfills.length === 0) return null;
  return (
    <Card title="Backfills">
      <ul class="risks">
        {told.backfills.map((each) => (
          <li key={each.number}>
            <strong><a href={`/console/backfills?number=${each.number}`}>{each.number}</a></strong> <span class="flag">{each.phase}</span> <bdi>{each.asked}</bdi>
            <span class="note">{each.open.toLocaleString("en")} slices to go{each.asking > 0 && `, ${each.asking} wait for a person`}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
