import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runTool } from './document/bundle.js';

/** Generates the client unless the data model, the generator and the client are as recorded, because that takes 3 seconds of CPU time. */
export async function generatePrismaClient(root: string): Promise<void> {
  const client = join(root, 'generated', 'prisma');
  const made = join(root, 'generated', 'prisma.sha256');
  if (existsSync(made) && (await readFile(made, 'utf8')) === (await hashOfClient(root))) return;
  await rm(made, { force: true });
  await rm(client, { recursive: true, force: true });
  // `prisma generate` requires a schema engine but does not run it. Naming any file avoids the download.
  await runTool(root, 'prisma', ['generate', '--no-hints'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  });
  await writeFile(made, await hashOfClient(root));
}

/** Returns a hash of the generated client and of what it is made from. */
async function hashOfClient(root: string): Promise<string> {
  // npm requires this field.
  const { version } = createRequire(import.meta.url)('prisma/package.json') as { version: string };
  const hash = createHash('sha256').update(version);
  const client = join(root, 'generated', 'prisma');
  const names = existsSync(client) ? await readdir(client, { recursive: true }) : [];
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => name.replaceAll('\\', '/'));
  const sources = ['prisma/schema.prisma', 'prisma.config.ts', 'scripts/contract/prisma-client.ts'];
  const paths = [
    ...sources.map((name) => join(root, name)),
    ...files.sort().map((name) => join(client, name)),
  ];
  for (const path of paths) hash.update(await readFile(path));
  return `${hash.update(files.join()).digest('hex')}\n`;
}
