import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import {
  findAmbientState,
  findConnections,
  findUncheckedLocks,
} from '../support/architecture/database-access.js';
import { findCrowdedFolders, findCycles, importsOf, type Import } from '../support/architecture/imports.js';
import { findRowCasts } from '../support/architecture/row-casts.js';
import { findSplitTexts } from '../support/architecture/split-texts.js';

const readSource = (path: string) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') });

const sourcePaths = [...filesUnder('src'), ...filesUnder('fixtures'), ...filesUnder('tools')];
const sources = sourcePaths.map(readSource);
const imports = sources.flatMap(importsOf);

function filesUnder(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.m?[tj]sx?$/.test(entry.name))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)));
}

/** Returns `platform`, `modules`, ..., `fixtures`, `tools`, or undefined for a file directly in src/. */
const layerOf = (path: string) => /^(?:src\/|(?=fixtures\/|tools\/))([^/]+)\//.exec(path)?.[1];
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
  fixtures: ['config', 'platform', 'modules', 'startup'],
  tools: ['config', 'platform', 'modules', 'fixtures'],
  commands: ['config', 'platform', 'modules', 'jobs', 'development', 'startup', 'tools'],
};

describe('dependencies between layers and modules point in one direction', () => {
  test('finds sources and imports to check', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(imports.length).toBeGreaterThan(800);
  });

  test("couriers' servers are called only in the thread that is made for them", () => {
    const callers = imports.filter(
      ({ to }) => to === 'src/platform/outbound/client.ts' && !to.endsWith('.d.ts'),
    );
    const values = callers.filter(({ from }) =>
      /import \{[^}]*\bmakeOutboundClient\b/.test(readSource(from).text),
    );
    expect(shown(values)).toEqual([
      'src/platform/outbound/outbound-worker.ts -> src/platform/outbound/client.ts',
    ]);
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
    expect(findCycles(imports, nodeOf)).toEqual([]);
  });

  test.each(['scripts', 'print-bridge', 'sdk-tools', 'console/src'])(
    'the files of %s have no import cycles',
    (folder) => {
      const own = filesUnder(folder).map(readSource).flatMap(importsOf);
      expect(findCycles(own, (path) => path.replace(/\.tsx?$/, ''))).toEqual([]);
    },
  );

  test('sources import neither scripts nor tests, and scripts import nothing from generated/', () => {
    const wrong = imports.filter(({ to }) => /^(print-bridge|scripts|sdk-tools|test|dist)\//.test(to));
    expect(shown(wrong)).toEqual([]);
    // A release contains src/ alone, and a bundle of each command.
    const notReleased = imports.filter(
      ({ from, to }) => from.startsWith('src/') && /^(fixtures|tools)\//.test(to),
    );
    expect(shown(notReleased)).toEqual(['src/commands/anonymise.ts -> tools/anonymise/anonymise.ts']);
    const folders = ['scripts', 'print-bridge', 'sdk-tools'];
    const scripts = folders.flatMap(filesUnder).flatMap((path) => importsOf(readSource(path)));
    expect(shown(scripts.filter(({ to }) => to.startsWith('generated/')))).toEqual([]);
  });
});

describe('the folder tree follows the design', () => {
  test('src holds only the entry points, the composition and the handler table', () => {
    const topLevel = sources.map(({ path }) => path).filter((path) => dirname(path) === 'src');
    const names = ['app', 'child', 'handlers', 'main', 'run-jobs', 'serve', 'worker'];
    expect(topLevel.sort()).toEqual(names.map((name) => `src/${name}.ts`));
  });

  test('no folder contains more than 14 files', () => {
    const folders = [
      'src',
      'fixtures',
      'tools',
      'test',
      'scripts',
      'print-bridge',
      'sdk-tools',
      'console/src',
    ];
    const paths = folders.flatMap(filesUnder);
    expect(findCrowdedFolders(paths, 14)).toEqual([]);
  });

  test('every source file has fewer than 400 lines', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(long.filter(({ lines }) => lines >= 400)).toEqual([]);
  });
});

test('tests look only at the sessions of their own database, because test files share a server', () => {
  const tests = filesUnder('test').map(readSource);
  const lookAtAll = tests.filter(({ text }) => /pg_stat_activity(?=\s)(?!\s+where datname = )/.test(text));
  expect(lookAtAll.map(({ path }) => path)).toEqual([]);
});

test('no list is written as a text that is split', () => {
  const others = ['scripts', 'print-bridge', 'sdk-tools', 'console/src'].flatMap(filesUnder).map(readSource);
  expect([...sources, ...others].flatMap(findSplitTexts)).toEqual([]);
});

describe('each concern has one location', () => {
  test('advisory locks are taken by the statements of locks.ts, whose order each transaction checks', () => {
    expect(sources.flatMap(findUncheckedLocks)).toEqual([]);
  });

  // Replicas' clocks differ, so the database's clock dates what is stored. These show the time or send it.
  test('no module stores the time of the process', () => {
    const clocks = sources.filter(({ path, text }) => moduleOf(path) && text.includes('new Date()'));
    expect(clocks.map(({ path }) => path).sort()).toEqual([
      'src/modules/bills/mails/send-bill-mail.ts',
      'src/modules/customers/handlers.ts',
      'src/modules/mail/account-mails/send-account-mail.ts',
      'src/modules/mail/manifest-mails/send-manifest-mail.ts',
      'src/modules/manifests/handlers.ts',
      'src/modules/packages/handlers.ts',
    ]);
  });

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
      'fixtures/demo/values/tenant-scope.ts',
      'src/modules/tenants/tenant.ts',
      'src/platform/db/locks.ts',
      'src/platform/db/transactions/admission.ts',
      'src/platform/db/transactions/plans.ts',
      // A start reads each tenant in its own scope, and leaves it.
      'src/startup/published-credentials.ts',
    ]);
    for (const { path, text } of sources) {
      for (const [call] of text.matchAll(/set_config\([^)]*\)/g)) {
        expect([path, call.endsWith(', true)')]).toEqual([path, true]);
      }
    }
  });

  test('no module checks the account of the caller: each transaction does, and the router for handlers without one', () => {
    const checks = sources.filter(
      ({ path, text }) => path.startsWith('src/modules/') && text.includes('assertAdmitted'),
    );
    expect(checks.map(({ path }) => path)).toEqual([]);
  });

  test('no SQL is built from strings', () => {
    const raws = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\$(?:query|execute)RawUnsafe/g)].map(() => path),
    );
    expect(raws).toEqual([]);
  });
});

const isModule = ({ path }: { path: string }) => moduleOf(path) !== undefined;
/**
 * Statements that lock one of the tables that they join, and why the others cannot have changed while the lock was awaited: PostgreSQL reads
 * only the locked rows again (decision 0086).
 */
const REVIEWED_LOCKS: Record<string, string> = {
  'src/jobs/background-migrations/announced-keys-queries.ts':
    'joins the sent rows, and a unique index decides',
  'src/jobs/background-migrations/renamed-prealerts-queries.ts':
    'joins the sent rows, and keeps the user codes',
  'src/modules/carrier-tracking/queries.ts':
    'skips locked rows, and leaves out what another transaction has changed lately',
  'src/modules/claims/review-queries.ts': 'keeps the user code of the joined customer',
  'src/modules/customers/sync/queries.ts': 'joins the sent rows',
  'src/modules/customers/upload/queries.ts': 'joins the sent rows',
  'src/modules/packages/dispatch/queue-syncs.ts': 'joins ids, and checks the locked row',
  'src/modules/packages/intake/prealert-queries.ts': 'joins a package whose parcel is locked',
  'src/modules/password-reset/queries.ts': 'locks both tables',
  'src/modules/service-tokens/queries.ts': 'joins the sent rows',
  'src/modules/sessions/queries.ts': 'joins the sent rows',
  'src/modules/webhooks/delivery/claim-queries.ts':
    'skips locked rows, and joins by columns that never change',
  'src/modules/webhooks/health/tell-queries.ts':
    'skips locked rows, and a courier that changes meanwhile is told once more at worst',
};

test('a statement that locks one of its tables is reviewed: after a wait, the others are as before it', () => {
  const locking = sources.filter(({ text }) =>
    /\bfor (no key update|update|key share|share) of \w/.test(text),
  );
  expect(locking.map(({ path }) => path).sort()).toEqual(Object.keys(REVIEWED_LOCKS));
});

const isModuleOrJob = ({ path }: { path: string }) => /^src\/(modules|jobs)\//.test(path);

describe('a request reaches the database only through its context', () => {
  test('no module or job casts rows: the row type belongs to the statement', () => {
    expect(sources.filter(isModuleOrJob).flatMap(findRowCasts)).toEqual([]);
  });

  test('no ambient state in modules, jobs, contexts and transactions', () => {
    const files = sources.filter(
      (source) => isModuleOrJob(source) || /^src\/platform\/(db|context)\//.test(source.path),
    );
    expect(files.flatMap(findAmbientState)).toEqual([]);
  });

  test('no module opens a connection or a transaction by itself', () => {
    expect(sources.filter(isModule).flatMap(findConnections)).toEqual([]);
  });

  test('only the request context runs transactions', () => {
    const isRunner = (path: string) => /^src\/platform\/db\/transactions\//.test(path);
    const importers = imports
      .filter(({ from, to, isType }) => !isType && isRunner(to) && !isRunner(from))
      .map(({ from }) => from);
    expect([...new Set(importers)].sort()).toEqual([
      'src/platform/context/request-context.ts',
      'src/platform/context/write.ts',
    ]);
  });
});
