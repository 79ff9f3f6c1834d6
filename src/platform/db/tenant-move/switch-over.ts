import { changeState, type MovedTenant, type OwnedCell } from './cell-state.js';
import { compareRows, within, type Comparison, type RunningComparison } from './compare-rows.js';
import { close } from './fence.js';
import { addJobs, readJobs } from './jobs.js';
import { catchUp, pause, resume, skipReceived, type Link } from './replication.js';

export type SwitchOver = {
  tenant: MovedTenant;
  /** From the cell that serves the tenant to the one that will. */
  link: Link;
  /** The other way, for what is written afterwards. Undefined if nothing is replicated back. */
  reverse: Link | undefined;
  tables: string[];
  log: (line: string) => void;
};

/** The pause is at most about the sum of these. */
const CATCH_UP_MS = 2_000;
const COMPARE_MS = 1_500;

/**
 * Makes the other cell serve the tenant. Until the new cell is active, every error opens the tenant again where it was. At no
 * moment are both cells active: the old one is closed, and recorded as moved, before the new one becomes active.
 *
 * @returns how long the writes of the tenant were refused. `comparison` resolves when all rows have been compared, which takes longer than
 *   the pause if there are many
 */
export async function switchOver(switching: SwitchOver) {
  const { tenant, link, log } = switching;
  const { publisher: from, subscriber: to } = link;
  await close(from, tenant.id);
  const closedMs = performance.now();
  log(`Closed the tenant in the cell ${from.name}.`);
  const { ended } = await handOver(switching).catch(async (error: unknown) => {
    await reopen(link);
    throw error;
  });
  await changeState(from, tenant.id, ['moving', 'moved'], 'moved');
  await activate(to, from, tenant);
  const pauseSeconds = (performance.now() - closedMs) / 1000;
  log(`The cell ${to.name} serves the tenant after a pause of ${pauseSeconds.toFixed(2)} s.`);
  return { pauseSeconds, comparison: ended };
}

async function handOver({ link, reverse, tables, log }: SwitchOver): Promise<RunningComparison> {
  await catchUp(link, CATCH_UP_MS);
  const comparing = compareRows(link, tables);
  await comparing.started;
  const early = await within(comparing.ended, COMPARE_MS);
  if (early) assertEqual(early);
  else log('The comparison takes longer than the pause may. It continues while the new cell serves.');
  await pause(link);
  if (reverse) await skipReceived(reverse);
  return comparing;
}

/** @throws Error that names the tables that differ */
export function assertEqual({ differences }: Comparison): void {
  if (differences.length > 0)
    throw new Error(`These tables differ between the cells: ${differences.join(', ')}.`);
}

/** Serves the tenant again where it was. If it is recorded as moved, the next run of the command decides. */
async function reopen(link: Link): Promise<void> {
  await changeState(link.publisher, link.tenantId, ['moving'], 'active').catch(() => undefined);
  await resume(link).catch(() => undefined);
}

/** In one transaction with the jobs that the other cell has not run. */
async function activate(to: OwnedCell, from: OwnedCell, { id }: MovedTenant): Promise<void> {
  const jobs = await readJobs(from.client, id);
  await to.client.query('begin');
  try {
    await changeState(to, id, ['arriving', 'moved'], 'active');
    await addJobs(to.client, jobs);
    await to.client.query(
      `insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, after, request_id)
       values ($1, new_id(), 'system', 'tenant.moved', 'tenant', $1, $2, 'tenant:move')`,
      [id, JSON.stringify({ from: from.name, to: to.name })],
    );
    await to.client.query('commit');
  } catch (error) {
    await to.client.query('rollback');
    throw error;
  }
}
