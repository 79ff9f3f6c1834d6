import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { messageOf, ok, problem, warning, type Finding } from './finding.js';
import type { Config } from '../../config/config.js';

type Folders = {
  config: Config;
  /** Free space of a disk below which there is a warning. */
  lowDiskBytes: number;
  /** Whether the process runs jobs, which write mail. */
  runsJobs?: boolean;
};

/** Examines the folders that the service writes to. */
export async function checkFolders({ config, lowDiskBytes, runsJobs = true }: Folders): Promise<Finding[]> {
  const folders = {
    'The temporary folder (TMPDIR), for uploads,': tmpdir(),
    ...(config.embeddedPostgres ? { 'DATA_DIR, for the embedded database,': config.dataDir } : {}),
    ...(runsJobs && !config.mail.ses ? { 'MAIL_OUTBOX, for mail without SES,': config.mail.outbox } : {}),
  };
  return Promise.all(
    Object.entries(folders).map(([name, folder]) => checkFolder(name, resolve(folder), lowDiskBytes)),
  );
}

async function checkFolder(name: string, folder: string, lowBytes: number): Promise<Finding> {
  try {
    const existing = await firstExisting(folder);
    if (!(await stat(existing)).isDirectory()) throw new Error(`${existing} is a file.`);
    await access(existing, constants.W_OK);
    const { bavail, bsize } = await statfs(existing);
    const freeMb = Math.floor((bavail * bsize) / 1_000_000);
    if (bavail * bsize >= lowBytes) return ok(`${name} is writable and has ${freeMb} MB free.`);
    return warning(
      `${name} has only ${freeMb} MB free.`,
      `Free space on the disk of ${existing}, or enlarge it.`,
    );
  } catch (error) {
    const remedy = 'Set another folder, or allow the account of the service to write to it.';
    return problem(`${name} cannot be used: ${messageOf(error)}`, remedy);
  }
}

/** The service creates missing folders, so the first parent that exists counts. */
async function firstExisting(folder: string): Promise<string> {
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : firstExisting(dirname(folder));
}
