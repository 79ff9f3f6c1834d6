import { sampleRequests } from '../../../scripts/contract/samples/sample-requests.js';
import { png } from '../readers/pictures.js';
import { bundle } from '../service/contract.js';

export type NamedFile = { name: string; type: string; file: Buffer };

/** The files that the samples upload, by name. The contract's examples contain the text of each CSV file. */
export const sampleFiles = new Map<string, NamedFile>(
  sampleRequests(bundle)
    .flatMap(({ body }) => (body?.type === 'multipart' ? body.files : []))
    .map(({ fileName, contentType, text }) => [
      fileName,
      { name: fileName, type: contentType, file: contentType === 'image/png' ? png() : Buffer.from(text) },
    ]),
);
