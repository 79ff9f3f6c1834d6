import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { BodyOf } from '../src/platform/contract/types.js';
import { removeDurably, renameDurably, writeDurably } from './durable-files.js';

export type Job = { job_id: string; claim_id: string; house_number: string; copies: number; zpl: string };

/** What is reported when a label has ended. */
export type Outcome = Pick<BodyOf<'reportLabelJob'>, 'reason'> & {
  status: 'printed' | 'failed' | 'unconfirmed';
};

/**
 * How far a job has come. `claimed`: nothing has been sent. `begun`: it may have been sent. An outcome: it has ended, and the
 * service may not know it yet.
 */
type Progress = 'claimed' | 'begun' | Outcome;

export type Entry = { job: Job; progress: Progress };

export type Journal = {
  /** Returns what an earlier process left behind. */
  read(): Promise<Entry[]>;
  /** Resolves when the entry is on the disk. It replaces the previous one of the job. */
  note(job: Job, progress: Progress): Promise<void>;
  forget(job: Job): Promise<void>;
  close(): void;
};

const ENDING = '.json';

/**
 * Opens the journal in a folder: one small file per job.
 *
 * @throws Error if another process uses it
 */
export async function openJournal(folder: string): Promise<Journal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(folder);
  const pathOf = ({ job_id }: Job) => join(folder, `${job_id}${ENDING}`);
  return {
    async read() {
      const names = (await readdir(folder)).filter((name) => name.endsWith(ENDING)).sort();
      return Promise.all(names.map((name) => readEntry(join(folder, name))));
    },
    async note(job, progress) {
      const partial = `${pathOf(job)}.partial`;
      await writeDurably(partial, JSON.stringify({ job, progress }));
      await renameDurably(partial, pathOf(job));
    },
    forget: (job) => removeDurably(pathOf(job)),
    close: () => lock.close(),
  };
}

async function readEntry(path: string): Promise<Entry> {
  try {
    // Only `note` writes these files.
    return JSON.parse(await readFile(path, 'utf8')) as Entry;
  } catch {
    throw new Error(`${path} is damaged. Check whether its label was printed, then delete the file.`);
  }
}

/**
 * Locks the folder while the process lives. The operating system removes the name of the socket with the process, unlike a lock
 * file. It is not reachable from the network.
 */
async function lockFolder(folder: string) {
  const name = `crossdock-print-bridge-${createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')}`;
  const server = createServer();
  server.listen(process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : `\0${name}`);
  try {
    await once(server, 'listening');
  } catch {
    throw new Error(
      `Another print bridge uses the journal in ${folder}. Stop it, or set JOURNAL_DIR to another folder.`,
    );
  }
  return server.unref();
}
