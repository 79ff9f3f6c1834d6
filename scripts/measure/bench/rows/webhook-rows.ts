import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { withClient } from '../../../../src/platform/db/connections/roles.js';
import type { BenchTenant } from '../../rig/tenants.js';
import type { CpuTime } from '../../rig/cpu.js';
import { cpuSince, medianCpu, type Bench, type Row } from '../measure.js';
import { median } from '../../rig/statistics.js';

/** Far more than the slowest machine needed. Without the limit a lost delivery would hang the run. */
const DELIVERY_LIMIT_MS = 60_000;
/** The maximum concurrency of deliveries to the ten couriers of a bench tenant. */
const CONNECTIONS = 160;

/** Webhooks of ten couriers to a receiver on loopback, compared with the HTTP client alone and the same receiver. */
export async function deliverRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const receiver = new Worker(new URL('../programs/webhook-receiver.js', import.meta.url));
  try {
    // The receiver's first message is its port.
    const [port] = (await once(receiver, 'message')) as [number];
    const url = `http://127.0.0.1:${port}/webhooks`;
    await withClient(bench.ownerUrl, (client) =>
      client.query('update couriers set api_url_update_package = $2 where tenant_id = $1', [tenant.id, url]),
    );
    const { delivered } = bench.scale;
    const posted: number[] = [];
    const rounds: { rate: number; cpu: CpuTime | undefined }[] = [];
    for (let round = 0; round < bench.scale.rounds; round += 1) {
      posted.push(await postedPerSecond(url, delivered));
      rounds.push(await deliverRound(bench, tenant.id, receiver));
    }
    return {
      name: 'deliver webhooks',
      measured: median(rounds.map(({ rate }) => rate)),
      unit: '/s',
      cpu: medianCpu(rounds.map(({ cpu }) => cpu)),
      against: { what: 'undici alone, the same receiver', measured: median(posted) },
      bare: 'bareInsertMs',
    };
  } finally {
    await receiver.terminate();
  }
}

/** Returns the deliveries per second and their CPU time, from the moment they are due to the arrival of the last one. */
async function deliverRound(
  { ownerUrl, meter, scale }: Bench,
  tenantId: string,
  receiver: Worker,
): Promise<{ rate: number; cpu: CpuTime | undefined }> {
  const events = scale.delivered;
  const before = await countOf(receiver);
  const { cpuBefore, startedMs } = await withClient(ownerUrl, async (client) => {
    await client.query('begin');
    await client.query(makeDue(tenantId, events));
    // The worker sees the deliveries from the commit on. What inserting them costs is not part of the figures.
    const started = { cpuBefore: meter?.(), startedMs: performance.now() };
    await client.query('commit');
    return started;
  });
  while ((await countOf(receiver)) < before + events) {
    if (performance.now() - startedMs > DELIVERY_LIMIT_MS)
      throw new Error(`Of ${events} webhooks ${(await countOf(receiver)) - before} arrived in a minute.`);
    await sleep(5);
  }
  const rate = (events * 1_000) / (performance.now() - startedMs);
  return { rate, cpu: cpuSince(meter, cpuBefore, events) };
}

async function countOf(receiver: Worker): Promise<number> {
  receiver.postMessage('how many');
  // The receiver replies with its count.
  const [count] = (await once(receiver, 'message')) as [number];
  return count;
}

async function postedPerSecond(url: string, events: number): Promise<number> {
  const dispatcher = new Agent({ connections: CONNECTIONS });
  const body = JSON.stringify({ type: 'package.updated', data: 'x'.repeat(500) });
  const headers = { 'content-type': 'application/json', 'webhook-signature': 'v1,'.padEnd(47, 'x') };
  let left = events;
  const post = async () => {
    while (left > 0) {
      left -= 1;
      await (await request(url, { method: 'POST', body, headers, dispatcher })).body.dump();
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, post));
  const rate = (events * 1_000) / (performance.now() - startedMs);
  await dispatcher.close();
  return rate;
}

/**
 * Inserts due deliveries for the given number of packages and adds their jobs, as the owner, because no
 * policy restricts it here.
 */
const makeDue = (tenantId: string, events: number) => `
  with chosen as (
    select p.id, p.courier_id, row_number() over (partition by p.courier_id order by p.id) as position
    from packages p where p.tenant_id = '${tenantId}' and p.courier_id is not null limit ${events}
  ), made as (
    insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
    select '${tenantId}', gen_random_uuid(), courier_id, position + coalesce(
      (select max(sequence) from events e where e.tenant_id = '${tenantId}' and e.courier_id = chosen.courier_id), 0),
      'package.updated', id, jsonb_build_object('package_id', id, 'description', repeat('x', 400))
    from chosen returning id, courier_id
  ), promised as (
    insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint)
    select '${tenantId}', gen_random_uuid(), id, courier_id, 'update_package' from made
  )
  select graphile_worker.add_job('deliver', json_build_object('tenantId', '${tenantId}', 'courierId', courier_id,
    'endpoint', 'update_package'), concat(courier_id, ':update_package'), job_key => concat('deliver:', courier_id, ':update_package'))
  from (select distinct courier_id from made) as delivery_queue`;
