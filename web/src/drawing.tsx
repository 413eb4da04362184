// SPDX-License-Identifier: Apache-2.0
// The neighbourhood as a picture and as a table: the same nodes, pointed at together.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Picture, PictureNode } from './api';
import { Classes, kPlain } from './classes';
import { Spot, arrange, captions } from './layout';
import { Glyph, Value } from './parts';
import { hashOf } from './session';
import { count, percent, plural, shorten, visible, weight } from './text';

const nameOf = (node: PictureNode) => node.name ?? node.id;

function describe(node: PictureNode): string {
  const is = node.label !== null ? `known: ${shorten(node.label, 40)}`
    : node.prediction !== null ? `answer: ${shorten(node.prediction, 40)}, ${percent(node.confidence)} sure` : 'no answer';
  return `${shorten(nameOf(node), 60)}; ${is}; ${plural(node.degree, 'neighbour')}`;
}

function useSize(): [{ width: number; height: number }, (element: HTMLElement | null) => void] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver | null>(null);
  const attach = useMemo(() => (element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (element === null) return;
    observer.current = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.current.observe(element);
  }, []);
  return [{ width, height: Math.round(Math.max(260, Math.min(width * 0.78, 600))) }, attach];
}

/** The same nodes and edges stand where they stood: only colours change when labels arrive. */
function useSpots(picture: Picture | null, width: number, height: number): Spot[] | null {
  const [spots, setSpots] = useState<{ of: string; list: Spot[] } | null>(null);
  const of = picture === null || width === 0 ? '' : JSON.stringify([width, height, picture.nodes.map((n) => n.id), picture.edges.length]);
  useEffect(() => {
    if (picture === null || of === '') return;
    let alive = true;
    void arrange(picture, width, height, () => alive).then((list) => { if (list) setSpots({ of, list }); });
    return () => { alive = false; };
  }, [of]);
  return spots?.of === of ? spots.list : null;
}

const line = (a: Spot, b: Spot) => `M${a.x.toFixed(1)} ${a.y.toFixed(1)}L${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
const edgesAt = (picture: Picture, spots: Spot[], i: number) =>
  picture.edges.filter((e) => e.source === i || e.target === i).map((e) => line(spots[e.source], spots[e.target])).join('');

/** One path for each of three widths, and one for edges that say "unlike": thousands of edges stay four elements. */
function edgePaths(picture: Picture, spots: Spot[]): string[] {
  if (picture.edges.length === 0) return [];
  const sizes = picture.edges.map((e) => Math.abs(e.weight)), heaviest = Math.max(...sizes), lightest = Math.min(...sizes);
  const paths = ['', '', '', ''];
  for (const { source, target, weight } of picture.edges) {
    const step = heaviest > lightest ? Math.min(2, Math.floor((3 * (Math.abs(weight) - lightest)) / (heaviest - lightest))) : 0;
    paths[weight < 0 ? 3 : step] += line(spots[source], spots[target]);
  }
  return paths;
}

const kHalo = 6;  // around the node that is asked about
const kArrows: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The nearest node within 45 degrees of the arrow. */
function towards(spots: Spot[], from: number, [dx, dy]: [number, number]): number {
  let best = from, distance = Infinity;
  spots.forEach(({ x, y }, i) => {
    const [ox, oy] = [x - spots[from].x, y - spots[from].y];
    const along = ox * dx + oy * dy, across = Math.abs(ox * dy - oy * dx);
    if (i !== from && along > 0 && across <= along && along + across < distance) [best, distance] = [i, along + across];
  });
  return best;
}

interface Pointing { pointed: string | null; point: (id: string | null) => void }

function Drawing({ picture, classes, open, pointed, point }: { picture: Picture | null; classes: Classes; open: (id: string) => void } & Pointing) {
  const [{ width, height }, attach] = useSize();
  const spots = useSpots(picture, width, height);
  const [focus, setFocus] = useState(0);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => setFocus(0), [picture?.center]);

  const scene = useMemo(() => {
    if (picture === null || spots === null) return null;
    const rank = (n: PictureNode) => (n.distance === 0 ? 1e9 : 0) + (n.distance === 1 ? 1e6 : 0) + (n.label !== null ? 5e5 : 0) + Math.min(n.degree, 1e5);
    const order = picture.nodes.map((_, i) => i).sort((a, b) => rank(picture.nodes[b]) - rank(picture.nodes[a]));
    const most = width < 500 ? 12 : 34;
    const texts = picture.nodes.map((n, i) => shorten(nameOf(n), picture.nodes[i].distance === 0 ? 28 : 18));
    return { edges: edgePaths(picture, spots), captions: captions(spots.map((s, i) => (picture.nodes[i].distance === 0 ? { ...s, r: s.r + kHalo } : s)), texts, order.slice(0, most), width) };
  }, [picture, spots]);

  const onKey = (event: KeyboardEvent) => {
    if (spots === null || picture === null) return;
    const arrow = kArrows[event.key];
    if (arrow) {
      const next = towards(spots, focus, arrow);
      setFocus(next);
      (svg.current?.querySelectorAll('.node')[next] as SVGElement | undefined)?.focus();
    } else if (event.key === 'Enter' || event.key === ' ') open(picture.nodes[focus].id);
    else return;
    event.preventDefault();
  };
  const center = picture?.nodes.findIndex((n) => n.distance === 0) ?? -1;
  const at = picture?.nodes.findIndex((n) => n.id === pointed) ?? -1;
  const small = Math.min(focus, (picture?.nodes.length ?? 1) - 1);
  return (
    <div class="drawing" ref={attach}>
      {picture !== null && spots !== null && scene !== null ? (
        <svg ref={svg} width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" onKeyDown={onKey}
          aria-label={`Drawing of ${plural(picture.nodes.length, 'node')}. Arrow keys move, Enter opens a node. The table below says the same.`}>
          {scene.edges.map((d, i) => d && <path key={i} class={`edges w${i}`} d={d} />)}
          <path class={at >= 0 ? 'edges own' : 'edges from-center'} d={edgesAt(picture, spots, at >= 0 ? at : center)} />
          {picture.nodes.map((node, i) => {
            const look = node.label !== null || node.confidence > 0 ? classes.look(node.label ?? node.prediction) : kPlain;
            return (
              <g key={node.id} class={`node c${look.color} ${node.label !== null ? 'known' : 'guess'}${node.distance === 0 ? ' center' : ''}${i === at ? ' pointed' : ''}`}
                transform={`translate(${spots[i].x.toFixed(1)} ${spots[i].y.toFixed(1)})`} role="button" tabIndex={i === small ? 0 : -1} aria-label={describe(node)}
                onFocus={() => { setFocus(i); point(node.id); }} onBlur={() => point(null)} onClick={() => open(node.id)}
                onMouseEnter={() => point(node.id)} onMouseLeave={() => point(null)}>
                {node.distance === 0 && <circle class="halo" r={spots[i].r + kHalo} />}
                <circle class="reach" r={Math.max(12, spots[i].r)} />
                <path class="mark" d={look.shape} transform={`scale(${spots[i].r.toFixed(1)})`} />
              </g>
            );
          })}
          <g class="captions" aria-hidden="true">
            {scene.captions.map((c) => c.index !== at && <text key={c.index} x={c.x.toFixed(1)} y={(c.y + 4).toFixed(1)} text-anchor={c.anchor}
              class={picture.nodes[c.index].distance === 0 ? 'center' : ''}>{c.text}</text>)}
            {at >= 0 && <text class="pointed" x={Math.max(4, Math.min(width - 4, spots[at].x)).toFixed(1)} y={(spots[at].y < 40 ? spots[at].y + spots[at].r + 18 : spots[at].y - spots[at].r - 8).toFixed(1)}
              text-anchor={spots[at].x < width * 0.25 ? 'start' : spots[at].x > width * 0.75 ? 'end' : 'middle'}>{shorten(nameOf(picture.nodes[at]), 44)}</text>}
          </g>
        </svg>
      ) : <div class="drawing-waits" style={{ height: `${height}px` }} />}
    </div>
  );
}

function Legend({ picture, classes }: { picture: Picture; classes: Classes }) {
  const known = new Map<string, number>();
  for (const n of picture.nodes) {
    const label = n.label ?? (n.confidence > 0 ? n.prediction : null);
    if (label !== null) known.set(label, (known.get(label) ?? 0) + 1);
  }
  const top = [...known].sort((a, b) => b[1] - a[1]);
  return (
    <p class="legend">
      {top.slice(0, 8).map(([label]) => <span key={label}><Glyph look={classes.look(label)} /><Value text={label} most={24} /></span>)}
      {top.length > 8 && <span>and {top.length - 8} more</span>}
      <span class="how"><Glyph look={kPlain} /> a person said so <Glyph look={kPlain} known={false} /> predicted</span>
    </p>
  );
}

const kRows = 12;

function Table({ picture, classes, weighted, pointed, point }: { picture: Picture; classes: Classes; weighted: boolean } & Pointing) {
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [picture.center]);
  const center = picture.nodes.findIndex((n) => n.distance === 0);
  const rows = useMemo(() => {
    const direct = new Map(picture.edges.filter((e) => e.source === center || e.target === center).map((e) => [e.source === center ? e.target : e.source, e.weight]));
    return picture.nodes.map((node, i) => ({ node, weight: direct.get(i) })).filter(({ node }) => node.distance > 0)
      .sort((a, b) => a.node.distance - b.node.distance || (b.weight ?? 0) - (a.weight ?? 0));
  }, [picture]);
  if (rows.length === 0) return <p class="faint">This node has no neighbours: no label can reach it over an edge.</p>;
  return (
    <>
      <table class="neighbours">
        <caption class="unseen">The nodes of the drawing</caption>
        <thead><tr><th scope="col">Node</th><th scope="col">Class</th><th scope="col" class="number">Steps</th>
          {weighted && <th scope="col" class="number">Weight</th>}<th scope="col" class="number">Neighbours</th></tr></thead>
        <tbody>
          {rows.slice(0, all ? undefined : kRows).map(({ node, weight: w }) => (
            <tr key={node.id} class={node.id === pointed ? 'pointed' : ''} onMouseEnter={() => point(node.id)} onMouseLeave={() => point(null)}>
              <th scope="row"><a href={hashOf(node.id)}><Value text={nameOf(node)} most={48} /></a></th>
              <td><Answer node={node} classes={classes} /></td>
              <td class="number">{node.distance}</td>
              {weighted && <td class="number">{w === undefined ? '' : weight(w)}</td>}
              <td class="number">{count(node.degree)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > kRows && <button type="button" class="quiet more" onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show all ${count(rows.length)}`}</button>}
    </>
  );
}

function Answer({ node, classes }: { node: PictureNode; classes: Classes }) {
  if (node.label !== null) return <span class="class"><Glyph look={classes.look(node.label)} /><Value text={node.label} most={20} /></span>;
  if (node.prediction === null || node.confidence <= 0) return <span class="faint">no label reaches it</span>;
  return <span class="class"><Glyph look={classes.look(node.prediction)} known={false} /><Value text={node.prediction} most={20} /><span class="faint">{percent(node.confidence)}</span></span>;
}

interface Props { picture: Picture | null; says: string | null; classes: Classes; weighted: boolean; size: number; resize: (n: number) => void; open: (id: string) => void }

export function Neighbourhood({ picture, says, classes, weighted, size, resize, open }: Props) {
  const [pointed, point] = useState<string | null>(null);
  const node = picture?.nodes.find((n) => n.id === pointed);
  return (
    <section class="neighbourhood" aria-label="Neighbourhood">
      <header>
        <h2>Neighbourhood</h2>
        <label class="size">Nodes <select value={size} onChange={(e) => resize(Number(e.currentTarget.value))}>
          {[30, 100, 300].map((n) => <option key={n} value={n}>{n}</option>)}</select></label>
      </header>
      {says !== null && <p class="faint" role="status">{visible(says.slice(0, 500))}</p>}
      <Drawing picture={picture} classes={classes} open={open} pointed={pointed} point={point} />
      <p class="pointed-at">{node ? describe(node)
        : picture && picture.left_out > 0 ? `${plural(picture.nodes.length, 'node')} drawn, ${count(picture.left_out)} left out.` : ' '}</p>
      {picture !== null && <><Legend picture={picture} classes={classes} />
        <Table picture={picture} classes={classes} weighted={weighted} pointed={pointed} point={point} /></>}
    </section>
  );
}
