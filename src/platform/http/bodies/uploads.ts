import { createWriteStream, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation, UploadedFile } from '../../contract/types.js';
import { newUploadPath } from '../../files/abandoned-uploads.js';
import { fileTooLarge } from './body-limits.js';
import type { Holder } from '../../limits/shared/amounts.js';
import type { Allotment } from '../../limits/shared/shared-limits.js';
import { openSpoolSpace, type SpoolSpace } from '../../limits/spool-space.js';
import { whenClosed } from '../../concurrency/when-closed.js';
import { holderOf } from './body-holder.js';

/** The uploaded files of a request. The multipart plugin's own files are deleted while a handler may still read them. */
export type Uploads = {
  /** Whose share of the disk the files take. */
  holder: Holder;
  disk: Allotment;
  /** The length of the body, as the client declared it. */
  declaredBytes: number;
  /** The share of the disk, from the first file on. */
  space?: SpoolSpace | undefined;
  paths: string[];
  /** The file that is being written. */
  current?: Readable | undefined;
  isInUse: boolean;
  /** Aborted when the connection closes, or after the response. */
  closing: AbortController;
};

const uploadsOf = new WeakMap<FastifyRequest, Uploads>();

export function trackUploads(request: FastifyRequest, reply: FastifyReply, disk: Allotment): Uploads {
  const uploads: Uploads = {
    holder: holderOf(request),
    disk,
    declaredBytes: Number(request.headers['content-length'] ?? 0),
    paths: [],
    isInUse: false,
    closing: new AbortController(),
  };
  uploadsOf.set(request, uploads);
  whenClosed(reply, () => {
    uploads.closing.abort();
    if (!uploads.isInUse) void deleteFiles(uploads);
  });
  return uploads;
}

/** Runs a handler. The files stay until it has ended, even if the client disconnects. */
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

/** All files that are on disk now. They are deleted when the process exits. Of one that is killed, abandoned-uploads.ts deletes them. */
const onDisk = new Set<string>();
process.once('exit', () => {
  for (const path of onDisk) {
    try {
      rmSync(path, { force: true });
    } catch {
      // The folder is gone or read-only. Other files may still be deleted.
    }
  }
});

async function deleteFiles(uploads: Uploads): Promise<void> {
  await Promise.all(
    uploads.paths.splice(0).map((path) =>
      rm(path, { force: true }).then(
        () => onDisk.delete(path),
        // A file that cannot be deleted does not fail a request that has succeeded. It keeps its space, and the end of the process tries again.
        () => uploads.paths.push(path),
      ),
    ),
  );
  if (!uploads.current && uploads.paths.length === 0) uploads.space?.free();
}

/**
 * Writes a file to disk.
 * @throws ApiError body_too_large when it exceeds the operation's limit; overloaded when too many files are on disk
 */
export async function spool(
  uploads: Uploads,
  { file, filename }: MultipartFile,
  operation: Operation,
): Promise<UploadedFile> {
  const path = newUploadPath();
  const space = (uploads.space ??= openSpoolSpace(uploads.disk, uploads.holder, uploads.declaredBytes));
  onDisk.add(path);
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  uploads.current = file;
  let taken = Promise.resolve();
  const take = (bytes: number) => {
    taken = space.take(bytes);
    // The pipeline ends with this error.
    taken.catch((error: unknown) => target.destroy(error as Error));
  };
  try {
    // An empty file, too, needs what was declared.
    take(0);
    file.on('data', ({ length }: Buffer) => take(length));
    await pipeline(file, target);
    await taken;
  } finally {
    // Wait for the close, otherwise the file could be opened after it was deleted. If the source had already failed, the
    // pipeline leaves its target open.
    target.destroy();
    if (!target.closed) await new Promise<void>((resolve) => target.once('close', () => resolve()));
    uploads.current = undefined;
    uploads.paths.push(path);
    if (uploads.closing.signal.aborted) await deleteFiles(uploads);
  }
  if (file.truncated) throw fileTooLarge(operation);
  return { path, name: filename, sizeBytes: target.bytesWritten, closed: uploads.closing.signal };
}
