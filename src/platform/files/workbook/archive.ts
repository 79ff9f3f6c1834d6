import { crc32 } from 'node:zlib';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { MAX_EXPANDED_BYTES, MAX_PARTS } from './bounds.js';
import { damaged, tooLarge, WorkbookError } from './problem.js';

/** The parts of a workbook. All bytes that are read of them count towards one limit, however often a part is read. */
export type Archive = {
  has(path: string): boolean;
  /**
   * Passes the bytes of a part to `take` until it returns false.
   * @throws WorkbookError for a missing, damaged or too large part
   */
  read(path: string, take: (bytes: Buffer) => boolean): Promise<void>;
  close(): void;
};

/** Opens a ZIP file by its central directory. @throws WorkbookError */
export async function openArchive(path: string): Promise<Archive> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(() => {
    throw damaged();
  });
  try {
    const parts = await listParts(zip);
    const budget = { bytes: MAX_EXPANDED_BYTES };
    return {
      has: (name) => parts.has(nameOf(name)),
      read: (name, take) => readPart(zip, parts.get(nameOf(name)), budget, take),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Names of parts are compared without case (ECMA-376, part 2). */
const nameOf = (name: string): string => name.toLowerCase();

async function listParts(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > MAX_PARTS) throw tooLarge('parts');
  const parts = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.isEncrypted()) throw new WorkbookError('workbook_locked');
      const name = nameOf(entry.fileName);
      // Programs differ in which of two parts they read.
      if (parts.has(name)) throw damaged();
      parts.set(name, entry);
    }
  } catch (error) {
    throw toWorkbookError(error);
  }
  return parts;
}

async function readPart(
  zip: ZipFile,
  entry: Entry | undefined,
  budget: { bytes: number },
  take: (bytes: Buffer) => boolean,
): Promise<void> {
  if (!entry) throw damaged();
  // Before anything is expanded. yauzl ends the stream at the declared size.
  if (entry.uncompressedSize > budget.bytes) throw tooLarge('expanded');
  let sum = 0;
  try {
    const stream = await zip.openReadStreamPromise(entry);
    // A stream without an encoding yields Buffers.
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      budget.bytes -= bytes.length;
      sum = crc32(bytes, sum);
      if (!take(bytes)) return;
    }
  } catch (error) {
    throw toWorkbookError(error);
  }
  if (sum !== entry.crc32) throw damaged();
}

/** Errors of yauzl and zlib are about the file; errors in our code have other types. */
function toWorkbookError(error: unknown): unknown {
  const isOurs = error instanceof WorkbookError || error instanceof TypeError || error instanceof RangeError;
  return isOurs ? error : damaged();
}
