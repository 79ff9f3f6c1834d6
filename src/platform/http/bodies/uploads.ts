import { createWriteStream, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation, UploadedFile } from '../../contract/types.js';
import type { Caller } from '../../identity/callers.js';
import { newId } from '../../values/ids.js';
import { fileTooLarge } from './body-limits.js';
import { openSpace, type Space } from '../../limits/spool-space.js';

/** The uploaded files of a request. The multipart plugin's own files are deleted while a handler may still read them. */
export type Uploads = {
  /** Whose share of the disk the files take. */
  holder: string;
  paths: string[];
  /** The file that is being written. */
  current?: Readable | undefined;
  isInUse: boolean;
  isAbandoned: boolean;
};

const uploadsOf = new WeakMap<FastifyRequest, Uploads>();

export function trackUploads(request: FastifyRequest, reply: FastifyReply): Uploads {
  const uploads: Uploads = {
    holder: holderOf(request.caller),
    paths: [],
    isInUse: false,
    isAbandoned: false,
  };
  uploadsOf.set(request, uploads);
  // Emitted once: after the response, or when the client disconnects.
  reply.raw.once('close', () => {
    uploads.isAbandoned = true;
    if (!uploads.isInUse) void deleteFiles(uploads);
  });
  return uploads;
}

/** All users of a courier share its space. */
function holderOf(caller: Caller | undefined): string {
  if (caller?.kind === 'user') return `${caller.tenantId} ${caller.courierId ?? caller.userId}`;
  return caller?.kind === 'key' ? caller.keyHash : '';
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

/** All files that are on disk now, with the space that they take. They are deleted when the process exits. */
const onDisk = new Map<string, Space>();
process.once('exit', () => {
  for (const path of onDisk.keys()) {
    try {
      rmSync(path, { force: true });
    } catch {
      // The folder is gone or read-only. Other files may still be deleted.
    }
  }
});

async function deleteFiles({ paths }: Uploads): Promise<void> {
  await Promise.all(
    paths.splice(0).map(async (path) => {
      // A file that cannot be deleted does not fail a request that has succeeded. The end of the process tries again.
      await rm(path, { force: true }).then(
        () => forget(path),
        () => undefined,
      );
    }),
  );
}

function forget(path: string): void {
  onDisk.get(path)?.free();
  onDisk.delete(path);
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
  const path = join(tmpdir(), `crossdock-${process.pid}-${newId()}`);
  const space = openSpace(uploads.holder);
  onDisk.set(path, space);
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  uploads.current = file;
  try {
    file.on('data', (chunk: Buffer) => {
      try {
        space.take(chunk.length);
      } catch (error) {
        // The pipeline ends with this error.
        target.destroy(error as Error);
      }
    });
    await pipeline(file, target);
  } finally {
    // Wait for the close, otherwise the file could be opened after it was deleted. If the source had already failed, the
    // pipeline leaves its target open.
    target.destroy();
    if (!target.closed) await new Promise<void>((resolve) => target.once('close', () => resolve()));
    uploads.current = undefined;
    uploads.paths.push(path);
    if (uploads.isAbandoned) await deleteFiles(uploads);
  }
  if (file.truncated) throw fileTooLarge(operation);
  return { path, name: filename, sizeBytes: target.bytesWritten };
}
