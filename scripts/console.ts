import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { projectRoot } from '../src/config/project-root.js';
import { generateTypescript } from '../sdk-tools/typescript/build.js';

// Bundles console/ with the SDK to dist/console: one page, and files with a hash in their names. What the login does not need is in
// files of its own, which load on use (console/src/ui/part.tsx). scripts/build-console.mjs runs it if a source changed.
const source = join(projectRoot, 'console');
const output = join(projectRoot, 'dist', 'console');

await generateTypescript();
await rm(output, { recursive: true, force: true });
await mkdir(output, { recursive: true });
const { metafile } = await build({
  absWorkingDir: projectRoot,
  entryPoints: [join(source, 'src', 'main.tsx'), join(source, 'src', 'styles', 'console.css')],
  outbase: join(source, 'src'),
  outdir: join(output, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  splitting: true,
  bundle: true,
  minify: true,
  metafile: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.woff2': 'file' },
  logLevel: 'warning',
});
const officePages = await readOfficePages();
const page = await readFile(join(source, 'index.html'), 'utf8');
const files = Object.keys(metafile.outputs).map(addressOf);
const script = entryOf(metafile, 'main.tsx');
const style = entryOf(metafile, 'console.css');
const font = files.find((path) => path.endsWith('.woff2')) ?? '';
// Without these lines, the browser learns of the files that the script imports only when it has the script.
const shared = importsOf(metafile, script).map((path) => `<link rel="modulepreload" href="${path}" />`);
const html = page
  .replace('{{script}}', script)
  .replace('{{style}}', style)
  .replace('{{font}}', font)
  .replace('{{shared}}', shared.join('\n    '));
await writeFile(join(output, 'index.html'), html);
// The service answers for these addresses with the page, and for others that they do not exist.
await writeFile(join(output, 'pages.json'), JSON.stringify(officePages));

// The best quality, because people on a telephone wait for these bytes.
await Promise.all(
  files.filter(isText).map(async (path) => {
    const file = join(output, 'assets', basename(path));
    await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
  }),
);

// The names of the files contain hashes of their content, so the page with these names identifies the build.
await build({
  absWorkingDir: projectRoot,
  entryPoints: [join(source, 'src', 'offline', 'worker.ts')],
  outfile: join(output, 'worker.js'),
  bundle: true,
  minify: true,
  // A script, not a module, because the page registers it as one.
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  define: {
    VERSION: JSON.stringify(createHash('sha256').update(html).digest('hex').slice(0, 12)),
    OFFICE: JSON.stringify(officePages),
    FILES: JSON.stringify([...files, '/docs/static/favicon.svg']),
  },
  logLevel: 'warning',
});

/** Returns the names of the pages of the office. The console is no part of the project that runs this, so it is compiled first. */
async function readOfficePages(): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [join(source, 'src', 'office', 'pages.ts')],
    bundle: true,
    write: false,
    format: 'esm',
  });
  const text = outputFiles.map((file) => file.text).join('');
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  // The file exports the list.
  return (module as { OFFICE_PAGES: { id: string }[] }).OFFICE_PAGES.map(({ id }) => id);
}

function addressOf(path: string): string {
  return `/console/assets/${basename(path)}`;
}

function isText(path: string): boolean {
  return /\.(js|css)$/.test(path);
}

function entryOf({ outputs }: Metafile, name: string): string {
  const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(`/${name}`)) ?? [];
  if (!path) throw new Error(`The console has no file for ${name}.`);
  return addressOf(path);
}

/** Returns the files that a script imports before it runs, and those that they import. */
function importsOf({ outputs }: Metafile, script: string): string[] {
  const found = new Set<string>();
  const follow = (address: string) => {
    const [, output] = Object.entries(outputs).find(([path]) => addressOf(path) === address) ?? [];
    for (const { path, kind } of output?.imports ?? []) {
      const imported = addressOf(path);
      if (kind !== 'import-statement' || found.has(imported)) continue;
      found.add(imported);
      follow(imported);
    }
  };
  follow(script);
  return [...found];
}
