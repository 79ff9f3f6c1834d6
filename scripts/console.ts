import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { projectRoot } from '../src/config/project-root.js';
import { generateTypescript } from './sdk/typescript/build.js';

// Bundles console/ with the SDK to dist/console: one page, and files with a hash in their names. scripts/build-console.mjs
// runs it if a source changed.
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
  assetNames: '[name]-[hash]',
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
const page = await readFile(join(source, 'index.html'), 'utf8');
const files = ['.js', '.css', '.woff2'].map((ending) => assetOf(metafile, ending));
const [script = '', style = '', font = ''] = files;
const html = page.replace('{{script}}', script).replace('{{style}}', style).replace('{{font}}', font);
await writeFile(join(output, 'index.html'), html);

// The best quality, because people on a telephone wait for these bytes.
await Promise.all(
  [script, style].map(async (path) => {
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
    FILES: JSON.stringify([...files, '/docs/static/favicon.svg']),
  },
  logLevel: 'warning',
});

function assetOf({ outputs }: Metafile, ending: string): string {
  const path = Object.keys(outputs).find((name) => name.endsWith(ending));
  if (!path) throw new Error(`The console has no file that ends with ${ending}.`);
  return `/console/assets/${basename(path)}`;
}
