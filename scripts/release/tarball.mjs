import { createReadStream, createWriteStream, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack as packTar } from 'tar-stream';

/**
 * Writes a tar archive whose bytes depend only on names, contents and executable bits: sorted entries, one time, one owner.
 *
 * @param parts `{ folder, at, keeps }` adds a folder as `at`, or its contents if `at` is empty; `{ directory, ... }` adds an empty
 *   directory with the given fields of the header
 * @param options `epoch` in seconds; `isCompressed`, by default true; `plain` and `stored` are hashes of the archive before and
 *   after the compression
 */
export async function writeTarball(path, parts, { epoch, isCompressed = true, plain, stored }) {
  const tar = packTar();
  const steps = [tap(plain), ...(isCompressed ? [createGzip(), withoutSystem()] : []), tap(stored)];
  const written = pipeline([tar, ...steps, createWriteStream(path)]);
  await Promise.all([written, addParts(tar, parts, new Date(epoch * 1000))]);
}

async function addParts(tar, parts, mtime) {
  for (const { folder, at = '', keeps = () => true, directory, ...header } of parts) {
    if (directory) await addDirectory(tar, { mode: 0o755, ...header, name: directory, mtime });
    else {
      if (at) await addDirectory(tar, { name: at, mode: 0o755, mtime });
      await addFolder(tar, folder, at, { mtime, keeps });
    }
  }
  tar.finalize();
}

async function addFolder(tar, folder, at, options) {
  const { mtime, keeps } = options;
  for (const file of readdirSync(folder).sort()) {
    const path = join(folder, file);
    const name = at ? `${at}/${file}` : file;
    if (!keeps(name)) continue;
    const stat = lstatSync(path);
    if (stat.isDirectory()) {
      await addDirectory(tar, { name, mode: 0o755, mtime });
      await addFolder(tar, path, name, options);
      continue;
    }
    if (!stat.isFile()) throw new Error(`${path} is neither a file nor a folder.`);
    const header = { ...OWNER, name, size: stat.size, mode: stat.mode & 0o100 ? 0o755 : 0o644, mtime };
    await pipeline(createReadStream(path), tar.entry(header));
  }
}

const OWNER = { uid: 0, gid: 0, uname: '', gname: '' };

const addDirectory = (tar, header) =>
  new Promise((resolve, reject) => {
    tar.entry({ ...OWNER, ...header, type: 'directory' }, (error) => (error ? reject(error) : resolve()));
  });

/** Passes the data on and shows it to a hash. */
function tap(hash) {
  return new Transform({
    transform(chunk, _encoding, done) {
      hash?.update(chunk);
      done(null, chunk);
    },
  });
}

/** Writes "unknown" into the byte of the gzip header that names the operating system. */
function withoutSystem() {
  const SYSTEM_BYTE = 9;
  let position = 0;
  return new Transform({
    transform(chunk, _encoding, done) {
      const index = SYSTEM_BYTE - position;
      if (index >= 0 && index < chunk.length) chunk[index] = 255;
      position += chunk.length;
      done(null, chunk);
    },
  });
}
