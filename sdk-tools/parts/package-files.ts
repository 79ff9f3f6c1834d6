import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { changesFor } from '../../scripts/contract/site/changelog.js';
import { readContract } from '../contract.js';

/**
 * Writes the files that every package needs into the folder of an SDK: the licence, and the changelog for integrators. Both follow from
 * those of the project.
 */
export async function writePackageFiles(folder: string): Promise<void> {
  const { version } = (await readContract()).info;
  const text = await readFile(join(projectRoot, 'CHANGELOG.md'), 'utf8');
  const changes = changesFor(text, version, 'integrators');
  await copyFile(join(projectRoot, 'LICENSE'), join(folder, 'LICENSE'));
  await writeFile(join(folder, 'CHANGELOG.md'), `${HEAD}\n\n${changes}\n`);
}

const HEAD = `# Changelog

Changes of the API and of its client libraries. Links that begin with \`/docs\` are pages of your instance.`;
