import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../config/project-root.js';

export const MIGRATIONS = join(projectRoot, 'prisma', 'migrations');

/**
 * What a migration means for processes of the previous release: they continue (`rolling`), they continue and a worker
 * completes it later (`background`), or they must be stopped first (`stop`).
 */
export const UPGRADE_KINDS = ['rolling', 'background', 'stop'] as const;

export type Migration = Awaited<ReturnType<typeof readMigration>>;

/** The content of `background.sql` beside the script. */
export type BackgroundStatement = {
  /** Without comments. */
  text: string;
  /** The value of `-- table:`. Its size is the estimate of the rows to do. */
  table: string;
  /** The value of `-- step:`: what the worker computes for the rows that the statement selects. */
  step: string | undefined;
};

/** Whether processes of the previous release must be stopped first. A migration without a header may be anything. */
export const needsStop = ({ upgrade }: Pick<Migration, 'upgrade'>): boolean =>
  upgrade === 'stop' || upgrade === undefined;

/** Returns the migrations in `folder`, oldest first. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all((await listMigrations(folder)).map((name) => readMigration(folder, name)));
}

/** Returns the names of the migrations in `folder`, oldest first. */
export async function listMigrations(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function readMigration(folder: string, name: string) {
  const script = await readFile(join(folder, name, 'migration.sql'), 'utf8').catch((cause: unknown) => {
    throw new Error(`The migration ${name} has no readable migration.sql. Write it, or remove the folder.`, {
      cause,
    });
  });
  return {
    name,
    script,
    /** SHA-256 of the script, in hexadecimal, as Prisma stores it. */
    checksum: createHash('sha256').update(script).digest('hex'),
    /** The value of `-- upgrade:`. Undefined in the migrations of the first release, which have no header. */
    upgrade: UPGRADE_KINDS.find((kind) => kind === headersOf(script, 'upgrade')[0]),
    /** The values of `-- requires:`: background migrations that must have finished before. */
    requires: headersOf(script, 'requires'),
    /** Whether the script builds or drops indexes concurrently, which PostgreSQL refuses in a transaction. */
    isConcurrent: /^(create|drop)\b.*\bindex\s+concurrently\b/im.test(script),
    background: await readBackground(join(folder, name, 'background.sql')),
  };
}

async function readBackground(path: string): Promise<BackgroundStatement | undefined> {
  if (!existsSync(path)) return undefined;
  const text = await readFile(path, 'utf8');
  const [table] = headersOf(text, 'table');
  if (!table) throw new Error(`${path} needs a line "-- table: <name>".`);
  return { text: text.replace(/--.*/g, ''), table, step: headersOf(text, 'step')[0] };
}

/** Returns the values of the lines `-- key: value`. */
export const headersOf = (script: string, key: string): string[] =>
  [...script.matchAll(new RegExp(`^-- ${key}: *(.*?) *$`, 'gm'))].map(([, value = '']) => value);

/** Returns the statements of a script of which none contains a semicolon, without comments. */
export const statementsOf = (script: string): string[] =>
  script
    .replace(/--.*/g, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean);
