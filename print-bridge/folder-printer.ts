import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renameDurably, writeDurably } from './durable-files.js';
import type { Job, Outcome } from './journal.js';
import { PrinterAwayError, type Printer } from './printer.js';

/**
 * Writes each label to a file of its own. The rename of the hidden file makes the label visible, exactly once: after a crash,
 * the hidden file exists if and only if the rename has not happened.
 */
export function makeFolderPrinter(folder: string): Printer {
  const hiddenPath = ({ job_id }: Job) => join(folder, `.${job_id}.partial`);
  const path = ({ house_number, job_id }: Job) =>
    join(folder, `label-${house_number.replace(/[^\w-]/g, '_')}-${job_id}.zpl`);

  async function publish(job: Job): Promise<Outcome> {
    try {
      await renameDurably(hiddenPath(job), path(job));
      return { status: 'printed' };
    } catch (error) {
      if (!existsSync(hiddenPath(job)) && existsSync(path(job))) return { status: 'printed' };
      return { status: 'failed', reason: `The file could not be written: ${messageOf(error)}` };
    }
  }

  const discard = (job: Job) => rm(hiddenPath(job), { force: true });

  return {
    name: `the folder ${folder}`,
    async open(job) {
      try {
        await writeDurably(hiddenPath(job), job.zpl);
      } catch (error) {
        throw new PrinterAwayError(messageOf(error));
      }
      return { isReady: () => true, print: () => publish(job), cancel: () => discard(job) };
    },
    recover: async (job) => (existsSync(hiddenPath(job)) ? publish(job) : { status: 'printed' }),
    discard,
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
