// Compiles to dist/ the sources that have changed since the last time. Each file is compiled on its own, as
// `isolatedModules` in tsconfig.json allows. Loading the whole program and checking its types, which `npm run check` does,
// takes more than ten times as long.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

const SOURCES = ['src', 'scripts', 'generated'];
/** A change of these compiles everything again. */
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'scripts/build.mjs'];

export function build(root) {
  const built = join(root, 'dist', '.built');
  const dist = dirname(built);
  const settings = SETTINGS.map((name) => stampOf(join(root, name))).join('\n');
  const stamps = Object.fromEntries(
    SOURCES.flatMap((name) => sourcesIn(join(root, name))).map((path) => [
      relative(root, path),
      stampOf(path),
    ]),
  );
  const before = readBuilt(built);
  const known = before.settings === settings ? before.stamps : {};
  const changed = Object.keys(stamps).filter((path) => stamps[path] !== known[path]);
  const removed = Object.keys(before.stamps).filter((path) => !(path in stamps));
  if (changed.length === 0 && removed.length === 0) return;

  process.stderr.write('Building ...\n');
  for (const path of removed) for (const output of outputsOf(dist, path)) rmSync(output, { force: true });
  const compile = openCompiler(root);
  for (const path of changed) compile(path, outputsOf(dist, path));
  writeFileSync(built, JSON.stringify({ settings, stamps }));
}

function readBuilt(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // There is no build, or an interrupted one.
    return { stamps: {} };
  }
}

function stampOf(path) {
  const { mtimeMs, size } = statSync(path);
  return `${mtimeMs} ${size}`;
}

function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(path);
    return /(?<!\.d)\.ts$/.test(entry.name) ? [path] : [];
  });
}

const outputsOf = (dist, path) => {
  const output = join(dist, path.replace(/\.ts$/, '.js'));
  return [output, `${output}.map`];
};

/** Returns a function that compiles one file with the settings of tsconfig.build.json. */
function openCompiler(root) {
  // Loaded only now, because a fresh clone has no dependencies yet and most runs compile nothing.
  const ts = createRequire(import.meta.url)('typescript');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.build.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  // transpileModule does not read package.json, which makes these files ES modules.
  const compilerOptions = {
    ...options,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  return (path, [output, map]) => {
    const source = readFileSync(join(root, path), 'utf8');
    const { outputText, sourceMapText } = ts.transpileModule(source, { fileName: path, compilerOptions });
    mkdirSync(dirname(output), { recursive: true });
    const sources = [relative(dirname(output), join(root, path)).replaceAll('\\', '/')];
    writeFileSync(output, outputText);
    writeFileSync(map, JSON.stringify({ ...JSON.parse(sourceMapText), file: basename(output), sources }));
  };
}
