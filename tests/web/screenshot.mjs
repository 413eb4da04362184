// SPDX-License-Identifier: Apache-2.0
// Usage: tests/web/run PROGRAM --screenshot FILE. The page on Debian's package graph after some labels, for README and docs.
import { spawnSync } from 'node:child_process';
import { Stage, closeBrowser, nextQuestion, press, question } from './harness.mjs';

const kTold = 25, kAtOnce = 20;  // labels that others have told before
const kAnswers = 3;              // questions answered before the picture is taken

const file = process.argv[2];
const labels = spawnSync('gzip', ['-dc', new URL('../../data/debian/labels.tsv.gz', import.meta.url).pathname], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  .stdout.trim().split('\n').map((line) => line.split('\t'));
const sections = new Map(labels);

async function post(stage, path, type, who, body) {
  const response = await fetch(stage.url + path, { method: 'POST', body, headers: { 'Content-Type': type, 'X-Copse-Annotator': who } });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Packages from all over the alphabet, as far as the graph knows them and nobody has told their section. */
async function tell(stage) {
  const wanted = Array.from({ length: 2 * kTold * kAtOnce }, (_, i) => labels[(i * 7919 + 5) % labels.length][0]);
  const { predictions } = await post(stage, 'v1/predict', 'application/json', 'grace', JSON.stringify({ nodes: wanted }));
  const fresh = predictions.filter((p) => !p.error && !p.known).map((p) => p.id).slice(0, kTold * kAtOnce);
  for (let i = 0; i < fresh.length; i += kAtOnce)
    await post(stage, 'v1/labels', 'text/tab-separated-values', i % 3 ? 'grace' : 'linus', fresh.slice(i, i + kAtOnce).map((id) => `${id}\t${sections.get(id)}\n`).join(''));
}

const ends = [];
const stage = new Stage({ after: (end) => ends.push(end) });
try {
  await stage.serve(['--demo']);
  await tell(stage);
  const page = await stage.person('ada', { viewport: { width: 1360, height: 900 }, colorScheme: 'light' });
  for (let i = 0; i < kAnswers; ++i) {
    const name = await question(page);
    await page.keyboard.press('c');
    await page.keyboard.type(sections.get(name) ?? 'misc');
    await press(page, 'Enter', `Saved: ${name}`);
    await nextQuestion(page, name);
  }
  await page.locator('.drawing svg').waitFor();
  await page.waitForTimeout(2500);  // the curve and the counts arrive at most once a second
  await page.screenshot({ path: file });
  spawnSync('pngquant', ['--force', '--strip', '--speed', '1', '--output', file, '128', file]);  // a third of the size, where it is installed
} finally {
  for (const end of ends) await end();
  await closeBrowser();
}
