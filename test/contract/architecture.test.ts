import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';

const sources = filesUnder('src').map((path) => ({
  path,
  text: readFileSync(join(projectRoot, path), 'utf8'),
}));
const imports = sources.flatMap(({ path, text }) => importsOf(path, text));

type Import = { from: string; to: string; isType: boolean };

/** Every import of a file of ours, both paths from the project's root and as the sources name them. */
function importsOf(from: string, text: string): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s(?<type>type\s)?[^;]*?from '(?<name>\.[^']+)'/gm);
  const dynamic = text.matchAll(/import\('(?<name>\.[^']+)'\)/g);
  return [...statements, ...dynamic].map(({ groups = {} }) => ({
    from,
    to: normalize(join(dirname(from), groups['name'] ?? '')).replace(/\.js$/, '.ts'),
    isType: groups['type'] !== undefined,
  }));
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.m?[tj]s$/.test(entry.name))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)));
}

/** The folder below src/ that a file is in; none for a file of src/ itself. */
const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];

const SLICES = [
  'prealerts',
  'customers',
  'packages',
  'manifests',
  'couriers',
  'warehouses',
  'carriers',
  'rates',
  'invoices',
  'bills',
  'service',
  'webhooks',
  'audit-log',
  'mail',
  'users',
  'sessions',
  'password-reset',
  'security',
];
const isSlice = (path: string) => SLICES.includes(folderOf(path) ?? '');

// What every request passes through, in src/auth beside the login slice.
const SHARED_AUTH = ['authenticate', 'callers', 'permissions', 'secrets', 'tokens'].map(
  (name) => `src/auth/${name}.ts`,
);
const SHARED_FILES = [
  'audit',
  'errors',
  'ids',
  'time',
  'tracking-key',
  'config',
  'root',
  'turns',
  'csv',
  'threads',
  'contact',
].map((name) => `src/${name}.ts`);
const isShared = (path: string) =>
  ['http', 'contract', 'db', 'queue', 'outbound', 'metrics'].includes(folderOf(path) ?? '') ||
  SHARED_AUTH.includes(path) ||
  SHARED_FILES.includes(path);
const isLogin = (path: string) => folderOf(path) === 'auth' && !SHARED_AUTH.includes(path);

// Fills the demo tenants at start-up; what it imports beyond the shared folders is its own affair.
const STARTS_UP = new Set(['src/startup/prepare-database.ts']);

const shown = (found: Import[]) => found.map(({ from, to }) => `${from} -> ${to}`);

describe('imports point one way', () => {
  test('there is something to look at', () => {
    expect(sources.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(150);
  });

  test('shared code knows no slice', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        isShared(from) && !STARTS_UP.has(from) && (isSlice(to) || isLogin(to) || folderOf(to) === 'demo'),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('a slice knows of another only what its nouns say: no handlers, no queries, no view', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        (isSlice(from) || isLogin(from)) &&
        (isSlice(to) || isLogin(to)) &&
        folderOf(from) !== folderOf(to) &&
        /(^|[/-])(handlers|queries|view)\.ts$/.test(to),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('handlers are known to handlers.ts alone, and SQL to nobody that answers requests', () => {
    const handlers = imports.filter(
      ({ from, to }) => to.endsWith('/handlers.ts') && folderOf(to) && from !== 'src/handlers.ts',
    );
    expect(shown(handlers)).toEqual([]);
    const queries = imports.filter(
      ({ from, to, isType }) => !isType && /queries\.ts$/.test(to) && /(handlers|view)\.ts$/.test(from),
    );
    expect(shown(queries)).toEqual([]);
  });

  test('slices know neither the web server nor the composition', () => {
    const wrong = imports.filter(
      ({ from, to, isType }) =>
        (isSlice(from) || isLogin(from)) &&
        !isType &&
        (folderOf(to) === 'http' ||
          ['src/app.ts', 'src/main.ts', 'src/handlers.ts', 'src/config/config.ts'].includes(to)),
    );
    // the limiter that sign-in shares with the web server counts, it does not answer
    expect(shown(wrong).filter((line) => !line.endsWith('src/platform/access/rate-limit.ts'))).toEqual([]);
    const fastify = sources.filter(({ path, text }) => isSlice(path) && /from '(@?fastify)/.test(text));
    expect(fastify.map(({ path }) => path)).toEqual([]);
  });

  test('no circle of files that need each other to load', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to, isType } of imports) {
      if (!isType) edges.set(from, [...(edges.get(from) ?? []), to]);
    }
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: string[]): void => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      if (trail.includes(path) || done.has(path)) return;
      for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of edges.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });

  test('sources import neither scripts nor tests, and what generates is not made of what is generated', () => {
    const wrong = imports.filter(({ to }) => /^(scripts|test|dist)\//.test(to));
    expect(shown(wrong)).toEqual([]);
    const scripts = filesUnder('scripts').flatMap((path) =>
      importsOf(path, readFileSync(join(projectRoot, path), 'utf8')),
    );
    expect(shown(scripts.filter(({ to }) => to.startsWith('generated/')))).toEqual([]);
  });
});

describe('every file keeps to its own', () => {
  test('the environment is read by config.ts alone', () => {
    const readers = sources.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path);
    expect(readers.filter((path) => !/^src\/(config|settings|db\/embedded[\w-]*)\.ts$/.test(path))).toEqual(
      [],
    );
  });

  test('Prisma’s client is opened in src/db alone, and nobody else sets a session up', () => {
    const clients = sources.filter(
      ({ path, text }) => !path.startsWith('src/db/') && /new PrismaClient|new (pg\.)?Pool\(/.test(text),
    );
    expect(clients.map(({ path }) => path)).toEqual([]);
    const scopes = sources.filter(({ text }) => /set_config\(/.test(text)).map(({ path }) => path);
    // the owner of the schema enters a scope to make tenants, in transactions of its own
    expect(scopes.sort()).toEqual(['src/platform/db/transaction.ts', 'src/development/demo/seed.ts', 'src/modules/tenants/tenant.ts']);
    for (const { path, text } of sources) {
      for (const [call] of text.matchAll(/set_config\([^)]*\)/g)) {
        expect([path, call.endsWith(', true)')]).toEqual([path, true]);
      }
    }
  });

  test('no SQL is put together from strings: raw() takes names that the code itself spells', () => {
    const raws = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\$(?:query|execute)RawUnsafe/g)].map(() => path),
    );
    expect(raws).toEqual([]);
  });

  test('no file is longer than 400 lines', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(long.filter(({ lines }) => lines >= 400)).toEqual([]);
  });
});
