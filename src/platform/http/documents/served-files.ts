import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { StaticDocument } from '../../contract/types.js';
import { sendHttpResponse } from '../replies/responses.js';
import { DOCUMENT_METHODS, makeDocument, toDocumentResponse } from './static-documents.js';

export type ServedFile = { url: string; file: string };

/** Their header Cache-Control, further headers, and the document for a request if it is not the same for all. */
type Serving = {
  cachingOf?: (url: string) => string;
  headersOf: (url: string) => Record<string, string>;
  variantsOf?: (url: string, document: StaticDocument) => (request: FastifyRequest) => StaticDocument;
};

const MEDIA_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.atom': 'application/atom+xml; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The build compresses the scripts and styles of the console with the best quality, which takes seconds. */
export const COMPRESSED = '.br';

/** A policy that allows this service's own files and calls to it, and nothing from other hosts. */
export const contentPolicy = (styles: string, ...more: string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...more,
  ].join('; ');

/**
 * Serves files. They are a fixed list in memory, so no path can reach another file and no request reads the disk. Returns the paths.
 */
export async function serveFiles(
  app: FastifyInstance,
  files: ServedFile[],
  { cachingOf = () => 'no-cache', headersOf, variantsOf = (_url, document) => () => document }: Serving,
): Promise<string[]> {
  const documents = await Promise.all(files.map(async ({ url, file }) => [url, await read(file)] as const));
  for (const [url, document] of documents) {
    const variantOf = variantsOf(url, document);
    app.route({
      method: DOCUMENT_METHODS,
      url,
      handler: async (request, reply) => {
        const response = await toDocumentResponse(variantOf(request), request.headers, cachingOf(url));
        return sendHttpResponse(reply.headers(headersOf(url)), response);
      },
    });
  }
  return files.map(({ url }) => url);
}

async function read(file: string): Promise<StaticDocument> {
  const mediaType = MEDIA_TYPES[extname(file) || file];
  if (mediaType === undefined) throw new Error(`There is no media type for ${file}.`);
  const brotli = existsSync(file + COMPRESSED) ? await readFile(file + COMPRESSED) : undefined;
  return makeDocument(mediaType, await readFile(file), brotli);
}
