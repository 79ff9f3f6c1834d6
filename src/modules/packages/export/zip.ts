import { constants, crc32, deflateRawSync } from 'node:zlib';
import { unzipSync, Zip, type ZipInputFile } from 'fflate';

/** The contents of an archive by path. */
type Archive = Record<string, Uint8Array>;

export const readZip = (archive: Uint8Array): Archive => unzipSync(archive);

const DEFLATE = 8;

export function writeZip(archive: Archive): Buffer {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  for (const [filename, content] of Object.entries(archive)) {
    const file: ZipInputFile = { filename, size: content.length, crc: crc32(content), compression: DEFLATE };
    zip.add(file);
    // Compressed by Node, which takes a quarter of fflate's CPU time. A higher level takes up to three times as long
    // and saves at most a fifth of the size.
    const compressed = deflateRawSync(content, { level: constants.Z_BEST_SPEED });
    // The archive has set this callback when it took the file.
    if (!file.ondata) throw new Error(`${filename} was not added to the archive.`);
    file.ondata(null, compressed, true);
  }
  zip.end();
  return Buffer.concat(chunks);
}
