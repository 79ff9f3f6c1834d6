import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeNames } from '../rig/names.js';
import { send, type Call } from './client.js';
import type { PressureTenant } from './database.js';
import type { BulkKind, Scale } from './scale.js';

/** Bulk work, repeated one after another until the end of the run. Times are in milliseconds. */
export type BulkResult = { name: string; tookMs: number[]; failures: string[] };

type BulkWork = { kind: BulkKind; name: string; run(round: number): Promise<void> };

const EXPORT_PAGE = 10_000;
/** Rounds with customers of their own. Later rounds change these, so that the table does not grow without a limit. */
const NEW_ROUNDS = 2;

type BulkInput = { port: number; tenant: PressureTenant; token: string };

/** Runs every kind of bulk work again and again, all kinds at the same time. The last ones may end after `seconds`. */
export async function runBulk(input: BulkInput, scale: Scale, seconds: number): Promise<BulkResult[]> {
  const endMs = performance.now() + seconds * 1_000;
  const works = listWork(input, scale).filter(({ kind }) => scale.bulk.includes(kind));
  return Promise.all(works.map((work) => repeat(work, endMs, scale.pauseSeconds * 1_000)));
}

async function repeat({ name, run }: BulkWork, endMs: number, pauseMs: number): Promise<BulkResult> {
  const result: BulkResult = { name, tookMs: [], failures: [] };
  for (let round = 0; performance.now() < endMs; round += 1) {
    const startedMs = performance.now();
    try {
      await run(round);
      result.tookMs.push(performance.now() - startedMs);
    } catch (error) {
      result.failures.push(error instanceof Error ? error.message : String(error));
      if (result.failures.length === 10) break;
    }
    await sleep(Math.min(pauseMs, Math.max(0, endMs - performance.now())));
  }
  return result;
}

function listWork({ port, tenant, token }: BulkInput, { exported, uploaded }: Scale): BulkWork[] {
  const agent = new Agent({ keepAlive: true });
  const headers = { host: tenant.host, authorization: `Bearer ${token}` };
  const succeed = async (call: Call) => {
    const { status, code } = await send(port, agent, call);
    if (status < 200 || status > 299) throw new Error(`${status} ${code}`);
  };
  const exportAs = (format: 'csv' | 'xlsx'): BulkWork => ({
    kind: format,
    name: `export ${exported} rows, ${format}`,
    async run() {
      for (let page = 1; page * EXPORT_PAGE < exported + EXPORT_PAGE; page += 1) {
        const body = { export: true, export_format: format, page, limit: Math.min(exported, EXPORT_PAGE) };
        await succeed({
          method: 'POST',
          path: '/api/RetrievePackages.php',
          headers,
          body: JSON.stringify(body),
        });
      }
    },
  });
  const day = (age: number) => new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 10);
  const reconciliation = `/api/BillingReconciliation.php?from=${day(364)}&to=${day(0)}`;
  return [
    exportAs('csv'),
    exportAs('xlsx'),
    {
      kind: 'upload',
      name: `upload ${uploaded} customers`,
      run: (round) => succeed(uploadOf(tenant, headers, customersFile(uploaded, round))),
    },
    {
      kind: 'reconciliation',
      name: 'reconciliation of the tenant',
      run: () => succeed({ method: 'GET', path: reconciliation, headers }),
    },
  ];
}

function customersFile(count: number, round: number): string {
  const rows = makeNames(count, round + 5).map(
    ({ first, last }, n) => `UP${round % NEW_ROUNDS}-${n},${first},${last},Kingston`,
  );
  return `user_code,first_name,last_name,branch\n${rows.join('\n')}\n`;
}

/** Returns the upload of a file for the first courier. */
function uploadOf({ courierIds }: PressureTenant, headers: Record<string, string>, csv: string): Call {
  const boundary = 'crossdock-pressure';
  const part = (head: string, content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const file = part('name="file"; filename="customers.csv"', csv);
  const courier = part('name="target_courier_id"', courierIds[0] ?? '');
  const body = Buffer.from(`${courier}${file}--${boundary}--\r\n`);
  const entity = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(body.length),
  };
  return { method: 'POST', path: '/api/UploadCustomers.php', headers: { ...headers, ...entity }, body };
}
