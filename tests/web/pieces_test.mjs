// SPDX-License-Identifier: Apache-2.0
// The parts of the page that need no browser, each beside a slower way to say the same.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { web } from './harness.mjs';

const out = mkdtempSync(join(tmpdir(), 'copse-pieces-'));
after(() => rmSync(out, { recursive: true }));
createRequire(join(web, 'package.json'))('esbuild').buildSync({
  absWorkingDir: web, outdir: out, bundle: true, format: 'esm', outExtension: { '.js': '.mjs' },
  entryPoints: ['event_stream', 'text', 'layout', 'classes'].map((name) => `src/${name}.ts`),
});
const piece = (name) => import(join(out, `${name}.mjs`));
const { eventParser } = await piece('event_stream'), { visible, shorten, percent } = await piece('text');
const { arrange, captions } = await piece('layout'), { Classes } = await piece('classes');

test('events come out the same wherever the stream is cut', () => {
  for (const end of ['\n', '\r\n']) {
    const stream = [': ping', '', 'id: 7', 'event: label', 'data: {"a":"é\u2028"}', '', 'data: one', 'data:two', '', 'event: model', 'data: x', '', 'data: unfinished'].join(end);
    const expected = [['label', '{"a":"é\u2028"}'], ['message', 'one\ntwo'], ['model', 'x']];
    for (let first = 0; first <= stream.length; ++first) {
      for (const second of [first, Math.min(first + 1, stream.length), stream.length]) {
        const got = [];
        const parse = eventParser((kind, data) => got.push([kind, data]));
        for (const part of [stream.slice(0, first), stream.slice(first, second), stream.slice(second)]) parse(part);
        assert.deepEqual(got, expected, `cut at ${first} and ${second}`);
      }
    }
  }
});

test('no text keeps what reorders or hides its surroundings', () => {
  for (let code = 0; code <= 0xffff; ++code) {
    const seen = visible(String.fromCharCode(code));
    assert.doesNotMatch(seen, /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u, code.toString(16));
    assert.notEqual(seen, '');
  }
  assert.equal(visible('a\nb\tc\u202ed'), 'a\\nb\\tc[U+202E]d');
});

test('short texts stay and long ones keep beginning and end', () => {
  assert.equal(shorten('libfoo', 18), 'libfoo');
  assert.equal(shorten('abcdefghij', 10), 'abcdefghij');
  assert.equal(shorten('abcdefghijk', 10), 'abcdef…ijk');
  assert.equal(shorten('👍'.repeat(30), 7), '👍👍👍👍…👍👍');
  const start = performance.now();
  assert.equal([...shorten('x'.repeat(10_000_000), 60)].length, 60);
  assert.ok(performance.now() - start < 100, 'time grows with the text');
});

test('shares read as whole percents', () =>
  assert.deepEqual([0, 0.001, 0.494, 0.996, 1].map(percent), ['0', '<1', '49', '100', '100'].map((n) => `${n}\u00a0%`)));

test('72 classes differ in look, the first 8 in colour and in shape, and later ones change none', () => {
  const names = Array.from({ length: 72 }, (_, i) => `c${i}`), classes = new Classes(names);
  const looks = names.map((name) => classes.look(name));
  assert.equal(new Set(looks.map((l) => `${l.color} ${l.shape}`)).size, 72);
  for (const part of ['color', 'shape']) assert.equal(new Set(looks.slice(0, 8).map((l) => l[part])).size, 8);
  const more = classes.with(['zz', null, 'c3', 'aa', 'zz']);
  assert.deepEqual(more.names.slice(72), ['zz', 'aa']);
  assert.deepEqual(names.map((name) => more.look(name)), looks);
  assert.equal(more.with(['aa', null]), more);
});

function random(seed) { return () => (seed = (seed * 48271) % 2147483647) / 2147483647; }
function randomPicture(seed, n) {
  const next = random(seed + 1);
  const parents = Array.from({ length: n }, (_, i) => Math.floor(next() * i)), distance = [0];
  for (let i = 1; i < n; ++i) distance.push(distance[parents[i]] + 1);
  return { center: '0', left_out: 0, nodes: distance.map((d, i) => ({ id: String(i), distance: d, degree: 1 + (i % 40) })),
    edges: parents.slice(1).map((source, i) => ({ source, target: i + 1, weight: 1 })) };
}

test('a drawing fills its frame, stays inside, and comes out the same twice', async () => {
  for (const [seed, n] of [[1, 1], [2, 2], [3, 12], [4, 100], [5, 300]]) {
    const picture = randomPicture(seed, n);
    const spots = await arrange(picture, 600, 400, () => true);
    for (const [axis, length] of [['x', 600], ['y', 400]]) {
      const all = spots.map((spot) => spot[axis]);
      assert.ok(Math.abs(Math.min(...all) + Math.max(...all) - length) < 1e-6, `${n} nodes lie in the middle`);
    }
    for (const { x, y } of spots) assert.ok(x >= 20 && x <= 580 && y >= 20 && y <= 380, `${n} nodes: ${x} ${y}`);
    assert.deepEqual(await arrange(picture, 600, 400, () => true), spots);
  }
  assert.equal(await arrange(randomPicture(6, 300), 600, 400, () => false), null);
});

test('names in the drawing cover neither each other nor other nodes', async () => {
  const picture = randomPicture(7, 120), texts = picture.nodes.map((n) => `package-${n.id}`);
  const spots = await arrange(picture, 600, 400, () => true);
  const placed = captions(spots, texts, picture.nodes.map((_, i) => i), 600);
  assert.ok(placed.length > 5, `${placed.length} names`);
  const boxes = placed.map(({ x, y, text, anchor }) => { const w = text.length * 6.3; return anchor === 'start' ? [x, y - 7, x + w, y + 7] : [x - w, y - 7, x, y + 7]; });
  const apart = (a, b) => a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
  boxes.forEach((box, i) => {
    boxes.slice(i + 1).forEach((other) => assert.ok(apart(box, other)));
    spots.forEach(({ x, y, r }, node) => node === placed[i].index || assert.ok(apart(box, [x - r, y - r, x + r, y + r])));
  });
});
