import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { projectRoot } from '../../src/config/project-root.js';
import { insertBill } from '../support/builders/bills.js';
import { clone, freshNumber } from '../support/builders/couriers.js';
import { startService, type Service } from '../support/service/service.js';

type Zone = { zone: string; midnight: string; days: string[] };

// The local time at midnight UTC on 1 July, and two days with clock changes: one has 23 hours in that zone
// and one 25, or half an hour less and more. Kiritimati, 14 hours ahead, has no clock changes.
const ZONES: Zone[] = [
  { zone: 'America/New_York', midnight: 'Tue Jun 30 2026 20:00', days: ['2026-03-08', '2026-11-01'] },
  { zone: 'America/St_Johns', midnight: 'Tue Jun 30 2026 21:30', days: ['2026-03-08', '2026-11-01'] },
  { zone: 'Europe/London', midnight: 'Wed Jul 01 2026 01:00', days: ['2026-03-29', '2026-10-25'] },
  { zone: 'Australia/Lord_Howe', midnight: 'Wed Jul 01 2026 10:30', days: ['2026-04-05', '2026-10-04'] },
  { zone: 'Pacific/Kiritimati', midnight: 'Wed Jul 01 2026 14:00', days: ['2026-03-08', '2026-11-01'] },
];
const DAYS = [...new Set(ZONES.flatMap(({ days }) => days))];
const EDGES = [-1, 0, 86_399_999, 86_400_000];

let service: Service;
let courierId: string;
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  service = await startService();
  courierId = randomUUID();
  await service.owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $3)', [
    ...[DEMO.tenants.demo, courierId, 'ZONE'],
  ]);
  const DATABASE_URL = String(service.owner.options.connectionString);
  child = fork(join(projectRoot, 'test/support/service/zoned-service.mjs'), {
    env: { PATH: process.env['PATH'], DATABASE_URL },
    execArgv: [],
  });
  const [[address]] = await Promise.all([once(child, 'message'), ...DAYS.map(insertDay)]);
  url = String(address);
}, 60_000);

afterAll(async () => {
  child.disconnect();
  await once(child, 'exit');
  await service.stop();
}, 60_000);

/**
 * Inserts a package and a bill at each boundary of the day: its first and last moment, and the moments just
 * outside.
 */
async function insertDay(day: string): Promise<void> {
  for (const [index, offset] of EDGES.entries()) {
    const moment = new Date(Date.parse(`${day}T00:00:00Z`) + offset).toISOString();
    const number = freshNumber();
    await clone(service.owner, 'packages', DEMO.packages.available.IEX[0] ?? '', {
      ...{ courier_id: courierId, received_at: moment, weight_lb: index + 1, prealert_id: null },
      ...{ tracking_number: number, tracking_key: number, house_number: number },
    });
    const bill = { courierId, start: day, end: day, amount: `${index + 1}.00`, publishedAt: moment };
    await insertBill(service.owner, bill);
  }
}

type Weighed = { weight: number; entry_date_time: string; received_at: string };

test.each(ZONES)(
  'a process in $zone uses whole UTC days, both ends inclusive, when its clocks change',
  async ({ zone, midnight, days }) => {
    child.send(zone);
    expect(await once(child, 'message')).toEqual([midnight]);
    const authorization = `Bearer ${await service.tokenOf('admin')}`;
    const ask = async (path: string, body?: object) => {
      const reply = await fetch(`${url}/api/${path}`, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      });
      // The contract's own tests validate these response shapes.
      return (await reply.json()) as { data: never };
    };
    const weights = (packages: Weighed[]) => packages.map(({ weight }) => weight).sort();
    for (const day of days) {
      const period = `courier_id=${courierId}&from=${day}&to=${day}`;
      const listed: { data: Weighed[] } = await ask('RetrievePackages.php', {
        ...{ courierID: courierId, entryDateFloor: day, entryDateCeiling: day },
      });
      expect(weights(listed.data)).toEqual([2, 3]);
      expect(listed.data.map((each) => each.entry_date_time).sort()).toEqual([
        ...[`${day} 00:00:00`, `${day} 23:59:59`],
      ]);
      const preview: { data: { packages: Weighed[] } } = await ask('GenerateCourierInvoice.php', {
        ...{ courier_id: courierId, start_date: day, end_date: day },
      });
      expect(weights(preview.data.packages)).toEqual([2, 3]);
      const reconciled: { data: { exceptions: Weighed[] } } = await ask(
        `BillingReconciliation.php?${period}`,
      );
      expect(weights(reconciled.data.exceptions)).toEqual([2, 3]);
      const account: { data: { movements: { amount: number; date: string }[] } } = await ask(
        `CourierStatement.php?${period}`,
      );
      expect(account.data.movements.map(({ amount, date }) => [amount, date])).toEqual([
        [2, day],
        [3, day],
      ]);
      const bills: { data: { start_date: string }[] } = await ask(`LoadCourierBills.php?${period}`);
      expect(bills.data.map((each) => each.start_date)).toEqual([day, day, day, day]);
    }
  },
  60_000,
);
