import { setTimeout as pause } from 'node:timers/promises';
import { waitBeforeRetry } from './backoff.js';
import type { Entry, Job, Journal, Outcome } from './journal.js';
import type { Log } from './log.js';
import { PrinterAwayError, type Prepared, type Printer } from './printer.js';
import { NotOursError, type Service } from './service.js';

export type Bridge = {
  service: Service;
  printer: Printer;
  journal: Journal;
  station: string;
  pollMs: number;
  log: Log;
  /** Aborted to end the bridge after the current label. */
  stop: AbortSignal;
};

/** Renews the service's lease of 60 seconds while a label is sent. */
const RENEW_MS = 20_000;

/** Prints the labels of a station until it is stopped. Each label is printed at most once (decision 0063). */
export async function runBridge(bridge: Bridge): Promise<void> {
  const { stop } = bridge;
  try {
    for (const entry of await bridge.journal.read()) await recover(bridge, entry);
    while (!stop.aborted) {
      const job = await claimNext(bridge);
      if (job) await printLabel(bridge, job);
      else await pause(bridge.pollMs, undefined, { signal: stop });
    }
  } catch (error) {
    // Every wait ends when the bridge is stopped. The journal has what is not reported yet.
    if (!stop.aborted || !isAbort(error)) throw error;
  }
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError';

async function claimNext({ service, station, stop }: Bridge): Promise<Job | undefined> {
  const { claim_id, jobs } = await service.call('claimLabelJobs', { station, max_jobs: 1 }, stop);
  const [job] = jobs;
  return job && { ...job, claim_id };
}

/** Continues with a job that an earlier process left in the journal. */
async function recover(bridge: Bridge, { job, progress }: Entry): Promise<void> {
  const { printer, log } = bridge;
  log(`The bridge ended before the label ${job.house_number} had ended. It continues with it.`);
  if (progress === 'claimed') return printLabel(bridge, job);
  if (progress !== 'begun') return settle(bridge, job, progress);
  if (!(await mayPrint(bridge, job))) {
    await printer.discard(job);
    return drop(bridge, job);
  }
  return settle(bridge, job, await printer.recover(job));
}

async function printLabel(bridge: Bridge, job: Job): Promise<void> {
  const { journal, log } = bridge;
  await journal.note(job, 'claimed');
  const prepared = await prepareLabel(bridge, job);
  if (!prepared) return drop(bridge, job);
  // On the disk before the first byte goes to the printer.
  await journal.note(job, 'begun');
  log(`The label ${job.house_number} is sent to the printer.`);
  await settle(bridge, job, await whileRenewing(bridge, job, () => prepared.print()));
}

/** Returns when the printer is ready and the service allows the label. Returns undefined if it does not. */
async function prepareLabel(bridge: Bridge, job: Job): Promise<Prepared | undefined> {
  for (;;) {
    const prepared = await openPrinter(bridge, job);
    try {
      if (!(await mayPrint(bridge, job))) {
        await prepared.cancel();
        return undefined;
      }
    } catch (error) {
      await prepared.cancel();
      throw error;
    }
    // The service may have been away for so long that the printer closed the connection.
    if (prepared.isReady()) return prepared;
    await prepared.cancel();
  }
}

async function openPrinter({ printer, log, stop }: Bridge, job: Job): Promise<Prepared> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const prepared = await printer.open(job);
      if (attempt > 0) log(`${capitalized(printer.name)} is back.`);
      return prepared;
    } catch (error) {
      if (!(error instanceof PrinterAwayError)) throw error;
      if (attempt === 0)
        log(`${capitalized(printer.name)} takes no labels; the bridge tries again: ${error.message}`);
      await waitBeforeRetry(attempt, stop);
    }
  }
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Reports that the label is about to be sent. Only if the service accepts that, it may be sent. */
async function mayPrint({ service, stop }: Bridge, { job_id, claim_id }: Job): Promise<boolean> {
  try {
    await service.call('reportLabelJob', { job_id, claim_id, status: 'sending' }, stop);
    return true;
  } catch (error) {
    if (error instanceof NotOursError) return false;
    throw error;
  }
}

async function whileRenewing<Result>(bridge: Bridge, job: Job, work: () => Promise<Result>): Promise<Result> {
  // A renewal that fails changes nothing: the outcome is reported in any case.
  const timer = setInterval(() => void mayPrint(bridge, job).catch(() => undefined), RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Reports the outcome. It stays in the journal until the service has stored it. */
async function settle({ service, journal, log, stop }: Bridge, job: Job, outcome: Outcome): Promise<void> {
  await journal.note(job, outcome);
  log(`The label ${job.house_number} is ${outcome.status}.${outcome.reason ? ` ${outcome.reason}` : ''}`);
  try {
    await service.call('reportLabelJob', { job_id: job.job_id, claim_id: job.claim_id, ...outcome }, stop);
  } catch (error) {
    if (!(error instanceof NotOursError)) throw error;
    log(`The service did not need the report on the label ${job.house_number}: ${error.message}`);
  }
  await journal.forget(job);
}

async function drop({ journal, log }: Bridge, job: Job): Promise<void> {
  log(`The label ${job.house_number} is not printed here: it has expired, or another bridge has it.`);
  await journal.forget(job);
}
