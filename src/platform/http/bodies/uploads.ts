import { createWriteStream, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation, UploadedFile } from '../../contract/types.js';
import { newId } from '../../values/ids.js';
import { fileTooLarge } from './body-limits.js';

/** The files of a request. They are ours and not the plugin's, which deletes them while a handler still reads them. */
export type Uploads = {
  paths: string[];
  /** The file that is being written. */
  current?: Readable | undefined;
  isInUse: boolean;
  isAbandoned: boolean;
};

const uploadsOf = new WeakMap<FastifyRequest, Uploads>();

export function trackUploads(request: FastifyRequest, reply: FastifyReply): Uploads {
  const uploads: Uploads = { paths: [], isInUse: false, isAbandoned: false };
  uploadsOf.set(request, uploads);
  // comes once, after the answer or when the client has gone
  reply.raw.once('close', () => {
    uploads.isAbandoned = true;
    if (!uploads.isInUse) void deleteFiles(uploads);
  });
  return uploads;
}

/** Runs a handler; the files stay until it has ended, even if its client goes away. */
export async function withUploads<Result>(
  request: FastifyRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  const uploads = uploadsOf.get(request);
  if (!uploads) return work();
  uploads.isInUse = true;
  try {
    return await work();
  } finally {
    uploads.isInUse = false;
    await deleteFiles(uploads);
  }
}

/** Every file that is on disk now, so that a process which is told to end leaves none. */
const onDisk = new Set<string>();
process.once('exit', () => {
  for (const path of onDisk) rmSync(path, { force: true });
});

async function deleteFiles({ paths }: Uploads): Promise<void> {
  await Promise.all(
    paths.splice(0).map(async (path) => {
      await rm(path, { force: true });
      onDisk.delete(path);
    }),
  );
}

/** Writes a file to disk. @throws ApiError body_too_large when it was cut at the operation's limit */
export async function spool(
  uploads: Uploads,
  { file, filename }: MultipartFile,
  operation: Operation,
): Promise<UploadedFile> {
  const path = join(tmpdir(), `crossdock-${process.pid}-${newId()}`);
  onDisk.add(path);
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  uploads.current = file;
  try {
    await pipeline(file, target);
  } finally {
    // not before it is closed, it might be opened after it was deleted; a pipeline from a stream that has broken
    // already leaves its target open
    target.destroy();
    if (!target.closed) await new Promise<void>((resolve) => target.once('close', () => resolve()));
    uploads.current = undefined;
    uploads.paths.push(path);
    if (uploads.isAbandoned) await deleteFiles(uploads);
  }
  if (file.truncated) throw fileTooLarge(operation);
  return { path, name: filename, sizeBytes: target.bytesWritten };
}
