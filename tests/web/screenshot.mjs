// SPDX-License-Identifier: Apache-2.0
// Usage: tests/web/run PROGRAM --screenshot FILE. The page on Debian's package graph after some labels, for README and docs.
import { spawnSync } from 'node:child_process';
import { Stage, closeBrowser, nextQuestion, press, question } from './harness.mjs';

const kAnswers = 12;  // questions answered before the picture is taken
const kShown = 'supertuxkart';

const file = process.argv[2];
const sections = new Map(spawnSync('gzip', ['-dc', new URL('../../data/debian/labels.tsv.gz', import.meta.url).pathname], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  .stdout.split('\n').map((line) => line.split('\t')));

const ends = [];
const stage = new Stage({ after: (end) => ends.push(end) });
try {
  await stage.serve(['--demo']);
  const page = await stage.person('ada', { viewport: { width: 1360, height: 900 }, colorScheme: 'light' });
  for (let i = 0; i < kAnswers; ++i) {
    const name = await question(page);
    await page.keyboard.press('c');
    await page.keyboard.type(sections.get(name) ?? 'misc');
    await press(page, 'Enter', `Saved: ${name}`);
    await nextQuestion(page, name);
  }
  await page.goto(`${stage.url}#/node/${kShown}`);
  await page.waitForFunction((name) => document.querySelector('h1').innerText === name, kShown);
  await page.locator('.drawing svg').waitFor();
  await page.waitForTimeout(2500);  // the curve and the counts arrive at most once a second
  await page.screenshot({ path: file });
  spawnSync('pngquant', ['--force', '--strip', '--speed', '1', '--output', file, '128', file]);  // a third of the size, where it is installed
} finally {
  for (const end of ends) await end();
  await closeBrowser();
}
