// The files that scripts/generate.mjs reads. generated/inputs.sha256 contains the hash from which generated/ was made.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const INPUTS = [
  'openapi',
  'docs/site',
  'prisma/schema.prisma',
  'prisma.config.ts',
  'redocly.yaml',
  'CHANGELOG.md',
  'sdk/retries.yaml',
];
const PROGRAMS = ['scripts/contract', 'package-lock.json'];
/** The contracts of earlier releases, with which the gate compares. */
const EXCLUDED = 'openapi/released';

export function inputsHash(root) {
  const hash = createHash('sha256');
  for (const path of inputsIn(root).sort()) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

function inputsIn(root) {
  const scripts = readdirSync(join(root, 'scripts')).filter((name) => name.endsWith('.mjs'));
  const languages = existsSync(join(root, 'sdk')) ? readdirSync(join(root, 'sdk')) : [];
  return [
    ...INPUTS,
    ...PROGRAMS,
    ...scripts.map((name) => `scripts/${name}`),
    ...languages.map((name) => `sdk/${name}/README.md`),
  ].flatMap((path) => filesIn(root, path));
}

function filesIn(root, path) {
  if (path === EXCLUDED || !existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesIn(root, `${path}/${name}`));
}
