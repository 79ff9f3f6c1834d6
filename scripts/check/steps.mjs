// The steps of the gate.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { root } from '../prepare.mjs';

const FORMAT = {
  name: 'format',
  run: () => runNode('node_modules/oxfmt/bin/oxfmt', '--check'),
  cure: '`npm run format` rewrites these files.',
};

/** Replaces the generated core of the SDK, whose types lint, types and console read. */
const SDK = {
  name: 'sdk',
  run: () => runNode('dist/sdk-tools/sdk.js', 'ts'),
  cure: 'Correct the SDK. `npm run sdk -- ts` repeats this step.',
};

const SOURCE_CHECKS = [
  {
    name: 'lint',
    run: () => runNode('node_modules/oxlint/bin/oxlint', '--deny-warnings'),
    cure: 'Correct the code. `npm run lint` repeats this step.',
  },
  // With several threads it uses twice the CPU time, and the other steps need the cores.
  {
    name: 'types',
    run: () => checkTypes('tsconfig.json'),
    cure: 'Correct the code. `npm run types` repeats this step.',
  },
  {
    name: 'console',
    run: () => checkTypes('console/tsconfig.json'),
    cure: 'Correct the types in console/. `npm run types` repeats this step.',
  },
  {
    name: 'generated',
    run: compareGenerated,
    cure: 'Commit generated/, or correct what `npm run generate` reports.',
  },
  {
    name: 'unused',
    run: () => runNode('node_modules/knip/bin/knip.js', '--no-progress'),
    cure: 'Remove what nothing uses. `npx knip` repeats this step.',
  },
  {
    name: 'contract',
    run: lintContract,
    cure: 'Correct the files in openapi/, then `npm run generate`. `npm run lint:contract` repeats this step.',
  },
  // Compares with the last release.
  {
    name: 'release',
    run: () => runNode('dist/scripts/contract-diff/contract-diff.js'),
    cure: 'CONTRIBUTING.md, "Change the contract", says what is allowed. `npm run contract:diff` repeats this step.',
  },
];

/** Runs every row once on little data, from the build that prepare() has made. It takes longest and needs the cores. */
const BENCH = {
  name: 'bench',
  run: () => runNode('dist/scripts/measure/bench.js', '--smoke'),
  cure: '`npm run bench -- --smoke` repeats this step.',
};

/** The mix of a day and an overload, for seconds. After the bench, because both need the cores. */
const PRESSURE = {
  name: 'pressure',
  run: () => runNode('dist/scripts/measure/pressure.js', '--smoke', '--rows', 'mix'),
  cure: '`npm run pressure -- --smoke --rows mix` repeats this step.',
};

const TESTS = {
  name: 'tests',
  run: runTests,
  cure: '`npm test -- <file>` repeats one test file.',
};

/** A stage starts when the one before has passed. The steps of a stage run in parallel, so none writes what another reads. */
export const STAGES = [[FORMAT, SDK], SOURCE_CHECKS, [BENCH], [PRESSURE], [TESTS]];

// The files that scripts/generate.mjs reads, and where they are copied to.
const SOURCES = [
  'openapi',
  'prisma',
  'prisma.config.ts',
  'redocly.yaml',
  'scripts',
  'package.json',
  'package-lock.json',
  ...['docs/site', 'CHANGELOG.md', 'sdk'].filter((name) => existsSync(join(root, name))),
];
const SCHEMA = 'generated/schema.json';
const COPY = join(root, 'node_modules', '.cache', 'check-generated');

/** Returns the output of the program if it failed, otherwise an empty string. */
async function runNode(...args) {
  const { code, output } = await start(args, ['ignore', 'pipe', 'pipe']);
  return code === 0 ? '' : output || `${args[0]} ended with ${code}.`;
}

function checkTypes(project) {
  return runNode('node_modules/typescript-7/bin/tsc', '-p', project, '--singleThreaded');
}

/** Fails on warnings too; redocly itself exits with 0. */
async function lintContract() {
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--max-problems', '50'];
  const { code, output } = await start(lint, ['ignore', 'pipe', 'pipe']);
  const isClean = code === 0 && !/\b[1-9]\d* (warning|error)/.test(output);
  return isClean ? '' : output || 'redocly lint failed.';
}

/**
 * Generates in a copy of the sources, because the other steps read generated/ meanwhile, and returns the names of the files
 * that were not up to date. Replaces generated/ if there are any.
 */
async function compareGenerated() {
  await rm(COPY, { recursive: true, force: true });
  await mkdir(COPY, { recursive: true });
  for (const name of SOURCES)
    await cp(join(root, name), join(COPY, name), { recursive: true, filter: isSource });
  // Made from a database, which test/database/schema/expected.test.ts compares.
  await cp(join(root, SCHEMA), join(COPY, SCHEMA));
  const fault = await runNode(join(COPY, 'scripts/generate.mjs'));
  if (fault) return fault;
  const [before, after] = [await readGenerated(root), await readGenerated(COPY)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const stale = names.filter((name) => before.get(name) !== after.get(name));
  if (stale.length > 0) {
    await rm(join(root, 'generated'), { recursive: true, force: true });
    await cp(join(COPY, 'generated'), join(root, 'generated'), { recursive: true });
  }
  await rm(COPY, { recursive: true });
  return stale.map((name) => `${name} was not up to date. It is now; commit it.`).join('\n');
}

/** Of sdk/, only the READMEs, because builds are large. */
function isSource(path) {
  const [top, ...rest] = relative(root, path).split(sep);
  return top !== 'sdk' || rest.length < 2 || (rest.length === 2 && rest[1] === 'README.md');
}

async function readGenerated(folder) {
  const entries = await readdir(join(folder, 'generated'), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(
    paths.map(async (path) => [relative(folder, path), await readFile(path, 'utf8')]),
  );
  return new Map(contents);
}

/** The tests take minutes, so their output is shown immediately. */
async function runTests() {
  const { code } = await start(['scripts/test.mjs'], ['ignore', 'inherit', 'inherit']);
  return code === 0 ? '' : 'Tests failed.';
}

function start(args, stdio) {
  // As in scripts/run.mjs: a clone is for development.
  const development = { APP_ENV: process.env.APP_ENV || 'development' };
  const environment = {
    ...process.env,
    ...development,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  };
  const child = spawn(process.execPath, args, { cwd: root, env: environment, stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
