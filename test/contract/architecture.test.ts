import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';

const sources = filesUnder('src').map((path) => ({
  path,
  text: readFileSync(join(projectRoot, path), 'utf8'),
}));

type Import = { from: string; to: string; isType: boolean };

const imports = sources.flatMap(({ path, text }) => importsOf(path, text));

/**
 * Returns every relative import of a file, type imports included. Both paths are relative to the project's
 * root.
 */
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

/** Returns `platform`, `modules`, ..., or undefined for a file directly in src/. */
const layerOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];
const moduleOf = (path: string) => /^src\/modules\/([^/]+)\//.exec(path)?.[1];
const shown = (found: Import[]) => found.map(({ from, to }) => `${from} -> ${to}`);

/** The layers that each layer may import, besides itself and generated/. */
const MAY_IMPORT: Record<string, string[]> = {
  config: [],
  platform: ['config'],
  modules: ['config', 'platform'],
  jobs: ['config', 'platform', 'modules'],
  development: ['config', 'platform', 'modules'],
  startup: ['config', 'platform', 'modules', 'development'],
};

describe('dependencies between layers and modules point in one direction', () => {
  test('finds sources and imports to check', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(imports.length).toBeGreaterThan(800);
  });

  test('a layer imports only the layers below it', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [layer, target] = [layerOf(from), layerOf(to)];
      return (
        layer !== undefined &&
        target !== undefined &&
        layer !== target &&
        !MAY_IMPORT[layer]?.includes(target)
      );
    });
    expect(shown(wrong)).toEqual([]);
  });

  test('a module imports another module only through its public file', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [own, other] = [moduleOf(from), moduleOf(to)];
      return own && other && own !== other && to !== `src/modules/${other}/public.ts`;
    });
    expect(shown(wrong)).toEqual([]);
  });

  test('only the handler table imports handlers, and handlers and views do not import SQL', () => {
    const handlers = imports.filter(
      ({ from, to }) => /handlers\.ts$/.test(to) && moduleOf(to) && from !== 'src/handlers.ts',
    );
    expect(shown(handlers)).toEqual([]);
    const queries = imports.filter(
      ({ from, to, isType }) => !isType && /queries\.ts$/.test(to) && /[/-](handlers|view)\.ts$/.test(from),
    );
    expect(shown(queries)).toEqual([]);
  });

  test('modules import neither Fastify nor the composition', () => {
    const wrong = imports.filter(
      ({ from, to, isType }) =>
        moduleOf(from) && !isType && (to.startsWith('src/platform/http/') || layerOf(to) === undefined),
    );
    // generated/ is not a layer
    expect(shown(wrong).filter((line) => !line.includes('-> generated/'))).toEqual([]);
    const fastify = sources.filter(({ path, text }) => moduleOf(path) && /from '(@?fastify)/.test(text));
    expect(fastify.map(({ path }) => path)).toEqual([]);
  });

  test.each([
    ['files', (path: string) => path],
    ['folders', dirname],
  ])('%s have no import cycles, type imports included', (_what, nodeOf) => {
    const edges = new Map<string, Set<string>>();
    for (const { from, to } of imports) {
      const [a, b] = [nodeOf(from), nodeOf(to)];
      if (a !== b) edges.set(a, (edges.get(a) ?? new Set()).add(b));
    }
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (node: string, trail: string[]): void => {
      if (trail.includes(node)) cycles.push([...trail.slice(trail.indexOf(node)), node].join(' -> '));
      if (trail.includes(node) || done.has(node)) return;
      for (const next of edges.get(node) ?? []) visit(next, [...trail, node]);
      done.add(node);
    };
    for (const node of edges.keys()) visit(node, []);
    expect(cycles).toEqual([]);
  });

  test('sources import neither scripts nor tests, and scripts import nothing from generated/', () => {
    const wrong = imports.filter(({ to }) => /^(scripts|test|dist)\//.test(to));
    expect(shown(wrong)).toEqual([]);
    const scripts = filesUnder('scripts').flatMap((path) =>
      importsOf(path, readFileSync(join(projectRoot, path), 'utf8')),
    );
    expect(shown(scripts.filter(({ to }) => to.startsWith('generated/')))).toEqual([]);
  });
});

describe('the folder tree follows the design', () => {
  test('src holds only the entry points, the composition and the handler table', () => {
    const loose = sources.map(({ path }) => path).filter((path) => dirname(path) === 'src');
    expect(loose.sort()).toEqual(['src/app.ts', 'src/handlers.ts', 'src/main.ts', 'src/worker.ts']);
  });

  test('no folder contains more than 14 files', () => {
    const counts = new Map<string, number>();
    for (const path of [...filesUnder('src'), ...filesUnder('test'), ...filesUnder('scripts')])
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    // The scripts folder has one file per command.
    counts.delete('scripts');
    expect([...counts].filter(([, count]) => count > 14)).toEqual([]);
  });

  test('every source file has fewer than 400 lines', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(long.filter(({ lines }) => lines >= 400)).toEqual([]);
  });
});

describe('each concern has one location', () => {
  test('only src/config and the embedded PostgreSQL read the environment', () => {
    const readers = sources.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path);
    expect(readers.filter((path) => !/^src\/(config|development\/embedded-postgres)\//.test(path))).toEqual(
      [],
    );
  });

  test('only platform/db opens connections, and session settings are local to a transaction', () => {
    const clients = sources.filter(
      ({ path, text }) =>
        !path.startsWith('src/platform/db/') && /new PrismaClient|new (pg\.)?Pool\(/.test(text),
    );
    expect(clients.map(({ path }) => path)).toEqual([]);
    const scopes = sources.filter(({ text }) => /set_config\(/.test(text)).map(({ path }) => path);
    // The schema's owner creates tenants in its own transactions.
    expect(scopes.sort()).toEqual([
      'src/development/demo/seed.ts',
      'src/modules/tenants/tenant.ts',
      'src/platform/db/admission.ts',
    ]);
    for (const { path, text } of sources) {
      for (const [call] of text.matchAll(/set_config\([^)]*\)/g)) {
        expect([path, call.endsWith(', true)')]).toEqual([path, true]);
      }
    }
  });

  test('no SQL is built from strings', () => {
    const raws = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\$(?:query|execute)RawUnsafe/g)].map(() => path),
    );
    expect(raws).toEqual([]);
  });
});
