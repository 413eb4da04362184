// SPDX-License-Identifier: Apache-2.0
// The question: which node, what the learner thinks and why, and the keys that answer it.
import { useEffect, useState } from 'preact/hooks';
import { NodeAnswer } from './api';
import { Classes } from './classes';
import { Bar, Combobox, Glyph, Key, Says, Value } from './parts';
import { Pending, Sentence, Session, State, hashOf, isBlind } from './session';
import { count, percent, plural, visible } from './text';

const kLongId = 160;  // characters shown of an id before "show all"

function Title({ node }: { node: NodeAnswer }) {
  const [whole, setWhole] = useState(false);
  useEffect(() => setWhole(false), [node.id]);
  const text = node.name ?? node.id;
  const long = text.length > kLongId;
  const characters = text.length;
  return (
    <>
      <h1 class={characters > 60 ? 'long' : ''}>{long && whole ? <bdi class="value">{visible(text)}</bdi> : <Value text={text} most={kLongId} />}</h1>
      {long && <button type="button" class="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
        {whole ? 'Show less' : `Show all ${count(characters)} characters`}</button>}
      {node.name !== null && node.name !== node.id && <p class="id"><Value text={node.id} most={kLongId} /></p>}
    </>
  );
}

function Thinks({ node, classes, blind }: { node: NodeAnswer; classes: Classes; blind: boolean }) {
  if (blind) return <p class="thinks">A second opinion is wanted: what others said is not shown.</p>;
  const { label, confidence, reached, lag } = node.prediction;
  if (node.label !== null)
    return <p class="thinks">Labelled <Glyph look={classes.look(node.label)} /><strong><Value text={node.label} most={60} /></strong>
      {node.labelled_by !== null && <> by <Value text={node.labelled_by} most={40} /></>}.</p>;
  if (label === null || !reached) return <p class="thinks">No known label reaches this node yet, so there is no answer to check.</p>;
  return (
    <p class="thinks">Probably <Glyph look={classes.look(label)} known={false} /><strong><Value text={label} most={60} /></strong>, {percent(confidence)} sure
      {lag > 0 && <span class="faint"> ({plural(lag, 'label')} behind)</span>}.</p>
  );
}

function Choices({ state, session }: { state: State; session: Session }) {
  const { node, choices, pending, classes } = state;
  if (node === null) return null;
  const blind = isBlind(state);
  const scores = new Map(blind ? [] : node.prediction.scores.map((s) => [s.label, s.score]));
  const total = node.prediction.scores.reduce((sum, s) => sum + Math.max(0, s.score), 0) || 1;
  return (
    <ol class="choices" aria-label="Classes">
      {choices.map((label, i) => {
        const share = (scores.get(label) ?? 0) / total, saving = pending?.kind === 'label' && pending.node === node.id && pending.label === label;
        return (
          <li key={label}>
            <button type="button" class={saving ? 'saving' : ''} aria-pressed={!blind && node.label === label} disabled={pending !== null || state.graph?.readonly}
              aria-keyshortcuts={i < 9 ? String(i + 1) : undefined} onClick={() => session.label(label)}>
              {i < 9 && <Key>{i + 1}</Key>}
              <Glyph look={classes.look(label)} />
              <Value text={label} most={48} />
              <span class="share">{saving ? 'saving…' : share > 0 && node.prediction.reached ? percent(share) : ''}</span>
              <Bar share={share} />
            </button>
          </li>
        );
      })}
    </ol>
  );
}

interface ClassOption { label: string; fresh: boolean }

function OtherClass({ state, session }: { state: State; session: Session }) {
  const { classes } = state;
  const find = (text: string): ClassOption[] => {
    const wanted = text.trim(), lower = wanted.toLowerCase();
    const starts = classes.names.filter((name) => name.toLowerCase().startsWith(lower));
    const holds = classes.names.filter((name) => !name.toLowerCase().startsWith(lower) && name.toLowerCase().includes(lower));
    const fits = [...starts, ...holds].slice(0, 8).map((label) => ({ label, fresh: false }));
    return classes.names.includes(wanted) ? fits : [...fits, { label: wanted, fresh: true }];
  };
  const placeholder = classes.names.length === 0 ? 'Name the first class' : classes.names.length > 9 ? `Any of ${classes.names.length} classes, or a new one` : 'A new class';
  return (
    <Combobox<ClassOption> label="Another class" placeholder={placeholder} shortcut="c" inputId="other-class" find={find}
      keyOf={(o) => `${o.fresh}${o.label}`} onPick={(o) => { (document.activeElement as HTMLElement | null)?.blur(); session.label(o.label); }}
      render={(o) => o.fresh ? <>New class <strong><Value text={o.label} most={40} /></strong></> : <><Glyph look={classes.look(o.label)} /><Value text={o.label} most={48} /></>}
      none={() => 'No such class.'} />
  );
}

const kReasons = 6;

function Reasons({ node, classes }: { node: NodeAnswer; classes: Classes }) {
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [node.id]);
  if (node.reasons.length === 0) return null;
  return (
    <section class="reasons" aria-labelledby="because">
      <h2 id="because">Because of</h2>
      <ul>
        {node.reasons.slice(0, all ? undefined : kReasons).map((reason) => (
          <li key={reason.node}>
            <Glyph look={classes.look(reason.label)} />
            <span><a href={hashOf(reason.node)}><Value text={reason.node} most={40} /></a> <span class="faint"><Value text={reason.label} most={24} /></span></span>
            <span class="share">{percent(reason.share)}</span>
            <Bar share={reason.share} />
          </li>
        ))}
      </ul>
      {!all && node.reasons.length > kReasons && <button type="button" class="quiet more" onClick={() => setAll(true)}>Show all {node.reasons.length}</button>}
    </section>
  );
}

function unsaved(pending: Pending): Sentence {
  const what: Sentence = pending.kind === 'label' ? [{ value: pending.node }, ' is ', { value: pending.label }]
    : pending.kind === 'skip' ? ['skip of ', { value: pending.node }] : ['undo'];
  return ['Not saved yet: ', ...what, '. It is sent again until the server has it.'];
}

/** Read aloud when it changes. What waits to be saved stays here until the server has it. */
function Status({ state, session }: { state: State; session: Session }) {
  const late = state.waits ? state.pending : null;
  return (
    <div class={`status ${late !== null ? 'bad' : state.notice?.tone ?? 'plain'}`}>
      <p role="status" aria-live="polite"><Says sentence={late !== null ? unsaved(late) : state.notice?.says ?? []} /></p>
      {late !== null && <button type="button" class="quiet" onClick={() => session.wake()}>Try now</button>}
    </div>
  );
}

export function Question({ state, session }: { state: State; session: Session }) {
  const { node, asked, finished, pending } = state;
  const isQuestion = node !== null && node.id === asked, blind = isBlind(state);
  return (
    <section class="question" aria-label="Question">
      <Status state={state} session={session} />
      {finished && node === null && (
        <div class="done"><h1>No question is left.</h1>
          <p>Every node is labelled, skipped, or held by somebody else at the moment.</p>
          <button type="button" onClick={() => session.goto(null)}>Ask again</button></div>
      )}
      {node !== null && (
        <>
          <div class="eyebrow">
            {isQuestion ? <span>What is</span> : <button type="button" class="quiet" onClick={() => session.goto(null)}>← Back to the question</button>}
          </div>
          <Title node={node} />
          <Thinks node={node} classes={state.classes} blind={blind} />
          <Choices state={state} session={session} />
          <OtherClass state={state} session={session} />
          <div class="actions">
            <button type="button" disabled={pending !== null} aria-keyshortcuts="s" onClick={() => session.skip('later')}><Key>s</Key>Skip</button>
            <button type="button" disabled={pending !== null} aria-keyshortcuts="n" onClick={() => session.skip('nobody')}><Key>n</Key>Nobody can tell</button>
            <button type="button" disabled={pending !== null} aria-keyshortcuts="u" onClick={() => session.undo()}><Key>u</Key>Undo</button>
          </div>
          {!blind && <Reasons node={node} classes={state.classes} />}
        </>
      )}
      {node === null && !finished && <div class="eyebrow"><span>{state.link === 'lost' ? 'Waiting for the server …' : 'Fetching a question …'}</span></div>}
    </section>
  );
}
