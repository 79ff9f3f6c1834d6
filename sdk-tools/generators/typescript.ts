import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import {
  OPENAPI_GENERATOR_VERSION,
  openapiGeneratorTools,
  runOpenapiGenerator,
} from '../openapi-generator.js';
import { runTool } from '../tool.js';
import type { Generator } from './generator.js';

const node = process.execPath;
const modules = join(projectRoot, 'node_modules');
const require = createRequire(import.meta.url);

// The package's manifest has this field.
const versionOf = (name: string) =>
  (require(join(modules, name, 'package.json')) as { version: string }).version;

/** Checks the types, and bundles: the generated files import each other without an extension, which Node rejects. */
async function compile(folder: string): Promise<void> {
  await runTool({ program: node, args: [join(modules, 'typescript/bin/tsc'), '-p', '.'], folder });
  const bundle = ['scenario.ts', '--bundle', '--platform=node', '--format=esm', '--outfile=scenario.mjs'];
  await runTool({ program: node, args: [join(modules, 'esbuild/bin/esbuild'), ...bundle], folder });
}

const typescript = {
  // The compiler and the bundler are dependencies of this project.
  toolchain: async () => ({ found: `node ${process.version}` }),
  compile,
  scenario: (folder: string) => ({ program: node, args: ['scenario.mjs'], folder }),
};

export const heyApi: Generator = {
  ...typescript,
  name: 'hey-api',
  title: 'hey-api',
  version: versionOf('@hey-api/openapi-ts'),
  // The generator accepts any compiler as its peer, and fails with version 7.
  command: `npx -y -p typescript@${versionOf('typescript')} -p @hey-api/openapi-ts@${versionOf('@hey-api/openapi-ts')} openapi-ts -i openapi.json -o client`,
  async generate(folder) {
    const program = join(modules, '@hey-api/openapi-ts/bin/run.js');
    await runTool({ program: node, args: [program, '-i', 'openapi.json', '-o', 'client'], folder });
  },
};

export const openapiFetch: Generator = {
  ...typescript,
  name: 'openapi-fetch',
  title: 'openapi-fetch',
  version: `${versionOf('openapi-fetch')}, openapi-typescript ${versionOf('openapi-typescript')}`,
  command: `npx -y -p openapi-typescript@${versionOf('openapi-typescript')} openapi-typescript openapi.json --default-non-nullable=false -o schema.d.ts`,
  async generate(folder) {
    const program = join(modules, 'openapi-typescript/bin/cli.js');
    const args = [program, 'openapi.json', '--default-non-nullable=false', '-o', 'schema.d.ts'];
    await runTool({ program: node, args, folder });
  },
};

const TYPESCRIPT_FETCH = ['-g', 'typescript-fetch', '-o', 'client'];

export const typescriptFetch: Generator = {
  ...typescript,
  name: 'typescript-fetch',
  title: 'ts-fetch',
  version: OPENAPI_GENERATOR_VERSION,
  command: `openapi-generator-cli generate -i openapi.json ${TYPESCRIPT_FETCH.join(' ')}`,
  toolchain: openapiGeneratorTools,
  generate: (folder) => runOpenapiGenerator(['-i', 'openapi.json', ...TYPESCRIPT_FETCH], folder),
};
