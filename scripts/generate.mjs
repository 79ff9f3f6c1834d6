// npm run generate: compiles scripts/contract/ and runs it. It runs before the build, and Node 20 runs no TypeScript. esbuild is
// installed for the build already, and bundles these files in 0.1 s.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';

// It has no arguments: a misspelt one would be ignored.
parseArgs({ options: {} });
const root = join(import.meta.dirname, '..');
const compiled = join(root, 'node_modules', '.cache', 'generate-contract.mjs');

buildSync({
  absWorkingDir: root,
  entryPoints: ['scripts/contract/generate.ts'],
  outfile: compiled,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
});
const { generate } = await import(pathToFileURL(compiled).href);
await generate(root);
