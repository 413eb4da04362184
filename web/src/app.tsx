// SPDX-License-Identifier: Apache-2.0
// The page of copse serve: the frame, the keys, the windows.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './app.css';
import { Found, Picture } from './api';
import { Neighbourhood } from './drawing';
import { Combobox, Glyph, Key, Modal, Value } from './parts';
import { Side } from './progress';
import { Question } from './question';
import { Session, State, isBlind } from './session';
import { compact, shorten } from './text';

const session = new Session();

function useSession(): State {
  const [state, setState] = useState(session.state);
  useEffect(() => session.subscribe(() => setState(session.state)), []);
  return state;
}

const kSettings = { theme: 'copse.theme', keys: 'copse.keys' };
function setTheme(theme: string): void {
  localStorage.setItem(kSettings.theme, theme);
  document.documentElement.dataset.theme = theme;
}
document.documentElement.dataset.theme = localStorage.getItem(kSettings.theme) ?? 'system';

const focusOn = (id: string) => document.getElementById(id)?.focus();

const kGlance = 150;  // milliseconds
let seen: { id: string | undefined; at: number } = { id: undefined, at: 0 };
/** A key meant for the last question must not answer the next one, which nobody can have read yet. */
const wasSeen = () => seen.id === session.state.node?.id && performance.now() - seen.at >= kGlance;

function useSeen(id: string | undefined): void {
  useEffect(() => {
    const frame = requestAnimationFrame(() => { seen = { id, at: performance.now() }; });
    return () => cancelAnimationFrame(frame);
  }, [id]);
}

/** What a single key does outside of fields; `help` opens the window that lists them. */
function keyActions(help: () => void): Record<string, () => void> {
  const actions: Record<string, () => void> = {
    s: () => { if (wasSeen()) session.skip('later'); },
    n: () => { if (wasSeen()) session.skip('nobody'); },
    u: () => session.undo(),
    c: () => focusOn('other-class'),
    '/': () => focusOn('search'),
    '?': help,
    Escape: () => session.goto(null),
  };
  for (let digit = 1; digit <= 9; ++digit)
    actions[digit] = () => { const label = session.state.choices[digit - 1]; if (label !== undefined && wasSeen()) session.label(label); };
  return actions;
}

function useKeys(help: () => void): void {
  useEffect(() => {
    const actions = keyActions(help);
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as Element;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
      if (target.closest('input, select, textarea, dialog') || document.querySelector('dialog[open]')) return;
      if (event.key !== '?' && localStorage.getItem(kSettings.keys) === 'off') return;
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

const kLink = { starting: 'Connecting', live: 'Live', lost: 'Offline, trying again' };

function Mark() {
  return <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <path d="M16 29V12M16 23l-7-6M16 20l7-6" /><circle cx="16" cy="8.5" r="5.5" /><circle class="left" cx="7.5" cy="15.5" r="4" /><circle class="right" cx="24.5" cy="12.5" r="4" />
  </svg>;
}

function GraphChoice({ graphs, name }: { graphs: string[]; name: string }) {
  return <select aria-label="Graph" value={name} onChange={(e) => { location.href = `${location.pathname}?graph=${encodeURIComponent(e.currentTarget.value)}`; }}>
    {graphs.map((g) => <option key={g} value={g}>{shorten(g, 40)}</option>)}</select>;
}

function TopBar({ state, help, person }: { state: State; help: () => void; person: () => void }) {
  const { graph, graphs, link, identity, classes } = state;
  return (
    <header class="top">
      <a class="brand" href={location.pathname + location.search} onClick={(e) => { e.preventDefault(); session.goto(null); }}><Mark />copse</a>
      <p class="graph">{graph && <>{graphs.length > 1 ? <GraphChoice graphs={graphs} name={graph.name} /> : <strong><Value text={graph.name} most={40} /></strong>} <span class="faint">{compact(graph.nodes)} nodes, {compact(graph.edges)} edges; {graph.learner}, asks by {graph.strategy}{graph.readonly && '; read only'}</span></>}</p>
      <div role="search" class="search">
        <Combobox<Found> label="Find a node" placeholder="Find a node" shortcut="/" inputId="search"
          find={(text, signal) => async () => (await session.api.json<{ nodes: Found[] }>(`search?q=${encodeURIComponent(text.toWellFormed())}&limit=12`, { signal }))?.nodes ?? []}
          keyOf={(node) => node.id} onPick={(node) => { (document.activeElement as HTMLElement | null)?.blur(); session.goto(node.id); }}
          render={(node) => <><Value text={node.name ?? node.id} most={60} />{node.label !== null && <span class="class faint"><Glyph look={classes.look(node.label)} /><Value text={node.label} most={20} /></span>}</>}
          none={(text) => `Nothing is called “${shorten(text, 30)}”.`} />
      </div>
      <p class={`link ${link}`} role="status"><span class="dot" aria-hidden="true" /><span>{kLink[link]}</span></p>
      <button type="button" class="quiet" onClick={person}>{identity.token === null ? <Value text={identity.name} most={20} /> : 'Token'}<span class="unseen">: who is labelling</span></button>
      <button type="button" class="quiet" aria-keyshortcuts="?" onClick={help}><Key>?</Key><span class="unseen">Keys and settings</span></button>
    </header>
  );
}

function PersonForm({ state, done }: { state: State; done: () => void }) {
  const [name, setName] = useState(state.identity.name), [token, setToken] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) session.giveToken(token.trim());
    else if (name.trim() && name.trim() !== state.identity.name) session.rename(name.trim());
    done();
  };
  return (
    <form onSubmit={submit}>
      {state.identity.token === null && <label>Your name<input value={name} maxLength={80} autocomplete="nickname" onInput={(e) => setName(e.currentTarget.value)} />
        <small>It stands beside your labels. Each name gets questions of its own.</small></label>}
      <label>Token<input type="password" value={token} autocomplete="off" onInput={(e) => setToken(e.currentTarget.value)} />
        <small>Only if you were given one; it is forgotten with this tab.</small></label>
      <div class="row"><button type="submit" class="primary">Use</button>
        {state.identity.token !== null && <button type="button" onClick={() => { session.giveToken(null); done(); }}>Forget the token</button>}</div>
    </form>
  );
}

function TokenForm({ refused }: { refused: boolean }) {
  const [token, setToken] = useState('');
  return (
    <form onSubmit={(e) => { e.preventDefault(); if (token.trim()) session.giveToken(token.trim()); }}>
      <p>{refused ? 'This token was refused. Is it complete, and not withdrawn?' : 'Whoever runs this server gave you a token.'}</p>
      <label>Token<input type="password" value={token} autocomplete="off" required onInput={(e) => setToken(e.currentTarget.value)} />
        <small>It is kept in this tab only.</small></label>
      <div class="row"><button type="submit" class="primary">Continue</button></div>
    </form>
  );
}

const kHelp: [string, string][] = [
  ['1 … 9', 'label with that class'], ['c', 'another class, or a new one'], ['s', 'skip: somebody else may know'], ['n', 'nobody can tell: ask nobody'],
  ['u', 'undo my last label or skip'], ['/', 'find a node'], ['Esc', 'back to the question'], ['?', 'this window'],
];

function Help() {
  const [theme, choose] = useState(localStorage.getItem(kSettings.theme) ?? 'system');
  const [keys, setKeys] = useState(localStorage.getItem(kSettings.keys) !== 'off');
  return (
    <>
      <dl class="keys">{kHelp.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <p class="faint">In the drawing, arrow keys go from node to node and Enter opens one. A label counts once it says “Saved”.</p>
      <fieldset><legend>Appearance</legend>
        {['system', 'light', 'dark'].map((t) => <label key={t}><input type="radio" name="theme" checked={theme === t} onChange={() => { setTheme(t); choose(t); }} />{t}</label>)}</fieldset>
      <label class="check"><input type="checkbox" checked={keys} onChange={(e) => { localStorage.setItem(kSettings.keys, e.currentTarget.checked ? 'on' : 'off'); setKeys(e.currentTarget.checked); }} />Single keys do things</label>
    </>
  );
}

const hideCenter = (picture: Picture | null): Picture | null =>
  picture && { ...picture, nodes: picture.nodes.map((n) => (n.distance === 0 ? { ...n, label: null, prediction: null, confidence: 0 } : n)) };

function App() {
  const state = useSession();
  const [window, open] = useState<'help' | 'person' | null>(null);
  useKeys(() => open('help'));
  useSeen(state.node?.id);
  useEffect(() => { document.title = state.node ? `${shorten(state.node.name ?? state.node.id, 40)} · copse` : 'copse'; }, [state.node?.id]);
  const close = () => open(null);
  return (
    <>
      <TopBar state={state} help={() => open('help')} person={() => open('person')} />
      <main>
        <Question state={state} session={session} />
        <Neighbourhood picture={isBlind(state) ? hideCenter(state.picture) : state.picture} says={state.pictureSays} classes={state.classes} weighted={state.graph?.weighted ?? false}
          size={state.pictureSize} resize={(n) => session.resizePicture(n)} open={(id) => session.goto(id)} />
      </main>
      <Side state={state} session={session} />
      <Modal title="Keys and settings" open={window === 'help'} onClose={close}><Help /></Modal>
      <Modal title="Who is labelling?" open={window === 'person'} onClose={close}><PersonForm state={state} done={close} /></Modal>
      <Modal title="A token, please" open={state.wantsToken !== 'no'} onClose={null}><TokenForm refused={state.wantsToken === 'refused'} /></Modal>
    </>
  );
}

render(<App />, document.getElementById('app')!);
void session.start();
