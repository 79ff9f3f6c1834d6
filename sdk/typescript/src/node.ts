import { createReadStream, createWriteStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { Download } from './download.js';
import type { FileSource } from './upload.js';

/** A file on disk. It is read while it is sent, and again if the upload is retried. */
export function fileAt(path: string, type = 'application/octet-stream'): FileSource {
  return { name: basename(path), type, open: () => createReadStream(path) };
}

/** Writes a download to a file while it arrives, and again from its start if the connection breaks. */
export function saveTo(download: Download, path: string): Promise<void> {
  return download.whole(async (stream) => {
    // Node's types have their own name for the same class.
    await pipeline(Readable.fromWeb(stream as NodeReadableStream<Uint8Array>), createWriteStream(path));
  });
}
