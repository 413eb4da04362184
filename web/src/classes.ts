// SPDX-License-Identifier: Apache-2.0
// What a class looks like: a colour and a shape by its place in the list. 8 colours and 9 shapes have no common divisor, so the first
// 72 classes differ, and the first 8 in both: nobody needs to tell them by colour alone.

export const kColors = 8;

/** Paths around the origin, of about equal area. */
const kShapes = [
  'M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z',
  'M-.88-.88H.88V.88H-.88Z',
  'M0-1.28L1.16.8H-1.16Z',
  'M0-1.28L1.1 0L0 1.28L-1.1 0Z',
  'M-.4-1.12H.4V-.4H1.12V.4H.4V1.12H-.4V.4H-1.12V-.4H-.4Z',
  'M0 1.28L1.16-.8H-1.16Z',
  'M0-1.3L.38-.48L1.24-.4L.58.2L.8 1.06L0 .58L-.8 1.06L-.58.2L-1.24-.4L-.38-.48Z',
  'M1.28 0L-.8 1.16V-1.16Z',
  'M1.1 0L.55.95H-.55L-1.1 0L-.55-.95H.55Z',
];

export interface Look { color: number; shape: string }
export const kPlain: Look = { color: -1, shape: kShapes[0] };

/** The classes in a fixed order: what comes later goes to the end, so that nothing changes its look. */
export class Classes {
  private readonly index: Map<string, number>;
  constructor(readonly names: readonly string[]) { this.index = new Map(names.map((name, i) => [name, i])); }

  look(name: string | null): Look {
    const i = name === null ? undefined : this.index.get(name);
    return i === undefined ? kPlain : { color: i % kColors, shape: kShapes[i % kShapes.length] };
  }
  with(names: (string | null)[]): Classes {
    const fresh = [...new Set(names)].filter((name): name is string => name !== null && !this.index.has(name));
    return fresh.length === 0 ? this : new Classes([...this.names, ...fresh]);
  }
}
