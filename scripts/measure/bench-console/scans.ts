import { withClient } from '../../../src/platform/db/connections/roles.js';
import type { BenchDatabase } from '../rig/tenants.js';
import type { Times } from './report.js';
import type { Station } from './station.js';

/** What a scan must lead to on the screen: a word of the banner, or a row of the table. */
const WORD = (words: string) => `/^(${words})$/.test(document.querySelector('.outcome-word')?.textContent)`;
const ROW = (number: string) =>
  `[...document.querySelectorAll('#content tbody tr')].some((row) => row.textContent.includes('${number}'))`;

/** Scans pre-alerts and packages of the large tenant, chosen at random, as a person at a station does. */
export async function measureScans(
  station: Station,
  database: BenchDatabase,
  count: number,
): Promise<Times[]> {
  const announced = await numbersOf(database, 'prealerts', "and status = 'pending'", count);
  const known = await numbersOf(database, 'packages', '', count);
  const scanned: number[] = [];
  const received: number[] = [];
  await station.open('receive');
  for (const number of announced) {
    scanned.push(await station.scan(number, WORD('WEIGH')));
    received.push(await station.typeAndEnter('2.5', WORD('RECEIVED')));
  }
  await station.open('find');
  const found: number[] = [];
  for (const number of known) found.push(await station.scan(number, ROW(number)));
  return [
    { name: 'Receive: last key of the scan to WEIGH', timesMs: scanned },
    { name: 'Receive: Enter after the weight to RECEIVED', timesMs: received },
    { name: 'Find: last key of the scan to the package', timesMs: found },
  ];
}

/** Numbers from the whole table, because old pages are not in memory. */
async function numbersOf(
  { ownerUrl, large }: BenchDatabase,
  table: 'prealerts' | 'packages',
  condition: string,
  count: number,
): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ number: string }>(
      `select tracking_number as number from ${table} where tenant_id = $1 ${condition} order by random() limit $2`,
      [large.id, count],
    );
    return rows.map(({ number }) => number);
  });
}
