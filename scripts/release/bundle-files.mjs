import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CHUNKS = 'dist/chunks';

/**
 * The end of a chunk's name (`chunkNames` in scripts/build.mjs). A pattern of the whole name would look for its beginning at each
 * character of long texts in the bundles, such as encoded programs: minutes of CPU time.
 */
const END_OF_CHUNK = /-[A-Z0-9]{8}\.js\b/g;

/** Returns the bundles of these programs and every chunk that they load at any time, with their source maps. */
export function bundleFilesOf(root, programs) {
  const chunks = readdirSync(join(root, CHUNKS)).filter((name) => name.endsWith('.js'));
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    found.add(path);
    const text = readFileSync(join(root, path), 'utf8');
    for (const { 0: ending, index } of text.matchAll(END_OF_CHUNK))
      for (const name of chunks)
        if (text.startsWith(name, index + ending.length - name.length)) visit(`${CHUNKS}/${name}`);
  };
  for (const program of programs) visit(`dist/${program.replace(/ts$/, 'js')}`);
  return [...found].flatMap((path) => [path, `${path}.map`]);
}
