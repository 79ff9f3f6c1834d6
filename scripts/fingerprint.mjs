// Recognises files that have changed. A file is read only if its size or time differs from the last time, and has changed
// only if its content differs: a checkout or a copy sets new times.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the stamp and the content's hash of each file by path. `last` is the result of an earlier call. */
export function fingerprint(root, paths, last) {
  const files = {};
  for (const path of paths) {
    const { mtimeMs, size } = statSync(join(root, path));
    const stamp = `${mtimeMs} ${size}`;
    const known = last[path];
    files[path] = known?.stamp === stamp ? known : { stamp, hash: hashOf(readFileSync(join(root, path))) };
  }
  return files;
}

/** Returns whether both have the same files with the same content. */
export function isEqual(files, others) {
  const paths = Object.keys(files);
  return (
    paths.length === Object.keys(others).length &&
    paths.every((path) => files[path].hash === others[path]?.hash)
  );
}

export const hashOf = (bytes) => createHash('sha256').update(bytes).digest('base64url');
