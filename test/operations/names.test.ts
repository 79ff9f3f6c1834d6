import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';

// What documents and comments name must exist: a file that was renamed, or a function that is gone, misleads whoever
// reads on. The changelog is left out, because it tells what was.

const ROOTS = ['docs', 'generated', 'openapi', 'prisma', 'scripts', 'src', 'test'];
const files = [
  ...readdirSync(projectRoot, { withFileTypes: true }).filter((entry) => entry.isFile()),
  ...ROOTS.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true }).filter((entry) =>
      entry.isFile(),
    ),
  ),
].map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)));

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

const SCRIPT_COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/** Reads what a file says to people: a document whole, of a program the comments. */
function proseOf(path: string): string {
  const text = read(path);
  if (path.endsWith('.md')) return text;
  // references between the contract's files are checked when it is bundled
  if (path.endsWith('.yaml')) return text.replace(/^.*\$ref.*$/gm, '');
  const comments = /\.sql$/.test(path) ? /--.*$/gm : SCRIPT_COMMENT;
  return [...text.matchAll(comments)].map(([comment]) => comment).join('\n');
}

const prose = files
  .filter((path) => /\.(md|yaml|ts|mjs|js|sql|prisma)$/.test(path))
  // in these a string looks like the beginning of a comment
  .filter(
    (path) =>
      !/^(generated\/|CHANGELOG\.md$|eslint\.config\.js$|test\/contract\/fuzz\/mutations\.ts$)/.test(path),
  )
  .map((path) => ({ path, text: proseOf(path) }));

/** Everything that is named and not there, with the place that names it. */
function missing(pattern: RegExp, exists: (name: string) => boolean): string[] {
  return prose.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].flatMap(([, name = '']) => (exists(name) ? [] : [`${path} names ${name}`])),
  );
}

// The names under which the service offers its contract for download.
const NO_FILES = new Set(['crossdock.json', 'crossdock.yaml']);

const isFile = (name: string) => files.some((path) => path === name || path.endsWith(`/${name}`));

// Names of Node, Fastify, PostgreSQL and its tools, pgbouncer, Prometheus, pino and graphile-worker; and the login and the
// endpoint that the README tells its reader to create.
const FOREIGN = new Set([
  'NODE_EXTRA_CA_CERTS',
  'countOfRows',
  'countPackages',
  'crossdock_login',
  'histogram_quantile',
  'ignore_startup_parameters',
  'onResponse',
  'packageCountHandlers',
  'pg_basebackup',
  'pg_dump',
  'removeAllListeners',
  'reqId',
  'reschedule_jobs',
  'responseTime',
]);

// With a capital or an underscore inside, as no English word has.
const IDENTIFIER =
  /(?<![\w-])([a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*|_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])/g;
const CAMEL_CASE = /(?<![\w`./-])([a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+)(?![\w-])/g;

// A metric's name is put together from its prefix.
const METRIC = /^crossdock_(.*?)(?:_bucket)?$/;

const words = new Set(
  files
    .filter((path) => /\.(ts|mjs|js|sql|prisma|yaml|json|ini)$/.test(path) && path !== 'package-lock.json')
    .flatMap((path) => {
      const isOurs = /\.(ts|mjs|js)$/.test(path) && !path.startsWith('generated/');
      return (isOurs ? read(path).replace(SCRIPT_COMMENT, '') : read(path)).match(/\w+/g) ?? [];
    }),
);

function isSymbol(name: string): boolean {
  if (words.has(name) || FOREIGN.has(name)) return true;
  const metric = METRIC.exec(name)?.[1];
  return metric !== undefined && [...words].some((word) => word !== '' && metric.endsWith(word));
}

describe('documents, comments and the contract name only what exists', () => {
  test('there is something to look at', () => {
    expect(prose.length).toBeGreaterThan(300);
    expect(missing(/(docs\/decisions)/g, () => false)).not.toEqual([]);
  });

  test('every file that is named, with or without its folders, exists', () => {
    const named =
      /(?<![\w/.@-])(?:\.{1,2}\/)*((?:[\w@.-]+\/)*[\w.-]*\w\.(?:ts|mjs|js|sql|md|yaml|json|jsonl|prisma|toml|sh))(?![\w/])/g;
    const exists = (name: string) => {
      const source = name.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      return isFile(name) || isFile(source) || NO_FILES.has(name);
    };
    expect(missing(named, exists)).toEqual([]);
  });

  test('every folder that is named, and every beginning of a path, exists', () => {
    const named =
      /(?<![\w./@-])((?:docs|generated|openapi|prisma|scripts|src|test)\/[\w/-]*\w)(?![\w/.-]*\.\w)/g;
    expect(missing(named, (name) => files.some((path) => path.startsWith(name)))).toEqual([]);
  });

  test('every decision and every npm script that is named exists', () => {
    const decision = (number: string) => files.some((path) => path.startsWith(`docs/decisions/${number}`));
    expect(missing(/\bdecisions?[ /](\d{4})\b/gi, decision)).toEqual([]);
    // as: the part of the file that is read here
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(missing(/\bnpm run ([a-z]+(?::[a-z]+)*)/g, (name) => name in scripts)).toEqual([]);
  });

  test('every function, column and setting that is named occurs in the code', () => {
    const inBackticks = prose
      .filter(({ path }) => !path.startsWith('openapi/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) =>
          [...code.matchAll(IDENTIFIER)].map(([, name = '']) => ({ path, name })),
        ),
      );
    const unknown = inBackticks.filter(({ name }) => !isSymbol(name));
    expect(unknown.map(({ path, name }) => `${path} names ${name}`)).toEqual([]);
    expect(missing(CAMEL_CASE, isSymbol)).toEqual([]);
  });
});

// Exported so that tests can hold what the service makes against it.
const FOR_TESTS = ['isHouseNumber'];

test('what src/ exports is used by more than tests', () => {
  const codeOf = (path: string) => read(path).replace(SCRIPT_COMMENT, '');
  const users = files
    .filter((path) => /^(src|scripts)\/.*\.(ts|mjs)$/.test(path))
    .map((path) => codeOf(path).match(/\w+/g) ?? []);
  const counts = new Map<string, number>();
  for (const word of users.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const unused = files
    .filter((path) => /^src\/.*\.ts$/.test(path))
    .flatMap((path) =>
      [...codeOf(path).matchAll(/^export (?:async )?(?:const|function\*?|class|type|let) (\w+)/gm)].flatMap(
        ([, name = '']) => ((counts.get(name) ?? 0) > 1 ? [] : [`${path} exports ${name}`]),
      ),
    );
  expect(unused.filter((line) => !FOR_TESTS.some((name) => line.endsWith(` ${name}`)))).toEqual([]);
});
