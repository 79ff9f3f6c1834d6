import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../fixtures/demo/seed.js';
import {
  chromiumPath,
  logIn,
  makeProfile,
  outcomeOf,
  QUIET,
  scan,
  startKillable,
  type,
  type Killable,
} from '../support/console/browser.js';
import { rounds } from '../support/harness/effort.js';
import { titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

const runs = chromiumPath ? test : test.skip;
const KILLS = rounds(2, 100);
const LIMIT_MS = 60_000 + KILLS * 20_000;
/** A scan takes some tenths of a second from its first key to the answer, so that kills hit each of its steps. */
const LONGEST_LIFE_MS = 2_500;
const PATIENCE_MS = 10_000;

let service: Service;

beforeAll(async () => {
  if (chromiumPath) service = await startService();
}, LIMIT_MS);

afterAll(async () => {
  if (chromiumPath) await service.stop();
});

async function open(profile: string): Promise<Killable> {
  const browser = await startKillable(profile, service.url, QUIET);
  await logIn(browser.page, 'warehouse', DEMO.password);
  await browser.page.locator('.workplace').waitFor();
  return browser;
}

runs(
  titleWith('a browser that is killed at random loses no scan that it called saved, and sends none twice', [
    chromiumPath ? undefined : 'chromium',
  ]),
  async () => {
    const profile = makeProfile();
    const saved: string[] = [];
    let count = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const browser = await open(profile.folder);
      // Every other browser lives until its first scan is saved, so that slow machines save some.
      let begin: () => void = () => undefined;
      const begun = kill % 2 === 0 ? new Promise<void>((resolve) => (begin = resolve)) : Promise.resolve();
      const death = begun.then(() => sleep(Math.random() * LONGEST_LIFE_MS)).then(() => browser.kill());
      // Every call to a killed browser fails, which ends the shift.
      await work(browser, begin).catch(() => undefined);
      begin();
      await death;
    }
    const last = await open(profile.folder);
    await last.page.getByTestId('queue').filter({ hasText: 'Sent' }).waitFor();
    await last.kill();
    profile.remove();

    const { rows } = await service.owner.query<{ number: string; packages: number }>(
      `select p.tracking_number as number, count(*)::int as packages from packages p
       where p.tracking_number like 'KILL%' group by 1`,
    );
    const received = new Map(rows.map(({ number, packages }) => [number, packages]));
    expect(saved.filter((code) => !received.has(code))).toEqual([]);
    expect([...received.values()].filter((packages) => packages !== 1)).toEqual([]);
    expect(saved.length).toBeGreaterThan(0);

    /** Receives parcels until the browser is killed. */
    async function work({ page }: Killable, onSaved: () => void): Promise<void> {
      for (;;) {
        const code = `KILL${String((count += 1)).padStart(6, '0')}`;
        await scan(page, code);
        await page.getByLabel('Weight (lb)').waitFor({ timeout: PATIENCE_MS });
        await type(page, '2');
        await page.keyboard.press('Enter');
        const word = outcomeOf(page).filter({ hasText: /^(SAVED|RECEIVED|NO OWNER)$/ });
        await word.waitFor({ timeout: PATIENCE_MS });
        // NO OWNER may also precede the weight. Then the field is still there.
        await page.getByLabel('Weight (lb)').waitFor({ state: 'detached', timeout: PATIENCE_MS });
        saved.push(code);
        onSaved();
      }
    }
  },
  LIMIT_MS,
);
