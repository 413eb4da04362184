// SPDX-License-Identifier: Apache-2.0
// A server of its own for each test, people with browsers of their own, and what every page must never do.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const web = new URL('../../web/', import.meta.url).pathname;
const require = createRequire(join(web, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const program = process.env.COPSE;

const kFlags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let browser;  // one for all tests; people have contexts of their own in it
export const closeBrowser = () => browser?.close();

/** Two groups of packages that know each other, and one node between them. */
export const kGraph = [
  ...pairs('game', 6), ...pairs('lib', 6), ['game1', 'lib1'], ['between', 'game2'], ['between', 'lib2'],
];
export const kLabels = [['game1', 'games'], ['lib1', 'libs']];
function pairs(name, n) {
  const list = [];
  for (let a = 1; a <= n; ++a) for (let b = 1; b < a; ++b) if ((a + b) % 3) list.push([`${name}${a}`, `${name}${b}`]);
  return list;
}

/** A directory, the program serving a graph in it, and browsers; all of it ends with the test. */
export class Stage {
  constructor(test) {
    this.test = test;
    this.directory = mkdtempSync(join(tmpdir(), 'copse-web-'));
    this.data = join(this.directory, 'data');
    this.faults = [];
    this.contexts = [];
    this.address = '127.0.0.1:0';
    test.after(() => this.end());
  }
  async end() {
    await Promise.all(this.contexts.map((context) => context.close()));
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  file(name, rows) {
    const path = join(this.directory, name);
    writeFileSync(path, rows.map((row) => row.join('\t') + '\n').join(''));
    return path;
  }

  /** The page's address once the server answers. */
  async serve(graph, ...options) {
    this.command ??= ['serve', ...graph, '--data', this.data, ...options];
    this.server = spawn(program, [...this.command, '--listen', this.address], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    this.ended = new Promise((done) => this.server.on('exit', done));
    const url = await new Promise((found, failed) => {
      const hear = (text) => { said += text; const match = said.match(/http:\/\/[0-9.]+:\d+/); if (match) found(match[0]); };
      this.server.stdout.on('data', hear);
      this.server.stderr.on('data', hear);
      this.server.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
    });
    this.url = url + '/';
    this.address = url.slice(7);
    while (!(await fetch(this.url + 'readyz').catch(() => ({}))).ok) await new Promise((done) => setTimeout(done, 30));
    return this.url;
  }
  serveGraph(edges = kGraph, labels = kLabels, ...options) {
    return this.serve([this.file('edges.tsv', edges)], '--labels', this.file('labels.tsv', labels), ...options);
  }
  restart() { return this.serve([]); }
  async kill() {
    this.server?.kill('SIGKILL');
    await this.ended;
  }
  run(...words) { return spawnSync(program, words, { encoding: 'utf8' }); }

  /** A person with a browser of their own, on the page. Nobody's page may throw, break its policy or ask elsewhere. */
  async person(name, { hash = '', wait = '.drawing svg', ...options } = {}) {
    browser ??= await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args: kFlags });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    await context.addInitScript((who) => localStorage.setItem('copse.annotator', JSON.stringify(who)), name);
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on('pageerror', (error) => this.faults.push(`${name}: ${error.message}`));
    page.on('console', (message) => { if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text())) this.faults.push(`${name}: ${message.text()}`); });
    page.on('request', (request) => { if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(this.url)) this.faults.push(`${name} asked ${request.url()}`); });
    page.on('dialog', (dialog) => { this.faults.push(`${name}: a dialog says ${dialog.message()}`); void dialog.dismiss(); });
    this.contexts.push(context);
    await page.goto(this.url + hash);
    if (wait) await page.waitForSelector(wait);
    return page;
  }
  /** At the end of each test. */
  clean() { assert.deepEqual(this.faults, []); }

  async get(path) { return (await fetch(this.url + path)).json(); }
  /** All events, oldest first. */
  async events() { return (await this.get('v1/history?limit=500')).events.reverse(); }
}

export const question = (page) => page.locator('h1').innerText();
export const status = (page) => page.locator('.status p');
const kGlance = 250;  // milliseconds; keys do not answer a question that nobody can have read yet
/** Presses a key and waits for the sentence that acknowledges it. */
export async function press(page, key, says) {
  await page.waitForTimeout(kGlance);
  await page.keyboard.press(key);
  await status(page).filter({ hasText: says }).waitFor();
}
export async function nextQuestion(page, before) {
  await page.waitForFunction((old) => ![null, undefined, old].includes(document.querySelector('h1')?.innerText), before);
  return question(page);
}

/** What axe has against the page as it is now. */
export async function violations(page) {
  await page.evaluate(axe);
  const { violations: list } = await page.evaluate(() => window.axe.run(document));
  return list.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`);
}
export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
