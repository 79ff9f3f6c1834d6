import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';

// Names in documents and comments must exist, because a renamed file or a deleted function misleads the
// reader. The changelog is excluded, because it describes the past.

const ROOTS = [
  'bin',
  'console',
  'data',
  'deploy',
  'docs',
  'fixtures',
  'generated',
  'openapi',
  'prisma',
  'print-bridge',
  'scripts',
  'sdk',
  'sdk-tools',
  'src',
  'test',
  'tools',
];
/** What the builds of the SDKs write beside their sources. */
const BUILT =
  /^sdk\/\w+\/(node_modules|dist|target|\.venv|vendor|build|bin|api|generated|src\/generated|crossdock_core|[\w.]+\.egg-info)\//;
const files = [
  ...readdirSync(projectRoot, { withFileTypes: true }).filter((entry) => entry.isFile()),
  ...ROOTS.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true }).filter((entry) =>
      entry.isFile(),
    ),
  ),
]
  .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
  .filter((path) => !BUILT.test(path));

/** What installation, builds and tests write, which git ignores. */
const MADE = ['node_modules', 'dist', 'coverage', 'release'];

test('the project has no folder that nobody has named, such as one that a test has written into it', () => {
  const folders = readdirSync(projectRoot, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !MADE.includes(entry.name),
  );
  expect(folders.map(({ name }) => name).sort()).toEqual([...ROOTS].sort());
});

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

const SCRIPT_COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/** Returns the prose of a file: the whole text of a document, the comments of a program. */
function proseOf(path: string): string {
  const text = read(path);
  if (path.endsWith('.md')) return text;
  // The bundler checks references between the contract's files.
  if (path.endsWith('.yaml')) return text.replace(/^.*\$ref.*$/gm, '');
  const comments = /\.sql$/.test(path) ? /--.*$/gm : SCRIPT_COMMENT;
  return [...text.matchAll(comments)].map(([comment]) => comment).join('\n');
}

const prose = files
  .filter((path) => /\.(md|yaml|ts|tsx|mjs|js|sql|prisma)$/.test(path))
  // These files contain strings that look like the start of a comment.
  .filter(
    (path) =>
      !/^(generated\/|CHANGELOG\.md$|sdk\/\w+\/(CHANGELOG|REFERENCE)\.md$|\.oxlintrc\.json$|test\/contract\/fuzz\/mutations\.ts$)/.test(
        path,
      ),
  )
  .map((path) => ({ path, text: proseOf(path) }));

/** Returns every name that does not exist, with the file that contains it. */
function missing(pattern: RegExp, exists: (name: string) => boolean): string[] {
  return prose.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].flatMap(([, name = '']) => (exists(name) ? [] : [`${path} names ${name}`])),
  );
}

// The names under which the service offers its contract for download, files that examples create, and names that only look
// like files.
const NO_FILES = new Set([
  // A variable of the block.
  'DEPLOY/make-secrets.sh',
  'HOST/openapi.json',
  'HOST/openapi.sdk.json',
  'generated/OPERATIONS.md',
  'Node.js',
  'highlight.js',
  'raw.json',
  'schema.d.ts',
  'crossdock.json',
  'crossdock-VERSION.cdx.json',
  'crossdock.yaml',
  'openapi/paths/packages/count-packages.yaml',
  'src/modules/packages/count-packages/handlers.ts',
  'test/modules/packages/count-packages.test.ts',
  // A file of a background migration.
  'background.sql',
]);

const isFile = (name: string) => files.some((path) => path === name || path.endsWith(`/${name}`));

// Names from Node, OpenTelemetry, Fastify, PostgreSQL and its tools, pgbouncer, Prometheus, pino and graphile-worker, and
// from examples in CONTRIBUTING.md.
const FOREIGN = new Set([
  'client_tls_sslmode',
  'flushSync',
  'client_tls_cert_file',
  'client_tls_key_file',
  'NODE_EXTRA_CA_CERTS',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_RESOURCE_ATTRIBUTES',
  'countPackages',
  'crossdock_login',
  'askForCode',
  'autovacuum_max_workers',
  'autovacuum_vacuum_cost_limit',
  'effective_cache_size',
  'histogram_quantile',
  'hot_standby_feedback',
  'max_prepared_statements',
  'pg_rewind',
  'remote_apply',
  'standby_a',
  'standby_b',
  'target_session_attrs',
  'tcp_retries2',
  'manageUsersRaw',
  'max_replication_slots',
  'max_sync_workers_per_subscription',
  'ignore_startup_parameters',
  'onResponse',
  'orderId',
  'rawBody',
  'packageCount',
  'pg_basebackup',
  'pg_create_subscription',
  'pg_dump',
  'removeAllListeners',
  'reqId',
  'reschedule_jobs',
  'responseTime',
  'sessionStorage',
]);

// With a capital letter or an underscore inside, unlike English words.
const IDENTIFIER =
  /(?<![\w-])([a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*|_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])/g;
const CAMEL_CASE = /(?<![\w`./-])([a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+)(?![\w-])/g;

// A metric's name is composed of a prefix and a suffix.
const METRIC = /^crossdock_(.*?)(?:_bucket)?$/;

const words = new Set(
  files
    .filter(
      (path) =>
        /\.(ts|mjs|js|py|php|go|java|sql|prisma|yaml|json|ini)$/.test(path) && path !== 'package-lock.json',
    )
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

describe('documents, comments and the contract contain only names that exist', () => {
  test('there are texts to check', () => {
    expect(prose.length).toBeGreaterThan(300);
    expect(missing(/(docs\/decisions)/g, () => false)).not.toEqual([]);
  });

  test('every file exists, with or without its folders', () => {
    const named =
      /(?<![\w/.@-])(?:\.{1,2}\/)*((?:[\w@.-]+\/)*[\w.-]*\w\.(?:ts|mjs|js|sql|md|yaml|json|jsonl|prisma|toml|sh))(?![\w/])/g;
    const exists = (name: string) => {
      const source = name.replace(/^dist\//, '').replace(/\.m?js$/, '.ts');
      return isFile(name) || isFile(source) || NO_FILES.has(name);
    };
    expect(missing(named, exists)).toEqual([]);
  });

  test('every folder and path prefix exists', () => {
    const named =
      /(?<![\w./@-])((?:docs|generated|openapi|prisma|scripts|sdk|src|test)\/[\w/-]*\w)(?![\w/.-]*\.\w)/g;
    const exists = (name: string) => BUILT.test(`${name}/`) || files.some((path) => path.startsWith(name));
    expect(missing(named, exists)).toEqual([]);
  });

  test('every path that a program joins from literals exists', () => {
    const joined = /join\((?:projectRoot|root), ((?:'[^']+'(?:, )?)+)\)/g;
    // Paths that a build or a run creates.
    const created = /^(\.data|\.git|coverage|node_modules)(\/|$)|^dist\/(\.built$|console)/;
    const paths = files
      .filter((path) => /\.(ts|tsx|mjs|cjs)$/.test(path))
      .flatMap((path) =>
        [...read(path).matchAll(joined)].map(([, segments = '']) => ({
          path,
          name: segments.replace(/', '/g, '/').replaceAll("'", ''),
        })),
      )
      .filter(({ name }) => !created.test(name));
    expect(paths.length).toBeGreaterThan(15);
    const sourceOf = (name: string) => name.replace(/^dist\/(.*)\.js$/, '$1.ts');
    const unknown = paths.filter(
      ({ name }) => !files.some((file) => file === sourceOf(name) || file.startsWith(`${name}/`)),
    );
    expect(unknown.map(({ path, name }) => `${path} names ${name}`)).toEqual([]);
  });

  test('every decision and every npm script exists', () => {
    const decision = (number: string) => files.some((path) => path.startsWith(`docs/decisions/${number}`));
    expect(missing(/\bdecisions?[ /](\d{4})\b/gi, decision)).toEqual([]);
    // Only this part of the file is read.
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(missing(/\bnpm run ([a-z]+(?:[:-][a-z0-9]+)*)/g, (name) => name in scripts)).toEqual([]);
  });

  test('every function, column and setting occurs in the code', () => {
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

// Exported so that tests can compare results with it.
const FOR_TESTS = ['isHouseNumber', 'typeIn'];

test('every export of src/ is used outside tests', () => {
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
