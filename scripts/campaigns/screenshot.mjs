// npm run screenshot: makes docs/images/console.png with chromium, from the demo data of a service of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { prepare, root } from '../prepare.mjs';

const PICTURE = join(root, 'docs', 'images', 'console.png');
const LARGEST = 200_000;
const PATH = process.env.CHROMIUM ?? '/usr/bin/chromium';

parseArgs({ options: {} });
prepare();
const folder = mkdtempSync(join(tmpdir(), 'crossdock-screenshot-'));
const service = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
  env: { ...process.env, PORT: '0', DATA_DIR: folder },
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  const { console: address, number } = await welcomeOf(service);
  await takePicture(address, number);
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
const { size } = statSync(PICTURE);
process.stdout.write(`docs/images/console.png has ${size} bytes.\n`);
if (size > LARGEST) throw new Error(`The picture may have at most ${LARGEST} bytes.`);

/** Returns what the service prints when it is ready: the address of the console and the number of a parcel. */
async function welcomeOf({ stderr }) {
  let address;
  for await (const line of createInterface(stderr)) {
    address ??= /Console\s+(\S+)/.exec(line)?.[1];
    const [, number] = /a parcel to receive: (\w+)/.exec(line) ?? [];
    if (address && number) return { console: address, number };
  }
  throw new Error('The service has ended.');
}

async function takePicture(address, number) {
  const browser = await chromium.launch({ executablePath: PATH, args: ['--no-sandbox'] });
  const page = await browser.newPage({
    viewport: { width: 1120, height: 620 },
    locale: 'en-US',
    reducedMotion: 'reduce',
  });
  await page.goto(address);
  await page.getByLabel('User name').fill('warehouse');
  await page.getByLabel('Password').fill('crossdock-demo');
  await page.keyboard.press('Enter');
  await page.getByLabel('Number').fill(number);
  await page.keyboard.press('Enter');
  await page.getByText('WEIGH', { exact: true }).waitFor();
  await page.getByLabel('Weight (lb)').fill('3.25');
  mkdirSync(join(root, 'docs', 'images'), { recursive: true });
  await page.screenshot({ path: PICTURE });
  await browser.close();
}
