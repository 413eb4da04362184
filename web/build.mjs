// SPDX-License-Identifier: Apache-2.0
// Usage: node build.mjs [DIRECTORY]. Writes the page into web/dist, or elsewhere to compare it with what is checked in.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, 'dist'));
mkdirSync(out, { recursive: true });

// Their licences ask to go along with the code.
const bundled = ['preact', 'uplot', 'd3-force', 'd3-dispatch', 'd3-quadtree', 'd3-timer'];
const licenses = bundled.map((name) => `${name}\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim()}`);

await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/app.tsx' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022', 'chrome123', 'firefox120', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  footer: { js: `/*\n${licenses.join('\n\n')}\n*/`, css: '/* with styles of uPlot, MIT licence: see app.js */' },
});
for (const file of ['index.html', 'favicon.svg']) copyFileSync(join(here, 'src', file), join(out, file));
