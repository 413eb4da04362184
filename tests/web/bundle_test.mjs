// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { web } from './harness.mjs';

const files = (directory) => Object.fromEntries(readdirSync(directory).sort().map((name) => [name, readFileSync(join(directory, name), 'utf8')]));

test('what is checked in is what the sources build', (t) => {
  const fresh = mkdtempSync(join(tmpdir(), 'copse-bundle-'));
  t.after(() => rmSync(fresh, { recursive: true }));
  const built = spawnSync('node', [join(web, 'build.mjs'), fresh], { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  const [now, kept] = [files(fresh), files(join(web, 'dist'))];
  assert.deepEqual(Object.keys(now), Object.keys(kept));
  for (const name in now) assert.ok(now[name] === kept[name], `web/dist/${name} is old: cd web && npm run build`);
});

test('the page is small and needs nothing from elsewhere', () => {
  const all = Object.values(files(join(web, 'dist')));
  const bytes = all.reduce((sum, text) => sum + gzipSync(text).length, 0);
  assert.ok(bytes < 150_000, `${bytes} bytes compressed`);
  const addresses = all.join('').match(/https?:\/\/[\w.-]+/g).filter((address) => address !== 'http://www.w3.org');
  assert.deepEqual(addresses, []);
});

test('no source turns text into HTML or a program', () => {
  for (const [name, text] of Object.entries(files(join(web, 'src'))))
    assert.doesNotMatch(text, /innerHTML|outerHTML|document\.write|insertAdjacentHTML|DOMParser|\beval\(|new Function/i, name);
});

test('the lock names no registry', () => assert.doesNotMatch(readFileSync(join(web, 'package-lock.json'), 'utf8'), /"resolved"/));
