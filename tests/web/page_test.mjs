// SPDX-License-Identifier: Apache-2.0
// The page in a real browser against the real program.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Stage, closeBrowser, kGraph, kLabels, nextQuestion, press, question, sideways, status, violations } from './harness.mjs';

after(closeBrowser);

const kPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'";
const nodeHash = (id) => '#/node/' + encodeURIComponent(id);

test('keys label, skip and undo, and say so only when it is stored', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  const first = await question(page);
  await press(page, '1', `Saved: ${first} is games.`);
  assert.deepEqual((await stage.events()).at(-1), { ...(await stage.events()).at(-1), who: 'ana', kind: 'label', node: first, label: 'games' });
  const second = await nextQuestion(page, first);
  await press(page, 's', `Skipped ${second}.`);
  const third = await nextQuestion(page, second);
  assert.ok(![first, second].includes(third));
  await press(page, 'u', `Took back your last answer about ${second}.`);
  await page.waitForFunction((name) => document.querySelector('h1').innerText === name, second);
  await press(page, '2', `Saved: ${second} is libs.`);
  await press(page, 'u', `Took back your last answer about ${second}.`);
  assert.equal((await stage.get(`v1/nodes/${second}`)).label, null);
  assert.equal((await stage.get(`v1/nodes/${first}`)).label, 'games');
  await press(page, 'n', `Nobody will be asked about ${second}.`);
  stage.clean();
});

test('a key pressed twice in a hurry does not answer the next question unread', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  await page.waitForTimeout(300);
  await page.evaluate(() => {  // presses 1 in the moment in which the next question appears
    const first = document.querySelector('h1').innerText, key = () => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true }));
    new MutationObserver((_, observer) => { if (document.querySelector('h1')?.innerText !== first) { observer.disconnect(); key(); } })
      .observe(document.querySelector('.question'), { subtree: true, childList: true, characterData: true });
    key();
  });
  await status(page).filter({ hasText: 'Saved' }).waitFor();
  await page.waitForTimeout(500);
  assert.equal((await stage.events()).filter((e) => e.who === 'ana').length, 1);
  stage.clean();
});

test('a key held down labels one node only', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  await page.waitForTimeout(300);
  for (let i = 0; i < 5; ++i) await page.keyboard.down('1');
  await page.keyboard.up('1');
  await status(page).filter({ hasText: 'Saved' }).waitFor();
  await nextQuestion(page);
  assert.equal((await stage.events()).filter((e) => e.who === 'ana').length, 1);
  stage.clean();
});

test('search finds a node, and Escape leads back to the question', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  const asked = await question(page);
  await page.keyboard.press('/');
  await page.keyboard.type('betw');
  await page.getByRole('option', { name: 'between' }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1').innerText === 'between');
  assert.match(page.url(), /#\/node\/between$/);
  await page.keyboard.press('Escape');
  await page.waitForFunction((name) => document.querySelector('h1').innerText === name, asked);
  await page.keyboard.press('/');
  await page.keyboard.type('no such node');
  await page.getByText('Nothing is called “no such node”.').waitFor();
  stage.clean();
});

test('a class is added by typing its name, and keeps its key', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  const first = await question(page);
  await page.keyboard.press('c');
  await page.keyboard.type('tools');
  await page.getByRole('option', { name: 'New class tools' }).waitFor();
  await page.keyboard.press('Enter');
  await status(page).filter({ hasText: `Saved: ${first} is tools.` }).waitFor();
  const second = await nextQuestion(page, first);
  await press(page, '3', `Saved: ${second} is tools.`);
  assert.deepEqual((await stage.get('v1/graph')).classes.sort(), ['games', 'libs', 'tools']);
  stage.clean();
});

test('with many classes the likely ones get the keys and any can be typed', async (t) => {
  const stage = new Stage(t);
  const names = Array.from({ length: 40 }, (_, i) => `class-${String(i).padStart(2, '0')}`);
  await stage.serveGraph(kGraph, kLabels, '--classes', names.join(','));
  const page = await stage.person('ana', { hash: nodeHash('game2') });
  assert.equal(await page.locator('.choices button').count(), 9);
  assert.match(await page.locator('.choices button').first().innerText(), /games/);
  await page.keyboard.press('c');
  await page.keyboard.type('class-37');
  await page.keyboard.press('Enter');
  await status(page).filter({ hasText: 'Saved: game2 is class-37.' }).waitFor();
  stage.clean();
});

test('Enter right after the last letter picks what fits all letters', async (t) => {
  const stage = new Stage(t);
  const names = Array.from({ length: 40 }, (_, i) => `class-${String(i).padStart(2, '0')}`);
  await stage.serveGraph(kGraph, kLabels, '--classes', names.join(','));
  const page = await stage.person('ana');
  await page.evaluate((texts) => {  // faster than any hand: no paint between the letters
    const input = document.querySelector('#other-class');
    input.focus();
    for (const text of texts) {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, text);
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  }, ['class-3', 'class-37']);
  await status(page).filter({ hasText: 'is class-37.' }).waitFor();
  stage.clean();
});

test('a reload keeps the question', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  await press(page, '1', 'Saved');
  await page.reload();
  await page.waitForSelector('h1');
  const asked = await question(page);
  for (let i = 0; i < 3; ++i) {
    await page.reload();
    await page.waitForSelector('h1');
    assert.equal(await question(page), asked);
  }
  stage.clean();
});

test('two people never hold the same question and see each other’s labels at once', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const [ana, bo] = [await stage.person('ana'), await stage.person('Bøłek 李')];
  const told = [];
  for (let round = 0; round < 4; ++round) {
    const [a, b] = [await question(ana), await question(bo)];
    assert.notEqual(a, b);
    await Promise.all([press(ana, '1', `Saved: ${a}`), press(bo, '2', `Saved: ${b}`)]);
    told.push(a, b);
    if (round < 3) await Promise.all([nextQuestion(ana, a), nextQuestion(bo, b)]);
  }
  assert.equal(new Set(told).size, told.length);
  await ana.locator('.history').getByText('Bøłek 李').first().waitFor();
  await ana.locator('.people li', { hasText: 'Bøłek 李' }).getByText('4 labels').waitFor();
  stage.clean();
});

test('a node that somebody else labels meanwhile says so', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana', { hash: nodeHash('between') });
  await page.locator('.link.live').waitFor();
  await fetch(stage.url + 'v1/nodes/between/label', { method: 'PUT', body: '{"label":"libs"}', headers: { 'Content-Type': 'application/json', 'X-Copse-Annotator': 'bo' } });
  await status(page).filter({ hasText: 'bo has just labelled this node libs.' }).waitFor();
  await page.locator('.thinks', { hasText: 'Labelled libs by bo' }).waitFor();
  stage.clean();
});

test('a label given while the server is down is stored once when it is back', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  await press(page, '1', 'Saved');
  await stage.kill();
  await page.locator('.link.lost').waitFor();
  const node = await question(page);
  await press(page, '2', `Not saved yet: ${node} is libs.`);
  assert.deepEqual(await violations(page), []);
  await stage.restart();
  await status(page).filter({ hasText: `Saved: ${node} is libs.` }).waitFor();
  await page.locator('.link.live').waitFor();
  await nextQuestion(page, node);
  assert.equal((await stage.events()).filter((e) => e.node === node).length, 1);
  await press(page, '1', 'Saved');
  stage.clean();
});

test('a label whose answer was lost is stored once, also over a reload', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  const node = await question(page);
  const keys = [];
  await page.route('**/label', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    await route.fetch();
    await route.abort();
  });
  await press(page, '1', 'Not saved yet');
  await page.waitForFunction(() => sessionStorage.getItem('copse.pending.') !== null);
  await page.unroute('**/label');
  const resent = page.waitForRequest((request) => request.method() === 'PUT');
  await page.reload();
  keys.push((await resent).headers()['idempotency-key']);
  await status(page).filter({ hasText: `Saved: ${node} is games.` }).waitFor();
  assert.equal(new Set(keys).size, 1);
  assert.equal((await stage.events()).filter((e) => e.node === node).length, 1);
  stage.clean();
});

test('the drawing is walked by arrow keys and opened by Enter', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana', { hash: nodeHash('between') });
  await page.locator('.drawing .node[tabindex="0"]').focus();
  for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
  const focused = page.locator('.drawing .node:focus');
  const name = (await focused.getAttribute('aria-label')).split(';')[0];
  await page.keyboard.press('Enter');
  await page.waitForFunction((wanted) => document.querySelector('h1').innerText === wanted, name);
  await page.locator('.neighbours').waitFor();
  await page.locator('.drawing svg').waitFor();
  assert.equal(await page.locator('.drawing .node').count(), (await page.locator('.neighbours tbody tr').count()) + 1);
  stage.clean();
});

const kHostile = ['<script>document.title="owned"</script>', '<img src=x onerror="document.title=1">', '\u202eevil\u202c', 'مرحبا بالعالم', 'x'.repeat(10_000), '.', '..',
  'a/b/../c?d#e', '50%', "'\"quotes", '👩‍👩‍👧‍👦'.repeat(40), '{{7*7}}', 'javascript:alert(1)'];

test('hostile ids and labels stay text and break no layout', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph(kHostile.slice(1).flatMap((id, i) => [[kHostile[0], id], [kHostile[i], id]]), [[kHostile[1], '<b>bold</b>'], [kHostile[3], '\u202edlob']]);
  const page = await stage.person('<i>ana</i>', { hash: nodeHash(kHostile[0]) });
  for (const id of kHostile) {
    await page.goto(stage.url + nodeHash(id));
    const seen = id.replaceAll('\u202e', '[U+202E]').replaceAll('\u202c', '[U+202C]').slice(0, 30);
    await page.waitForFunction((text) => document.querySelector('h1')?.textContent.startsWith(text), seen);
    await page.waitForSelector('.drawing svg');
    assert.ok((await sideways(page)) <= 0, `sideways at ${seen}`);
  }
  await page.goto(stage.url + nodeHash(kHostile[4]));
  await page.getByRole('button', { name: 'Show all 10,000 characters' }).click();
  assert.equal((await page.locator('h1').textContent()).length, 10_000);
  await press(page, '1', 'Saved');
  await page.keyboard.press('c');
  await page.keyboard.insertText('<img src=x onerror="document.title=2">');
  await page.getByRole('option', { name: 'New class' }).waitFor();
  await page.keyboard.press('Enter');
  await status(page).filter({ hasText: 'is <img src=x onerror="document.title=2">.' }).waitFor();
  await page.locator('.history').getByText('<i>ana</i>').first().waitFor();
  await page.keyboard.press('c');
  await page.keyboard.insertText('y'.repeat(10_240));
  await page.getByRole('option', { name: 'New class' }).waitFor();
  await page.keyboard.press('Enter');
  await status(page).filter({ hasText: '1,024 bytes' }).waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  assert.ok((await sideways(page)) <= 0, 'sideways on a phone');
  assert.equal(await page.locator('main img, main b, main i, main script').count(), 0);
  assert.doesNotMatch(await page.title(), /^(owned|1|2)$/);
  assert.deepEqual(await violations(page), []);
  stage.clean();
});

test('a hub with 100,000 neighbours is shown at once', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph([...kGraph, ['hub', 'game1'], ...Array.from({ length: 100_000 }, (_, i) => ['hub', `leaf${i}`])]);
  const page = await stage.person('ana');
  await page.locator('.size select').selectOption('300');
  const start = Date.now();
  await page.goto(stage.url + nodeHash('hub'));
  await page.waitForFunction(() => document.querySelector('h1').innerText === 'hub');
  await page.locator('.drawing svg[aria-label*="300 nodes"]').waitFor();
  assert.ok(Date.now() - start < 5000, `${Date.now() - start} ms`);
  await page.getByText(/300 nodes drawn, [\d,]+ left out/).waitFor();
  await press(page, '1', 'Saved: hub is games.');
  stage.clean();
});

test('a phone and 400 % zoom need no scrolling sideways', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  for (const width of [375, 320]) {
    const page = await stage.person(`width-${width}`, { viewport: { width, height: 640 }, hasTouch: true });
    assert.ok((await sideways(page)) <= 0, `${width} pixels`);
    assert.deepEqual(await violations(page), []);
    const first = await question(page);
    await page.locator('.choices button').first().tap();
    await status(page).filter({ hasText: `Saved: ${first}` }).waitFor();
  }
  stage.clean();
});

test('light and dark have no violation of the accessibility rules', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  for (const colorScheme of ['light', 'dark']) {
    const page = await stage.person(colorScheme, { colorScheme });
    for (const key of ['1', '2', '1']) {
      const before = await question(page);
      await press(page, key, `Saved: ${before}`);
      await nextQuestion(page, before);
    }
    await page.locator('.curve canvas').waitFor();
    await page.waitForSelector('.drawing svg');
    assert.deepEqual(await violations(page), []);
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]);
    assert.equal(paper > 128, colorScheme === 'light');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('undo my last label or skip').waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('1');  // keys rest while the window is open
    await page.getByRole('radio', { name: colorScheme === 'light' ? 'dark' : 'light' }).check();
    const other = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]);
    assert.equal(other > 128, colorScheme === 'dark');
    await page.getByRole('checkbox', { name: 'Single keys do things' }).uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('1');
    await page.waitForTimeout(200);
    assert.equal((await stage.events()).filter((e) => e.who === colorScheme).length, 3);
  }
  stage.clean();
});

test('another name gets questions of its own', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const page = await stage.person('ana');
  const asked = await question(page);
  await page.getByRole('button', { name: /ana/ }).click();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel('Your name').fill('bo');
  await page.keyboard.press('Enter');
  const other = await nextQuestion(page, asked);
  await press(page, '1', `Saved: ${other}`);
  assert.equal((await stage.events()).at(-1).who, 'bo');
  stage.clean();
});

test('the page carries the policy it keeps to', async (t) => {
  const stage = new Stage(t);
  await stage.serveGraph();
  const response = await fetch(stage.url);
  assert.ok(response.headers.get('content-security-policy').startsWith(kPolicy));
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
});

test('a token is asked for, kept in the tab, and asked again when refused', async (t) => {
  const stage = new Stage(t);
  const made = stage.run('serve', 'token', 'add', 'tove', 'label', '--data', stage.data);
  assert.equal(made.status, 0, made.stderr);
  await stage.serveGraph();
  const page = await stage.person('ana', { wait: 'dialog[open]' });
  assert.deepEqual(await violations(page), []);
  await page.locator('dialog input').fill('not the token');
  await page.keyboard.press('Enter');
  await page.getByText('This token was refused.').waitFor();
  await page.locator('dialog input').fill(made.stdout.trim());
  await page.keyboard.press('Enter');
  await page.locator('.drawing svg').waitFor();
  const first = await question(page);
  await press(page, '1', `Saved: ${first}`);
  await page.locator('.history').getByText('tove').first().waitFor();
  assert.equal(await page.evaluate((token) => JSON.stringify(localStorage).includes(token), made.stdout.trim()), false);
  await page.reload();
  await page.locator('.drawing svg').waitFor();
  stage.clean();
});
