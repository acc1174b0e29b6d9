// The Explorer in a headless Chromium. FENCEPOST names the program, CHROMIUM the browser and, where
// pictures are wanted, SCREENSHOTS a folder for them.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let browser;
let server;
let page;
let wrong;

/** Starts `fencepost explore`; a later one listens where the first did. */
async function start(address = '127.0.0.1:0') {
    const child = spawn(process.env.FENCEPOST,
        ['explore', '--address', address, '--traces', 'tests/traces'],
        { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
        said += text;
        const url = said.match(/Open (http:\/\/(\S+?)\/)\n/);
        if (url) {
            return { child, url: url[1], address: url[2] };
        }
    }
    throw new Error(`fencepost explore said ${said}`);
}

async function stop() {
    server.child.kill('SIGINT');
    const [code] = await once(server.child, 'exit');
    assert.equal(code, 0, 'an interrupt is the way to end it');
}

/** Goes to an address and waits for the steps. */
async function open(address) {
    await page.goto(new URL(address, server.url).href);
    await drawn();
}

async function drawn() {
    await page.waitForSelector('main:not(.waiting) .steps [aria-current]');
}

async function picture(name) {
    if (process.env.SCREENSHOTS) {
        await page.waitForTimeout(300);
        await page.screenshot({ path: path.join(process.env.SCREENSHOTS, `${name}.png`) });
    }
}

const text = (selector) => page.locator(selector).innerText();
const count = (selector) => page.locator(selector).count();
const step = () => text('#where');
const isAt = (place) => page.waitForFunction(
    (wanted) => document.getElementById('where').textContent === wanted, place);

before(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: QUIET, timeout: 120_000 });
    server = await start();
});

after(async () => {
    await browser.close();
    await stop();
});

beforeEach(async () => {
    wrong = [];
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => {
        if (message.type() === 'error') {
            wrong.push(message.text());
        }
    });
    page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol !== 'data:' && url.host !== server.address) {
            wrong.push(`asks ${url.host}`);
        }
    });
});

afterEach(async () => {
    await page.close();
    assert.deepEqual(wrong, []);
});

test('the start page leads to a mutant’s counterexample at its last step', async () => {
    await page.goto(server.url);
    assert.ok(await count('#scenarios tbody tr') > 30);
    assert.ok(await count('#traces tbody tr') > 100);
    await picture('start');
    await page.fill('#filter', 'aborts at the current epoch');
    const shown = await count('#mutants tbody tr:visible');
    assert.ok(shown > 0 && shown < await count('#mutants tbody tr'));
    assert.equal(await count('#scenarios:visible'), 0);
    await picture('filter');
    await page.click('a.broken[href="/at/late/tv1/M08/S1"]');
    await drawn();
    const [, at, last] = (await step()).match(/^Step (\d+) of (\d+)$/);
    assert.equal(at, last);
    assert.match(page.url(), /\/explore\/late\/tv1\/M08\/\?at=S1#\/steps\/0\//);
    assert.match(await text('.about'), /no lost commit/);
    await picture('counterexample');
});

test('a counterexample is walked back and forth', async () => {
    await open('/at/late/tv1/M08/S1');
    const last = Number((await step()).split(' of ')[1]);
    const steps = () => count('#chart [data-step]');
    assert.ok(last > 10);
    assert.equal(await count('nav.steps ol li'), last + 1);
    assert.equal(await steps(), last);
    assert.match(await text('.change'), /S1 is violated/);
    assert.match(await text('.actors section.violated'), /S1\s+When the application/);
    assert.ok(await page.locator('#forth').isDisabled());

    await page.click('#back');
    await isAt(`Step ${last - 1} of ${last}`);
    assert.equal(await steps(), last - 1);
    assert.doesNotMatch(await text('.change'), /is violated/);
    assert.equal(await count('.actors section.violated div:not(.gone)'), 0);
    await page.keyboard.press('ArrowLeft');
    await isAt(`Step ${last - 2} of ${last}`);
    await page.keyboard.press('ArrowRight');
    await page.click('#forth');
    await isAt(`Step ${last} of ${last}`);
    assert.equal(await steps(), last);

    await page.click('nav.steps ol li:first-child a');
    await isAt(`Step 0 of ${last}`);
    assert.equal(await steps(), 0);
    assert.ok(await page.locator('#back').isDisabled());
    await picture('first-state');
});

test('the chart has a lane for each actor, the markers and the last stable offset', async () => {
    await open('/at/late/tv1/M08/S1');
    const names = await page.locator('#chart .names text').allTextContents();
    for (const lane of ['P', 'coordinator/0', 'log', 'p0', 'p1']) {
        assert.ok(names.includes(lane), `${lane} in ${names}`);
    }
    assert.ok(names.some((name) => /^last stable \d+, high watermark \d+$/.test(name)));
    assert.ok(await count('#chart .step.marker .arrow') > 0);
    assert.match((await page.locator('#chart text.stable').allTextContents()).join(), /last_stable_offset: \d+ -> \d+/);
    assert.match((await page.locator('#chart text.broken').allTextContents()).join(), /S1 is violated/);
    await page.locator('#chart [data-step="20"] .dot').click();
    await page.waitForFunction(() => document.getElementById('where').textContent.startsWith('Step 20 '));
    assert.equal(await count('#chart [data-step]'), 20);
    await picture('marker');
});

test('the state shows what the last step changed', async () => {
    await open('/explore/smoke/tv2/none/#/steps/0');
    assert.match(await text('.change'), /the run begins here/);
    assert.equal(await count('.actors .changed'), 0);
    await page.click('nav.steps ul li a');
    await isAt('Step 1 of 1');
    assert.match(await text('.change'), /P phase: Unstarted -> Initializing/);
    const changed = page.locator('.actors .changed', { hasText: 'phase' });
    assert.match(await changed.innerText(), /Unstarted\s+Initializing/);
    assert.match((await page.locator('.actors .new').allInnerTexts()).join(), /init_producer_id from=P/);
    await page.goBack();
    await isAt('Step 0 of 0');
});

test('a saved trace opens from the start page', async () => {
    await page.goto(server.url);
    await page.fill('#filter', 'S9_m10_smoke_tv2');
    await page.click('#traces tbody tr:visible a.open');
    await drawn();
    const [, at, last] = (await step()).match(/^Step (\d+) of (\d+)$/);
    assert.equal(at, last);
    assert.match(await text('.about'), /S9_m10_smoke_tv2\.trace/);
    assert.match(await text('.change'), /S9 is violated/);
});

test('a lasso shows where it repeats', async () => {
    await open('/trace/counterexample/L4_m08_timer_tv2_lasso.trace');
    const [, at, last] = (await step()).match(/^Step (\d+) of (\d+)$/);
    assert.equal(at, last);
    const again = (await text('.again')).match(/again that after step (\d+): steps (\d+) to (\d+) repeat for ever$/);
    assert.ok(again, await text('.again'));
    const [from, first, end] = again.slice(1).map(Number);
    assert.deepEqual([first, end], [from + 1, Number(last)]);
    const marked = (selector) => page.locator(selector).evaluateAll(
        (all) => all.map((each) => each.classList.contains('repeats')));
    const expected = Array.from({ length: end + 1 }, (_, i) => i > from);
    assert.deepEqual(await marked('nav.steps ol li a'), expected);
    assert.deepEqual(await marked('#chart [data-step]'), expected.slice(1));
    await page.waitForFunction(() => {
        const line = document.querySelector('.again').getBoundingClientRect();
        return line.bottom <= window.innerHeight && line.top >= 0;
    });
    await picture('lasso');

    // What comes again is what was there, whatever the last step changed.
    const facts = () => page.locator('.actors dl > div:not(.gone)').evaluateAll((all) => all.map(
        (fact) => `${fact.querySelector('dt').textContent} = ${fact.querySelector('dd span').textContent}`));
    const atTheEnd = await facts();
    assert.ok(atTheEnd.length > 10);
    await page.click('.again a');
    await isAt(`Step ${from} of ${last}`);
    assert.deepEqual(await facts(), atTheEnd);
    assert.ok(await page.locator('.again').isVisible());

    // Another run than the trace's is no lasso.
    await page.click('nav.steps ol li:first-child a');
    await isAt(`Step 0 of ${last}`);
    await page.click('nav.steps ul li:first-child a');
    await isAt('Step 1 of 1');
    assert.ok(!await page.locator('.again').isVisible());
    assert.equal(await count('nav.steps .repeats'), 0);
});

test('a lasso that stays where it is says so', async () => {
    await open('/trace/counterexample/L1_m02_smoke_tv2_lasso.trace');
    const [, , last] = (await step()).match(/^Step (\d+) of (\d+)$/);
    assert.equal(await text('.again'), `↻ It stays as after step ${last}, for ever`);
    assert.equal(await count('nav.steps .repeats'), 0);
});

test('a bookmark outlives the process', async () => {
    await open('/at/late/tv1/M08/S1');
    await page.locator('nav.steps ol li').nth(12).locator('a').click();
    await page.waitForFunction(() => document.getElementById('where').textContent.startsWith('Step 12 '));
    const bookmark = page.url();
    const seen = [await step(), await text('nav.steps [aria-current]'), await text('.state')];
    await stop();
    server = await start(server.address);
    await page.goto('about:blank');
    await page.goto(bookmark);
    await drawn();
    assert.deepEqual([await step(), await text('nav.steps [aria-current]'), await text('.state')], seen);
});

test('an address of a step that there is not says so', async () => {
    await page.goto(new URL('/explore/smoke/tv2/none/#/steps/0/7', server.url).href);
    await page.waitForSelector('#problem:visible');
    assert.match(await text('#problem'), /a step that the model does not have/);
    wrong = wrong.filter((message) => !message.includes("reading 'fetchNextSteps'"));
});

test('it is readable in the dark', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await open('/at/late/tv1/M08/S1');
    const ground = (selector, property) => page.locator(selector).first().evaluate(
        (element, name) => getComputedStyle(element)[name], property);
    assert.equal(await ground('#chart .ground', 'fill'), await ground('.chart', 'backgroundColor'));
    assert.notEqual(await ground('#chart .names text', 'fill'), await ground('.chart', 'backgroundColor'));
    await picture('dark');
});
