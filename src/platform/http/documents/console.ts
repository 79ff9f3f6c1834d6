import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { projectRoot } from '../../../config/project-root.js';
import type { StaticDocument } from '../../contract/types.js';
import { sendHttpResponse } from '../replies/responses.js';
import { DOCUMENT_METHODS, makeDocument, toDocumentResponse } from './static-documents.js';

const BUILT = join(projectRoot, 'dist', 'console');
const ASSETS = '/console/assets/';
/** The service worker. Its own folder would limit it to addresses below /console/, without the page itself. */
const WORKER = '/console/worker.js';

const MEDIA_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The page loads and calls only this host. Labels are printed from a frame with a file that the page has downloaded. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The names of these files contain a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * Serves the console: the files that the build made from console/. They are a fixed list in memory, as the documentation is.
 * Returns the paths.
 */
export async function registerConsole(app: FastifyInstance): Promise<string[]> {
  const documents = await readDocuments();
  for (const [url, document] of documents) {
    const caching = url.startsWith(ASSETS) ? FOR_EVER : 'no-cache';
    app.route({
      method: DOCUMENT_METHODS,
      url,
      handler: async (request, reply) => {
        const response = await toDocumentResponse(document, request.headers, caching);
        if (url === WORKER) void reply.header('service-worker-allowed', '/console');
        return sendHttpResponse(reply.header('content-security-policy', POLICY), response);
      },
    });
  }
  return [...documents.keys()];
}

async function readDocuments(): Promise<Map<string, StaticDocument>> {
  const page = await readDocument(join(BUILT, 'index.html'));
  const names = (await readdir(join(BUILT, 'assets'))).filter((name) => !name.endsWith(COMPRESSED));
  const assets = await Promise.all(
    names.map(async (name) => [ASSETS + name, await readDocument(join(BUILT, 'assets', name))] as const),
  );
  const worker = await readDocument(join(BUILT, 'worker.js'));
  return new Map([['/console', page], ['/console/', page], [WORKER, worker], ...assets]);
}

async function readDocument(file: string): Promise<StaticDocument> {
  const mediaType = MEDIA_TYPES[extname(file)];
  if (mediaType === undefined) throw new Error(`The console has no media type for ${file}.`);
  const isCompressed = existsSync(file + COMPRESSED);
  return makeDocument(
    mediaType,
    await readFile(file),
    isCompressed ? await readFile(file + COMPRESSED) : undefined,
  );
}

/** The build compresses the scripts and styles with the best quality, which takes seconds. */
const COMPRESSED = '.br';
