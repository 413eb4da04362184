// SPDX-License-Identifier: Apache-2.0
// How far the work is: the error curve, the classes, the people, what was done last.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { CurvePoint, HistoryEvent, Progress } from './api';
import { Classes } from './classes';
import { Bar, Glyph, Value } from './parts';
import { Session, State, hashOf } from './session';
import { compact, count, percent, plural, when } from './text';

/** A canvas knows no CSS variables: ask the browser what they are now. */
function color(element: HTMLElement, variable: string): string {
  element.style.color = `var(${variable})`;
  const found = getComputedStyle(element).color;
  element.style.color = '';
  return found;
}

const kTops = [0.1, 0.2, 0.4, 0.6, 0.8, 1];  // so that the middle of the axis is a round number

function makeChart(element: HTMLElement, width: number): uPlot {
  const ink = color(element, '--faint'), line = color(element, '--accent'), band = color(element, '--band'), grid = color(element, '--hairline');
  const axis = { stroke: ink, font: '11px system-ui, sans-serif', grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const edge = { stroke: 'transparent', points: { show: false } };
  return new uPlot({
    width, height: 150, legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
    scales: { x: { time: false }, y: { range: (_u, _low, high) => [0, kTops.find((top) => top >= high) ?? 1] } },
    axes: [{ ...axis, size: 26, values: (_u, ticks) => ticks.map((t) => compact(t)), grid: { show: false } },
      { ...axis, size: 42, splits: (_u, _axis, low, high) => [low, (low + high) / 2, high], values: (_u, ticks) => ticks.map((t) => percent(t)) }],
    series: [{}, edge, edge, { stroke: line, width: 2, points: { show: false } }],
    bands: [{ series: [2, 1], fill: band }],
  }, [[], [], [], []], element);
}

function Curve({ points }: { points: CurvePoint[] }) {
  const host = useRef<HTMLDivElement>(null), chart = useRef<uPlot | null>(null), data = useRef<uPlot.AlignedData>([[], [], [], []]);
  data.current = [points.map((p) => p.labels), points.map((p) => p.low), points.map((p) => p.high), points.map((p) => p.error)];
  useEffect(() => {
    const element = host.current!;
    const draw = () => {
      chart.current?.destroy();
      chart.current = makeChart(element, Math.max(120, element.clientWidth));
      chart.current.setData(data.current);
    };
    const size = new ResizeObserver(() => chart.current?.setSize({ width: Math.max(120, element.clientWidth), height: 150 }));
    const dark = matchMedia('(prefers-color-scheme: dark)'), theme = new MutationObserver(draw);
    draw();
    size.observe(element);
    dark.addEventListener('change', draw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => { size.disconnect(); theme.disconnect(); dark.removeEventListener('change', draw); chart.current?.destroy(); chart.current = null; };
  }, []);
  useEffect(() => chart.current?.setData(data.current), [points]);
  return <div ref={host} class="curve" aria-hidden="true" />;
}

function ErrorPanel({ progress }: { progress: Progress }) {
  const last = progress.curve.at(-1);
  return (
    <section aria-labelledby="error-title">
      <h2 id="error-title">Error so far</h2>
      {last === undefined ? <p class="faint">The first answers will show how often the learner is wrong before it is told.</p> : <>
        <p class="figure"><strong>{percent(last.error)}</strong> <span class="faint">between {percent(last.low)} and {percent(last.high)}</span></p>
        {progress.curve.length > 1 && <Curve points={progress.curve} />}
        <p class="faint small">Wrong answers among the last 100 labels, each predicted before it was told.</p>
      </>}
      {progress.stop.text && <p class={progress.stop.hint ? 'stop hint' : 'stop'}>{progress.stop.text}</p>}
    </section>
  );
}

const kShownClasses = 10;

function ClassesPanel({ progress, classes, session }: { progress: Progress; classes: Classes; session: Session }) {
  const [all, setAll] = useState(false);
  const rows = [...progress.classes].sort((a, b) => b.count - a.count);
  const most = Math.max(1, ...rows.map((c) => c.count));
  return (
    <section aria-labelledby="classes-title">
      <h2 id="classes-title">{plural(progress.labels, 'label')} in {plural(rows.length, 'class', 'classes')}</h2>
      <ul class="counts">
        {rows.slice(0, all ? undefined : kShownClasses).map((c) => (
          <li key={c.label}><Glyph look={classes.look(c.label)} /><Value text={c.label} most={30} />
            <span class="share">{count(c.count)}{c.predicted !== null && <span class="faint" title="nodes without a label that are answered so"> +{compact(c.predicted)}</span>}</span>
            <Bar share={c.count / most} /></li>
        ))}
      </ul>
      <div class="row">
        {rows.length > kShownClasses && <button type="button" class="quiet" onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show all ${rows.length}`}</button>}
        <button type="button" class="quiet" onClick={() => void session.exportLabels()}>Download labels</button>
      </div>
    </section>
  );
}

function PeoplePanel({ progress }: { progress: Progress }) {
  if (progress.annotators.length === 0) return null;
  return (
    <section aria-labelledby="people-title">
      <h2 id="people-title">People</h2>
      <ul class="people">
        {progress.annotators.slice(0, 12).map((a) => (
          <li key={a.who}><Value text={a.who} most={30} /><span class="share">{plural(a.labels, 'label')}{a.skips > 0 && <span class="faint">, {plural(a.skips, 'skip')}</span>}</span></li>
        ))}
      </ul>
      {progress.kappa !== null && <p class="faint">Agreement (kappa): {progress.kappa.toFixed(2)}</p>}
      {progress.disagreements.length > 0 && <>
        <h3>Not agreed on</h3>
        <ul class="people">
          {progress.disagreements.slice(0, 8).map((d) => (
            <li key={d.node}><a href={hashOf(d.node)}><Value text={d.node} most={30} /></a>
              <span class="faint">{d.labels.map((l, i) => <span key={i}>{i > 0 && ', '}<Value text={l.who} most={16} />: <Value text={l.label} most={16} /></span>)}</span></li>
          ))}
        </ul>
      </>}
    </section>
  );
}

function Line({ event, classes }: { event: HistoryEvent; classes: Classes }) {
  const wrong = event.kind === 'label' && event.predicted !== null && event.predicted !== event.label;
  return (
    <li>
      <time dateTime={event.at}>{when(event.at)}</time>
      <span>
        <a href={hashOf(event.node)}><Value text={event.node} most={34} /></a>{' '}
        {event.kind === 'label' && event.label !== null && <span class="class"><Glyph look={classes.look(event.label)} /><Value text={event.label} most={24} /></span>}
        {event.kind === 'retract' && <em>taken back</em>}
        {event.kind === 'skip' && <em>{event.label === 'nobody' ? 'nobody can tell' : 'skipped'}</em>}
        <span class="faint"> by <Value text={event.who} most={20} />{wrong && <>, not <Value text={event.predicted!} most={20} /></>}</span>
      </span>
    </li>
  );
}

function HistoryPanel({ state, session }: { state: State; session: Session }) {
  const [all, setAll] = useState(false);
  if (state.history.length === 0) return null;
  const shown = all ? state.history : state.history.slice(0, 8);
  return (
    <section aria-labelledby="history-title">
      <h2 id="history-title">Last done</h2>
      <ol class="history">{shown.map((event) => <Line key={event.seq} event={event} classes={state.classes} />)}</ol>
      {(!all && state.history.length > 8) || (all && !state.historyEnds)
        ? <button type="button" class="quiet" onClick={() => { if (all) void session.olderHistory(); setAll(true); }}>Show older</button> : null}
    </section>
  );
}

export function Side({ state, session }: { state: State; session: Session }) {
  const { progress, classes } = state;
  return (
    <aside aria-label="Progress">
      {progress !== null && <><ErrorPanel progress={progress} /><ClassesPanel progress={progress} classes={classes} session={session} /><PeoplePanel progress={progress} /></>}
      <HistoryPanel state={state} session={session} />
    </aside>
  );
}
