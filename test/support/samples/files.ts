import { sampleRequests } from '../../../scripts/contract/samples/sample-requests.js';
import { png } from '../readers/pictures.js';
import { bundle } from '../service/contract.js';

export type NamedFile = { name: string; type: string; file: Buffer };

/** Of the types that the examples cannot contain. */
const FILES: Record<string, Buffer> = {
  'image/png': png(),
  'application/pdf': Buffer.from('%PDF-1.7\n%%EOF\n'),
};

/** The files that the samples upload, by name. The contract's examples contain the text of each CSV file. */
export const sampleFiles = new Map<string, NamedFile>(
  sampleRequests(bundle)
    .flatMap(({ body }) => (body?.type === 'multipart' ? body.files : []))
    .map(({ fileName, contentType, text }) => [
      fileName,
      { name: fileName, type: contentType, file: FILES[contentType] ?? Buffer.from(text) },
    ]),
);
