// SPDX-License-Identifier: Apache-2.0
// The HTTP API of copse serve: one function to call it, one to listen to its events. The shapes are those of /v1/openapi.json.

import { eventParser } from './event_stream';

export interface GraphInfo {
  name: string; nodes: number; edges: number; weighted: boolean; learner: string; strategy: string;
  classes: string[]; labels: number; version: number; annotators_per_node: number; readonly: boolean;
}
export interface Score { label: string; score: number }
export interface Reason { node: string; label: string; share: number }
export interface NodeAnswer {
  id: string; name: string | null; label: string | null; labelled_by: string | null; version: number;
  prediction: { label: string | null; confidence: number; reached: boolean; scores: Score[]; lag: number };
  reasons: Reason[]; degree: number;
}
export interface PictureNode {
  id: string; name: string | null; label: string | null; prediction: string | null; confidence: number;
  distance: number; degree: number;
}
export interface Picture {
  center: string; nodes: PictureNode[]; edges: { source: number; target: number; weight: number }[]; left_out: number;
}
export interface Found { id: string; name: string | null; label: string | null }
export interface CurvePoint { seq: number; labels: number; error: number; low: number; high: number }
export interface Progress {
  version: number; labels: number; classes: { label: string; count: number; predicted: number | null }[];
  curve: CurvePoint[]; stop: { hint: boolean; text: string };
  annotators: { who: string; labels: number; skips: number }[];
  disagreements: { node: string; labels: { who: string; label: string }[] }[]; kappa: number | null;
}
export interface HistoryEvent {
  seq: number; at: string; who: string; kind: 'label' | 'retract' | 'skip' | 'note'; node: string;
  label: string | null; predicted: string | null; confidence: number | null;
}

/** The server said no: the text is its own. */
export class Refusal extends Error {
  constructor(readonly where: string, says: string) { super(says); }
}
/** No answer, or one that says "later": the same request may be sent again. */
export class Unreachable extends Error {
  constructor(readonly seconds: number | null) { super('the server cannot be reached'); }
}

export interface Identity { name: string; token: string | null }
export interface Call { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal }

const kTimeout = 20_000;  // milliseconds; a request without an answer counts as lost
const kSilence = 40_000;  // the server pings every 15 s

export const graphName = new URLSearchParams(location.search).get('graph');
const root = new URL('v1/', document.baseURI).href;
const base = graphName === null ? root : `${root}graphs/${encodeURIComponent(graphName)}/`;

/** A header carries bytes: the name goes as UTF-8, one character for each byte. */
const asBytes = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

/** Browsers take "." and "..", however written, for steps: those ids go into the query. */
export const nodePath = (id: string, rest = ''): string =>
  id === '.' || id === '..' ? `nodes/-${rest}${rest.includes('?') ? '&' : '?'}id=${id}` : `nodes/${encodeURIComponent(id.toWellFormed())}${rest}`;

export class Api {
  identity: Identity;
  /** Asked when a token is missing or refused; settles when there is another one. */
  constructor(identity: Identity, private readonly askToken: () => Promise<void>) { this.identity = identity; }

  private headers(): Record<string, string> {
    if (this.identity.token !== null) return { Authorization: `Bearer ${asBytes(this.identity.token)}` };
    return { 'X-Copse-Annotator': asBytes(this.identity.name) };
  }

  /** The answer's JSON; null for 204. */
  async json<T>(path: string, call: Call = {}): Promise<T | null> {
    const response = await this.request(path, call);
    return response.status === 204 ? null : ((await response.json()) as T);
  }

  /** The names of all graphs of this server. */
  async graphs(): Promise<string[]> {
    return (await this.json<{ graphs: GraphInfo[] }>(root + 'graphs'))?.graphs.map((graph) => graph.name) ?? [];
  }

  async request(path: string, { method = 'GET', body, headers = {}, signal }: Call = {}): Promise<Response> {
    for (;;) {
      const limit = AbortSignal.timeout(kTimeout);
      const response = await reach(new URL(path, base).href, {
        method,
        headers: { ...this.headers(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        cache: 'no-store',
      }, signal);
      if (response.ok) return response;
      if (response.status !== 401) throw await refusal(response);
      await this.askToken();
    }
  }

  /** Server-sent events by fetch, since EventSource cannot carry a token. Returns when the stream ends. */
  async listen(last: number | null, onOpen: () => void, onEvent: (kind: string, data: string) => void): Promise<void> {
    const control = new AbortController();
    let alarm = setTimeout(() => control.abort(), kSilence);
    try {
      const headers = { ...this.headers(), Accept: 'text/event-stream', ...(last === null ? {} : { 'Last-Event-ID': String(last) }) };
      const response = await reach(base + 'events', { headers, signal: control.signal, cache: 'no-store' });
      if (response.status === 401) return await this.askToken();
      if (!response.ok || response.body === null) throw await refusal(response);
      onOpen();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parse = eventParser(onEvent);
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(alarm);
        alarm = setTimeout(() => control.abort(), kSilence);
        parse(part.value);
      }
    } finally {
      clearTimeout(alarm);
    }
  }
}

async function reach(url: string, init: RequestInit, cancelled?: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (cancelled?.aborted) throw error;
    throw new Unreachable(null);
  }
}

async function refusal(response: Response): Promise<Error> {
  if ([429, 502, 503, 504].includes(response.status)) {
    const seconds = Number(response.headers.get('Retry-After'));
    return new Unreachable(seconds > 0 ? Math.min(seconds, 60) : null);
  }
  const problem = await response.json().catch(() => ({}));
  return new Refusal(String(problem.instance ?? 'server'), String(problem.detail ?? problem.title ?? `status ${response.status}`));
}
