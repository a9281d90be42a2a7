// All of one slice: where it stands and why, what it waits for down to the cause, what happened to it.
import { useEffect } from "preact/hooks";
import type { ChainLink, LifeEvent, Requirement, Rule, SliceAnswer } from "../api";
import { useAnswer } from "../answer";
import { ComputeAgain } from "./again";
import { impactPath } from "./backfills";
import type { Change } from "../live";
import { Card, CopyButton, decode, Flags, Loading, Sentence, SliceLink, State, Time, Trouble } from "../parts";
import { viewerZone } from "../time";

const SHOWN = 12;
const TROUBLES = new Set(["failed", "cancelled", "interrupted", "lost", "quality_failed", "flagged", "tainted", "deleted", "overwritten"]);

export function SlicePage(props: { slice: string; refused: () => void; onChanges: (take: (changes: Change[] | null) => void) => () => void }) {
  const { slice, refused, onChanges } = props;
  const { data, error, again } = useAnswer<SliceAnswer>(`/v1/explanation?slice=${encodeURIComponent(slice)}`, refused);
  useEffect(() => onChanges((changes) => (changes === null || touches(changes, data)) && again()), [data, again]);
  useEffect(() => {
    document.title = `${decode(slice)} · Tidemark`;
  }, [slice]);
  if (!data) return error ? <Trouble error={error} again={again} /> : <Loading what={slice} />;
  return (
    <article class="slice">
      {error && <Trouble error={error} again={again} />}
      <Head told={data} />
      <Verdict told={data} />
      <div class="columns">
        <div>
          {data.chain.length > 1 && <Chain told={data} />}
          <Inputs told={data} />
          <Readers slices={data.downstream} />
        </div>
        <div>
          <Record told={data} />
          <Rules rules={data.rules} zone={data.of_entity.time_zone} />
          <Life told={data} />
        </div>
      </div>
    </article>
  );
}

/** Whether something happened to the slice, or to one that it waits for or reads. */
function touches(changes: Change[], told: SliceAnswer | null): boolean {
  if (!told) return true;
  const near = new Set([told.slice, ...told.chain.map((link) => link.slice)]);
  told.upstream.forEach((input) => input.slices.forEach((each) => near.add(each.slice)));
  return changes.some((change) => near.has(change.slice));
}

function Head({ told }: { told: SliceAnswer }) {
  const { of_entity: entity, window: span } = told;
  const [name, key] = [decode(entity.name), decode(told.slice.slice(told.slice.indexOf("@") + 1))];
  const facts: [string, preact.ComponentChildren][] = [
    ["Window", <><Time at={span.start} zone={entity.time_zone} /> to <Time at={span.end} zone={entity.time_zone} /></>],
    ["Not before", <Time at={told.not_before} zone={entity.time_zone} />],
  ];
  if (told.ready_by) facts.push(["Promised by", <Time at={told.ready_by} zone={entity.time_zone} />]);
  facts.push(["Zone", entity.time_zone === viewerZone ? `${entity.time_zone}, also yours` : `${entity.time_zone}; yours is ${viewerZone}`]);
  if (entity.owner) facts.push(["Owner", <bdi>{entity.owner}</bdi>]);
  facts.push(["Kind", [entity.kind, entity.period].filter(Boolean).join(", ")]);
  Object.entries(entity.tags).forEach(([tag, value]) => facts.push([tag, <bdi>{value}</bdi>]));
  return (
    <header class="slice-head">
      <p class="path">{entity.layer && <bdi>{entity.layer}</bdi>}</p>
      <div class="title">
        <h1>
          <bdi>{name}</bdi> <bdi class="key">{key}</bdi>
        </h1>
        {told.status && <State of={told.status.run_state} />}
        {told.status && <Flags status={told.status} />}
        {told.status && told.status.generation > 1 && <span class="flag">generation {told.status.generation}</span>}
      </div>
      <dl class="facts">
        {facts.map(([word, value]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </header>
  );
}

/** The one sentence that a person came for. */
function Verdict({ told }: { told: SliceAnswer }) {
  const held = told.held_back[told.slice] ?? [];
  const state = told.status?.run_state ?? "waiting";
  const cause = told.chain[told.chain.length - 1];
  let tone = "is-calm";
  let sentence: preact.ComponentChildren = "It is there, and nothing is known against it.";
  let reasons: string[] = held;
  if (!told.exists) {
    [tone, sentence] = ["is-calm", "This slice does not exist: it is before the entity's start or after its end."];
  } else if (state === "failed") {
    [tone, sentence, reasons] = ["is-bad", "It has failed.", [...told.failure, ...held]];
  } else if (state === "waiting" && cause && cause.slice !== told.slice) {
    tone = "is-warm";
    sentence = (
      <>
        It waits for {told.chain[0]?.missing} of {told.chain[0]?.inputs} inputs. The cause is{" "}
        <SliceLink slice={cause.slice} />.
      </>
    );
    reasons = [...told.because, ...told.failure];
  } else if (state !== "completed") {
    [tone, sentence] = ["is-warm", state === "waiting" ? "It waits." : `It is ${state}.`];
    reasons = [...new Set([...told.because, ...told.failure, ...held])];
  } else if (held.length > 0) {
    [tone, sentence] = ["is-bad", "It is there, and nobody takes it:"];
  } else if (told.outdated.length > 0) {
    [tone, sentence] = ["is-warm", "It is there, and inputs of it were computed again since:"];
  }
  if (told.outdated.length > 0) reasons = [...reasons, ...told.outdated];
  if (told.taint) reasons = [...reasons, `${told.taint.why} (${told.taint.who})`];
  return (
    <section class={`verdict ${tone}`} aria-label="How it stands" aria-live="polite">
      <p>{sentence}</p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>
              <Sentence text={reason} />
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        {told.exists && <ComputeAgain slice={told.slice} />}
        {told.exists && <a class="more" href={impactPath(told.slice)}>What it touches</a>}
        <CopyButton label="Copy as Markdown" text={() => markdown(told)} />
        <CopyButton label="Copy the command" text={() => command(told.slice)} />
      </div>
    </section>
  );
}

function Chain({ told }: { told: SliceAnswer }) {
  return (
    <Card title="Waiting chain" note={`${told.chain.length - 1} steps to the cause`}>
      <ol class="chain">
        {told.chain.map((link, at) => (
          <ChainStep key={link.slice} link={link} isFirst={at === 0} because={link.next === null ? told.because : []} />
        ))}
      </ol>
    </Card>
  );
}

function ChainStep({ link, isFirst, because }: { link: ChainLink; isFirst: boolean; because: string[] }) {
  const isCause = link.next === null;
  return (
    <li class={`is-${link.run_state}${isCause ? " is-cause" : ""}`}>
      <div class="step">
        {isFirst ? <span class="this">this slice</span> : <SliceLink slice={link.slice} />}
        <State of={link.run_state} quiet />
      </div>
      <p>
        {link.missing > 0 && `lacks ${link.missing} of ${link.inputs} ${link.inputs === 1 ? "input" : "inputs"}`}
        {isCause && <strong>the cause</strong>}
      </p>
      {because.length > 0 && (
        <ul>
          {because.map((reason) => (
            <li key={reason}>
              <Sentence text={reason} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Inputs({ told }: { told: SliceAnswer }) {
  if (told.upstream.length === 0) return <Card title="Inputs"><p class="empty">It reads no other table.</p></Card>;
  const met = told.upstream.filter((input) => input.met).length;
  return (
    <Card title="Inputs" note={`${met} of ${told.upstream.length} there`}>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Entity</th>
              <th scope="col">Offset</th>
              <th scope="col">Slices</th>
              <th scope="col">Stands</th>
            </tr>
          </thead>
          <tbody>
            {told.upstream.map((input) => (
              <InputRow key={`${input.entity} ${input.offset}`} input={input} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function InputRow({ input }: { input: Requirement }) {
  const missing = new Set(input.missing ?? []);
  const ordered = [...input.slices].sort((one, other) => Number(missing.has(other.slice)) - Number(missing.has(one.slice)));
  const notes = [
    input.strength !== "strong" && input.strength,
    input.or_older && "or the newest before it",
    input.states.join() !== "completed" && input.states.join(" or "),
  ].filter(Boolean);
  return (
    <tr>
      <th scope="row">
        <bdi>{input.entity}</bdi>
        {notes.length > 0 && <small>{notes.join("; ")}</small>}
      </th>
      <td class="mono">{input.offset}</td>
      <td>
        <ul class="slices">
          {ordered.slice(0, SHOWN).map((each) => (
            <li key={each.slice}>
              <SliceLink slice={each.slice} short />
              {each.status && <State of={each.status.run_state} quiet />}
              {each.status && <Flags status={each.status} />}
            </li>
          ))}
          {ordered.length > SHOWN && <li class="more">and {ordered.length - SHOWN} more</li>}
          {ordered.length === 0 && <li class="more">none exists</li>}
        </ul>
      </td>
      <td>{input.met ? <span class="met">{input.reason}</span> : <span class="unmet">waits for {missing.size}</span>}</td>
    </tr>
  );
}

function Readers({ slices }: { slices: string[] }) {
  const byEntity = new Map<string, string[]>();
  slices.forEach((slice) => {
    const entity = slice.slice(0, slice.indexOf("@"));
    byEntity.set(entity, [...(byEntity.get(entity) ?? []), slice]);
  });
  return (
    <Card title="Waits for it" note={slices.length > 0 ? `${slices.length} slices of ${byEntity.size} entities` : undefined}>
      {slices.length === 0 && <p class="empty">No other table reads it.</p>}
      <ul class="readers">
        {[...byEntity].map(([entity, each]) => (
          <li key={entity}>
            <bdi>{decode(entity)}</bdi>
            <span>
              {each.slice(0, SHOWN).map((slice) => (
                <SliceLink key={slice} slice={slice} short />
              ))}
              {each.length > SHOWN && <span class="more">and {each.length - SHOWN} more</span>}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Record({ told }: { told: SliceAnswer }) {
  const { record } = told;
  if (!record) return null;
  const figures = [
    record.rows !== null && `${record.rows.toLocaleString("en")} rows`,
    record.size_bytes !== null && `${record.size_bytes.toLocaleString("en")} bytes`,
    record.version !== null && `table version ${record.version}`,
    record.seconds !== null && `${record.seconds} s`,
  ].filter(Boolean);
  return (
    <Card title="Computed" note={<Time at={record.completed_at} zone={told.of_entity.time_zone} />}>
      <p>
        {figures.join(", ") || "Nothing was said of its rows."} {record.run_id && <Run id={record.run_id} url={told.runs_url} />}
        {!record.run_id && <>told by <bdi>{record.who}</bdi></>}
      </p>
      {record.read.length > 0 && (
        <ul class="read">
          {record.read.map((read) => (
            <li key={read.first}>
              read <SliceLink slice={read.first} />
              {read.slices > 1 && <> to <SliceLink slice={read.last} short /> ({read.slices})</>}, generation {read.generation}
              {read.version !== null && `, table version ${read.version}`}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Run({ id, url }: { id: string; url: string }) {
  const words = <>run <span class="mono">{id.slice(0, 8)}</span></>;
  return url ? <a href={`${url}${encodeURIComponent(id)}`} target="_blank" rel="noreferrer">{words}</a> : <span title={id}>{words}</span>;
}

function Rules({ rules, zone }: { rules: Rule[]; zone: string }) {
  if (rules.length === 0) return null;
  const broken = rules.filter((rule) => rule.outcome !== "passed").length;
  return (
    <Card title="Rules" note={broken ? `${broken} of ${rules.length} did not hold` : `all ${rules.length} hold`}>
      <ul class="rules">
        {rules.map((rule) => (
          <li key={rule.rule} class={`is-${rule.outcome}`}>
            <div>
              <span class="outcome">{rule.outcome}</span> <bdi class="mono">{rule.expected || rule.rule}</bdi>
            </div>
            {rule.reason && <p><Sentence text={rule.reason} /></p>}
            <small>
              {rule.severity}; measured {Object.entries(rule.measured).map(([name, value]) => `${name} ${String(value)}`).join(", ") || "nothing"},{" "}
              <Time at={rule.judged_at} zone={zone} />
            </small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Life({ told }: { told: SliceAnswer }) {
  const steps = [...told.life].reverse();
  return (
    <Card title="Life" note={steps.length > 0 ? `${steps.length} events, the newest first` : undefined}>
      {steps.length === 0 && <p class="empty">Nothing has happened to it yet.</p>}
      <ol class="life">
        {steps.map((step) => (
          <LifeStep key={step.seq} step={step} told={told} />
        ))}
      </ol>
    </Card>
  );
}

function LifeStep({ step, told }: { step: LifeEvent; told: SliceAnswer }) {
  return (
    <li class={`is-${step.run_state}${TROUBLES.has(step.event) ? " is-bad" : ""}`}>
      <div>
        <strong>{step.event.replaceAll("_", " ")}</strong>{" "}
        <span class="who">by <bdi>{step.who}</bdi></span>{" "}
        {step.run_id && <Run id={step.run_id} url={told.runs_url} />}
        {step.generation > 1 && <span class="more">generation {step.generation}</span>}
      </div>
      {step.why && <p><Sentence text={step.why} /></p>}
      <Time at={step.at} zone={told.of_entity.time_zone} seconds />
    </li>
  );
}

const command = (slice: string): string => {
  const [entity = "", rest = ""] = [slice.slice(0, slice.indexOf("@")), slice.slice(slice.indexOf("@") + 1)];
  const [key = "", ...parts] = rest.split("/");
  return ["tidemark explain", quoted(decode(entity)), quoted(key), ...parts.map((part) => `--part ${quoted(decode(part))}`)].join(" ");
};
const quoted = (word: string) => (/^[\w:+.=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function markdown(told: SliceAnswer): string {
  const lines = [`**${told.slice}** is ${told.status?.run_state ?? "unknown"}`];
  told.chain.slice(1).forEach((link, at) => lines.push(`${"  ".repeat(at)}- waits for ${link.slice} (${link.run_state})`));
  told.because.forEach((reason) => lines.push(`> ${reason}`));
  [...(told.held_back[told.slice] ?? []), ...told.outdated].forEach((reason) => lines.push(`> ${reason}`));
  return `${lines.join("\n")}\n\n${location.href}\n`;
}
