// SPDX-License-Identifier: Apache-2.0
// What the page knows and does: the node on screen, what is being saved, and the server's events. No drawing here.
import { Api, GraphInfo, HistoryEvent, Identity, NodeAnswer, Picture, Progress, Refusal, Unreachable, graphName, nodePath } from './api';
import { Classes } from './classes';

/** A sentence for people; values stand apart, so that their direction of writing cannot leak into it. */
export type Sentence = (string | { value: string; most?: number })[];
export interface Notice { tone: 'good' | 'bad' | 'plain'; says: Sentence }

/** What is on its way to the server. It keeps its key until the server has acknowledged it, also over a reload. */
export type Pending = { key: string } & ({ kind: 'label'; node: string; label: string } | { kind: 'skip'; node: string; reason: 'later' | 'nobody' } | { kind: 'undo' });

export interface State {
  identity: Identity;
  wantsToken: 'no' | 'missing' | 'refused';
  link: 'starting' | 'live' | 'lost';
  graph: GraphInfo | null;
  classes: Classes;
  node: NodeAnswer | null;
  /** The node of the queue that this person holds; another one may be on screen. */
  asked: string | null;
  finished: boolean;
  choices: string[];
  picture: Picture | null;
  pictureSays: string | null;
  pictureSize: number;
  graphs: string[];  // of this server
  progress: Progress | null;
  history: HistoryEvent[];
  historyEnds: boolean;
  pending: Pending | null;
  waits: boolean;  // the pending one could not be sent and will be sent again
  notice: Notice | null;
}

const kKeys = 9;
const kHistory = 30;
const kRenew = 240_000;  // milliseconds; a question is ours for 10 minutes unless we ask again
const kStored = { name: 'copse.annotator', size: 'copse.picture', token: 'copse.token', pending: `copse.pending.${graphName ?? ''}` };

const value = (text: string) => ({ value: text });
const delay = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
const backoff = (attempt: number, error: unknown) =>
  1000 * ((error instanceof Unreachable ? error.seconds : null) ?? Math.min(0.5 * 2 ** attempt, 8));

/** At most once in `milliseconds`, and always once after the last call. */
function calm(milliseconds: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined, last = -Infinity;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => { last = performance.now(); work(); }, Math.max(80, last + milliseconds - performance.now()));
  };
}

function stored<T>(storage: Storage, key: string): T | null {
  try { return JSON.parse(storage.getItem(key) ?? 'null') as T; } catch { return null; }
}
function store(storage: Storage, key: string, value: unknown): void {
  if (value === null) storage.removeItem(key);
  else storage.setItem(key, JSON.stringify(value));
}

/** Two browsers must not be one person, or both would hold the same question. */
function firstName(): string {
  const name = stored<string>(localStorage, kStored.name) ?? `guest-${crypto.getRandomValues(new Uint16Array(1))[0].toString(16).padStart(4, '0')}`;
  store(localStorage, kStored.name, name);
  return name;
}
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Few classes keep their keys for ever; of many, the likely ones of this node get them. */
export function choicesFor(classes: Classes, node: NodeAnswer, counts: Map<string, number>): string[] {
  if (classes.names.length <= kKeys) return [...classes.names];
  const often = [...classes.names].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const known = node.label === null ? [] : [node.label];
  return [...new Set([...known, ...node.prediction.scores.map((s) => s.label), ...often])].slice(0, kKeys);
}

/** Whether others' labels stay hidden: a second opinion should be one's own. */
export const isBlind = ({ graph, node, asked }: State): boolean =>
  node !== null && node.label !== null && node.id === asked && (graph?.annotators_per_node ?? 1) > 1;

export const hashOf = (id: string): string => `#/node/${encodeURIComponent(id.toWellFormed())}`;
export function nodeOfHash(hash: string): string | null {
  try { return hash.startsWith('#/node/') ? decodeURIComponent(hash.slice(7)) : null; } catch { return null; }
}

export class Session {
  state: State;
  readonly api: Api;
  private readonly listeners = new Set<() => void>();
  private tokenGiven: (() => void) | null = null;
  private tokenAsked: Promise<void> | null = null;
  private lastSeq: number | null = null;
  private ownSeq = 0;  // of what the server has acknowledged last: its event may arrive later
  private shown = 0;  // counts what was asked to be on screen: late answers to earlier wishes are dropped

  constructor() {
    const identity = { name: firstName(), token: stored<string>(sessionStorage, kStored.token) };
    this.api = new Api(identity, () => this.askToken());
    this.state = {
      identity, wantsToken: 'no', link: 'starting', graph: null, classes: new Classes([]), node: null, asked: null,
      finished: false, choices: [], picture: null, pictureSays: null, pictureSize: stored<number>(localStorage, kStored.size) ?? (innerWidth < 600 ? 30 : 100),
      graphs: [], progress: null, history: [], historyEnds: false, pending: null, waits: false, notice: null,
    };
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  private set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((listener) => listener());
  }
  say(tone: Notice['tone'], ...says: Sentence): void { this.set({ notice: { tone, says } }); }
  private complain(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    if (error instanceof Refusal) this.say('bad', { value: error.where, most: 80 }, ': ', { value: error.message, most: 600 });
    else if (error instanceof Unreachable) this.say('bad', 'The server cannot be reached.');
    else { this.say('bad', `Something went wrong in the page: ${String(error)}`); console.error(error); }
  }

  async start(): Promise<void> {
    addEventListener('hashchange', () => void this.follow());
    addEventListener('online', () => this.wake());
    setInterval(() => this.renew(), kRenew);
    void this.listen();
    await this.refreshGraph();
    void this.api.graphs().then((graphs) => this.set({ graphs }), () => {});
    const left = stored<Pending>(sessionStorage, kStored.pending);
    if (left !== null) await this.deliver(left);
    else await this.follow();
  }

  // ---- who

  private askToken(): Promise<void> {
    this.set({ wantsToken: this.state.identity.token === null ? 'missing' : 'refused' });
    return (this.tokenAsked ??= new Promise((done) => {
      this.tokenGiven = () => { this.tokenAsked = null; done(); };
    }));
  }
  /** The token stays in this tab only. */
  giveToken(token: string | null): void {
    store(sessionStorage, kStored.token, token);
    this.identify({ ...this.state.identity, token });
    this.set({ wantsToken: 'no' });
    this.tokenGiven?.();
  }
  rename(name: string): void {
    store(localStorage, kStored.name, name);
    this.identify({ ...this.state.identity, name });
    this.set({ asked: null });
    if (this.state.pending === null) void this.follow();
  }
  private identify(identity: Identity): void {
    this.api.identity = identity;
    this.set({ identity });
  }

  // ---- what is on screen

  /** Shows what the address names, or the question of the queue. */
  async follow(): Promise<void> {
    const id = nodeOfHash(location.hash);
    if (id === null) await this.question();
    else await this.open(id);
  }
  goto(id: string | null): void {
    const hash = id === null ? '' : hashOf(id);
    if (location.hash === hash) void this.follow();
    else if (id === null) { history.pushState(null, '', location.pathname + location.search); void this.follow(); }
    else location.hash = hash;
  }

  private async open(id: string): Promise<void> {
    const wish = ++this.shown;
    try {
      const node = await this.api.json<NodeAnswer>(nodePath(id));
      if (wish === this.shown && node) this.show(node);
    } catch (error) {
      if (wish !== this.shown) return;
      this.complain(error);
      if (this.state.node === null) this.goto(null);
    }
  }

  /** The server hands the same question to the same person until it is answered, so asking again is safe. */
  private async question(): Promise<void> {
    const wish = ++this.shown;
    for (let attempt = 0; wish === this.shown; ++attempt) {
      try {
        const next = await this.api.json<{ node: NodeAnswer }>('queue/next', { method: 'POST', body: {} });
        if (wish !== this.shown) return;
        if (next === null) return this.set({ finished: true, asked: null, node: null, picture: null });
        this.set({ asked: next.node.id, finished: false });
        return this.show(next.node);
      } catch (error) {
        if (!(error instanceof Unreachable)) return this.complain(error);
        this.set({ link: 'lost' });
        await this.pause(backoff(attempt, error));
      }
    }
  }

  /** Whoever thinks for long keeps the question, as long as the page is in view. */
  private renew(): void {
    const { node, asked, pending } = this.state;
    if (document.visibilityState === 'visible' && node !== null && node.id === asked && pending === null) void this.question();
  }

  private counts(): Map<string, number> {
    return new Map(this.state.progress?.classes.map((c) => [c.label, c.count]));
  }
  private show(node: NodeAnswer): void {
    this.learn([node.label, node.prediction.label, ...node.prediction.scores.map((s) => s.label)]);
    const other = node.id !== this.state.node?.id;
    // Keys must not move under the finger: their order changes with the node only.
    this.set(other ? { node, choices: choicesFor(this.state.classes, node, this.counts()), picture: null, pictureSays: null } : { node });
    void this.draw();
  }
  private async draw(): Promise<void> {
    const id = this.state.node?.id;
    if (id === undefined) return;
    try {
      const picture = await this.api.json<Picture>(nodePath(id, `/neighborhood?nodes=${this.state.pictureSize}`));
      if (picture === null || this.state.node?.id !== id) return;
      this.learn(picture.nodes.flatMap((n) => [n.label, n.prediction]));
      this.set({ picture, pictureSays: null });
    } catch (error) {
      if (this.state.node?.id === id) this.set({ pictureSays: error instanceof Refusal ? error.message : 'The server cannot be reached.' });
    }
  }
  resizePicture(pictureSize: number): void {
    store(localStorage, kStored.size, pictureSize);
    this.set({ pictureSize });
    void this.draw();
  }

  private learn(labels: (string | null)[]): void {
    const classes = this.state.classes.with(labels);
    if (classes === this.state.classes) return;
    const few = classes.names.length <= kKeys;
    this.set({ classes, choices: few ? [...classes.names] : this.state.choices });
  }

  // ---- labels, skips, undo

  label(label: string): void {
    if (this.state.node) void this.deliver({ kind: 'label', node: this.state.node.id, label, key: newKey() });
  }
  skip(reason: 'later' | 'nobody'): void {
    if (this.state.node) void this.deliver({ kind: 'skip', node: this.state.node.id, reason, key: newKey() });
  }
  undo(): void { void this.deliver({ kind: 'undo', key: newKey() }); }

  private send(pending: Pending): Promise<unknown> {
    const headers = { 'Idempotency-Key': pending.key };
    if (pending.kind === 'label') return this.api.json(nodePath(pending.node, '/label'), { method: 'PUT', body: { label: pending.label }, headers });
    if (pending.kind === 'skip') return this.api.json('queue/skip', { method: 'POST', body: { node: pending.node, reason: pending.reason }, headers });
    return this.api.json('undo', { method: 'POST', body: {}, headers });
  }

  /** Sends until there is an answer, always with the same key: the server stores it once. Only the answer says "saved". */
  private async deliver(pending: Pending): Promise<void> {
    if (this.state.pending !== null) return this.say('plain', 'Please wait: the last answer is still being saved.');
    store(sessionStorage, kStored.pending, pending);
    this.set({ pending, waits: false, notice: null });
    try {
      const answer = await this.sendUntilAnswered(pending);
      this.ownSeq = (answer as { seq: number }).seq;
      this.settle();
      this.acknowledged(pending, answer);
    } catch (error) {
      this.settle();
      this.complain(error);
      if (this.state.node === null) await this.follow();
    }
  }
  private async sendUntilAnswered(pending: Pending): Promise<unknown> {
    for (let attempt = 0; ; ++attempt) {
      try { return await this.send(pending); } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.set({ waits: true, link: 'lost' });
        await this.pause(backoff(attempt, error));
      }
    }
  }
  private settle(): void {
    store(sessionStorage, kStored.pending, null);
    this.set({ pending: null, waits: false });
  }
  private acknowledged(pending: Pending, answer: unknown): void {
    if (pending.kind === 'undo') {
      const { node } = answer as { node: string };
      this.say('plain', 'Took back your last answer about ', value(node), '.');
      return this.goto(node);
    }
    if (pending.kind === 'label') {
      this.learn([pending.label]);
      this.say('good', 'Saved: ', value(pending.node), ' is ', value(pending.label), '.');
    } else this.say('plain', pending.reason === 'later' ? 'Skipped ' : 'Nobody will be asked about ', value(pending.node), '.');
    if (this.state.asked === pending.node) this.set({ asked: null });
    this.goto(null);
  }

  // ---- the server's events

  private wakers = new Set<() => void>();
  private async pause(milliseconds: number): Promise<void> {
    const woken = new Promise<void>((done) => this.wakers.add(done));
    await Promise.race([delay(milliseconds), woken]);
  }
  /** Try again at once what waits. */
  wake(): void {
    this.wakers.forEach((wake) => wake());
    this.wakers.clear();
  }

  private async listen(): Promise<void> {
    for (let attempt = 0; ; ++attempt) {
      let failure: unknown = null;
      try {
        await this.api.listen(this.lastSeq, () => { attempt = 0; this.opened(); }, (kind, data) => this.heard(kind, data));
      } catch (error) { failure = error; }
      if (this.state.wantsToken === 'no') this.set({ link: 'lost' });
      await this.pause(backoff(attempt, failure));
    }
  }
  /** What happened while nobody listened is fetched whole. */
  private opened(): void {
    this.set({ link: 'live' });
    this.wake();
    void this.refreshGraph();
    void this.refreshHistory();
    this.refreshProgress();
    if (this.state.node !== null) this.refreshNode();
  }
  private heard(kind: string, data: string): void {
    const event = JSON.parse(data) as HistoryEvent;
    if (kind === 'model') return this.refreshNode();
    this.lastSeq = Math.max(this.lastSeq ?? 0, event.seq);
    if (!this.state.history.some((known) => known.seq >= event.seq)) this.set({ history: [event, ...this.state.history].slice(0, 200) });
    if (kind === 'label') this.learn([event.label]);
    this.refreshProgress();
    const { node, pending } = this.state;
    if (node === null || (pending !== null && (pending.kind === 'undo' || pending.node === event.node))) return;
    if (event.seq === this.ownSeq) return;
    if (kind === 'label' && event.node === node.id) this.say('plain', value(event.who), ' has just labelled this node ', value(event.label ?? ''), '.');
    if (kind !== 'skip') this.refreshNode();
  }

  private async quietly<T>(path: string, use: (answer: T) => void): Promise<void> {
    try {
      const answer = await this.api.json<T>(path);
      if (answer !== null) use(answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) this.complain(error);
    }
  }
  private refreshGraph(): Promise<void> {
    return this.quietly<GraphInfo>('graph', (graph) => { this.set({ graph }); this.learn(graph.classes); });
  }
  private refreshHistory(): Promise<void> {
    return this.quietly<{ events: HistoryEvent[] }>(`history?limit=${kHistory}`, ({ events }) =>
      this.set({ history: events, historyEnds: events.length < kHistory }));
  }
  olderHistory(): Promise<void> {
    const before = this.state.history.at(-1)?.seq ?? 0;
    return this.quietly<{ events: HistoryEvent[] }>(`history?limit=${kHistory}&before=${before}`, ({ events }) =>
      this.set({ history: [...this.state.history, ...events], historyEnds: events.length < kHistory }));
  }
  private refreshProgress = calm(1000, () =>
    void this.quietly<Progress>('progress', (progress) => { this.set({ progress }); this.learn(progress.classes.map((c) => c.label)); }));
  private refreshNode = calm(1500, () => {
    const { node, pending } = this.state;
    if (node === null || pending !== null) return;
    void this.quietly<NodeAnswer>(nodePath(node.id), (fresh) => { if (this.state.node?.id === fresh.id) this.show(fresh); });
  });

  async exportLabels(): Promise<void> {
    try {
      const response = await this.api.request('labels');
      const link = document.createElement('a');
      link.href = URL.createObjectURL(await response.blob());
      link.download = `${this.state.graph?.name ?? 'labels'}.labels.tsv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) { this.complain(error); }
  }
}
