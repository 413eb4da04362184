// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a neighbourhood stand: the centre fixed, the rest on rings by distance, pulled by edges. The same input gives
// the same picture: d3-force draws its random numbers from a fixed seed.
import { SimulationLinkDatum, SimulationNodeDatum, forceCollide, forceLink, forceManyBody, forceRadial, forceSimulation } from 'd3-force';
import { Picture } from './api';

export interface Spot { x: number; y: number; r: number }
interface Body extends SimulationNodeDatum { r: number; ring: number; x: number; y: number }

const kRing = 90;       // between rings, before scaling
const kTicks = 140;     // cooled down to d3's alphaMin
const kSlice = 10;      // milliseconds of work before the browser may paint
const kMargin = 26;

export const radiusOf = (degree: number, isCenter: boolean): number => Math.min(11, 3.4 + 0.9 * Math.log2(1 + degree)) + (isCenter ? 5 : 0);

/** Neighbours of a node start near it, so that few edges cross. */
function firstPlaces(picture: Picture): Body[] {
  const bodies: Body[] = picture.nodes.map((node) => ({ r: radiusOf(node.degree, node.distance === 0), ring: node.distance, x: 0, y: 0 }));
  const angle = new Map<number, number>([[picture.nodes.findIndex((n) => n.distance === 0), 0]]);
  const direct = picture.nodes.map((_, i) => i).filter((i) => picture.nodes[i].distance === 1);
  direct.forEach((i, k) => angle.set(i, (2 * Math.PI * k) / direct.length));
  for (const [a, b] of picture.edges.flatMap((e) => [[e.source, e.target], [e.target, e.source]]))
    if (!angle.has(b) && angle.has(a)) angle.set(b, angle.get(a)! + 0.08 * ((b % 7) - 3));
  bodies.forEach((body, i) => {
    const a = angle.get(i) ?? i * 2.4;
    body.x = body.ring * kRing * Math.cos(a);
    body.y = body.ring * kRing * Math.sin(a);
    if (body.ring === 0) Object.assign(body, { fx: 0, fy: 0 });
  });
  return bodies;
}

/** Fills the frame: each axis is stretched on its own, the other by at most half as much again. */
function fitted(bodies: Body[], width: number, height: number): Spot[] {
  const range = (of: (body: Body) => number) => { const all = bodies.map(of); return [Math.min(...all), Math.max(...all)]; };
  const [left, right] = range((b) => b.x), [top, bottom] = range((b) => b.y);
  const sx = (width - 2 * kMargin) / Math.max(1, right - left), sy = (height - 2 * kMargin) / Math.max(1, bottom - top);
  const least = Math.min(sx, sy, 1.6);
  const [fx, fy] = [Math.min(sx, 1.5 * least), Math.min(sy, 1.5 * least)];
  return bodies.map(({ x, y, r }) => ({
    x: width / 2 + (x - (left + right) / 2) * fx, y: height / 2 + (y - (top + bottom) / 2) * fy, r: r * Math.min(1, Math.max(0.6, least)),
  }));
}

/** Null when `alive` turned false on the way: another picture is wanted. */
export async function arrange(picture: Picture, width: number, height: number, alive: () => boolean): Promise<Spot[] | null> {
  const bodies = firstPlaces(picture);
  const links: SimulationLinkDatum<Body>[] = picture.edges.map(({ source, target }) => ({ source, target }));
  const simulation = forceSimulation(bodies)
    .force('link', forceLink<Body, SimulationLinkDatum<Body>>(links).distance(46))
    .force('charge', forceManyBody<Body>().strength(-70).distanceMax(260))
    .force('ring', forceRadial<Body>((body) => body.ring * kRing).strength(0.35))
    .force('collide', forceCollide<Body>((body) => body.r + 3))
    .alphaDecay(1 - 0.001 ** (1 / kTicks))
    .stop();
  for (let tick = 0; tick < kTicks;) {
    for (const end = performance.now() + kSlice; tick < kTicks && performance.now() < end; ++tick) simulation.tick();
    await new Promise((done) => setTimeout(done));
    if (!alive()) return null;
  }
  return fitted(bodies, width, height);
}

export interface Caption { index: number; text: string; x: number; y: number; anchor: 'start' | 'end' }

/** Names beside nodes, in the order given, where they cover neither a name nor a larger node; the rest shows theirs when pointed at. */
export function captions(spots: Spot[], texts: string[], order: number[], width: number): Caption[] {
  type Box = [left: number, top: number, right: number, bottom: number];
  const taken: Box[] = spots.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]);
  const free = (box: Box, own: number) =>
    box[0] >= 2 && box[2] <= width - 2 &&
    taken.every((other, i) => i === own || box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
  const placed: Caption[] = [];
  for (const index of order) {
    const { x, y, r } = spots[index], long = texts[index].length * 6.3 + 2;
    for (const anchor of ['start', 'end'] as const) {
      const at = anchor === 'start' ? x + r + 4 : x - r - 4;
      const box: Box = anchor === 'start' ? [at, y - 7, at + long, y + 7] : [at - long, y - 7, at, y + 7];
      if (!free(box, index)) continue;
      taken.push(box);
      placed.push({ index, text: texts[index], x: at, y, anchor });
      break;
    }
  }
  return placed;
}
