import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The bundler names each chunk with a hash (`chunkNames` in scripts/build.mjs). */
const CHUNK = /[\w.-]+-[A-Z0-9]{8}\.js\b/g;

/** Returns the bundles of these programs and every chunk that they load at any time, with their source maps. */
export function bundleFilesOf(root, programs) {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const [name] of readFileSync(join(root, path), 'utf8').matchAll(CHUNK)) {
      const chunk = `dist/chunks/${name}`;
      if (existsSync(join(root, chunk))) visit(chunk);
    }
  };
  for (const program of programs) visit(`dist/${program.replace(/ts$/, 'js')}`);
  return [...found].flatMap((path) => [path, `${path}.map`]);
}
