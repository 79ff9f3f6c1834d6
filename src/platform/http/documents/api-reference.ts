import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Bundle } from '../../contract/bundle.js';
import type { StaticDocument } from '../../contract/types.js';
import { sendHttpResponse } from '../replies/responses.js';
import { toDocumentResponse, makeDocument } from './static-documents.js';
import { initializerOf, pageOf, THEME } from './reference-page.js';

// Allows the page's own files, inline styles of its icons and calls to this service, and nothing from other hosts.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

/** The files of @fastify/swagger-ui that the page loads. */
const FILES: Record<string, string> = {
  'swagger-ui.css': CSS,
  'index.css': CSS,
  'swagger-ui-bundle.js': JAVASCRIPT,
  'swagger-ui-standalone-preset.js': JAVASCRIPT,
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
};

/**
 * Serves the API reference at /docs from files in node_modules, without a CDN or a validator service. The pages are a fixed
 * list in memory, so no path can reach another file and no request reads the disk.
 */
export async function registerReference(app: FastifyInstance, bundle: Bundle): Promise<void> {
  for (const [url, page] of await readPages(bundle)) {
    app.get(url, async (request, reply) => {
      const response = await toDocumentResponse(page, request.headers);
      return sendHttpResponse(reply.header('content-security-policy', POLICY), response);
    });
  }
}

async function readPages(bundle: Bundle): Promise<Map<string, StaticDocument>> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static');
  const pages = new Map([
    // Without the trailing slash, relative URLs resolve one level higher.
    ['/docs', makeDocument('text/html; charset=utf-8', pageOf('docs/static'))],
    ['/docs/', makeDocument('text/html; charset=utf-8', pageOf('static'))],
    [
      '/docs/json',
      makeDocument('application/json; charset=utf-8', JSON.stringify(withThisInstanceOnly(bundle))),
    ],
    ['/docs/static/swagger-initializer.js', makeDocument(JAVASCRIPT, initializerOf())],
    ['/docs/static/theme.css', makeDocument(CSS, THEME)],
  ]);
  for (const [name, mediaType] of Object.entries(FILES))
    pages.set(`/docs/static/${name}`, makeDocument(mediaType, await readFile(join(folder, name))));
  return pages;
}

/** Replaces the servers by this instance: "Try it out" can only call it, because of the content security policy. */
const withThisInstanceOnly = (bundle: Bundle) => ({
  ...bundle,
  servers: [{ url: '/', description: 'This instance' }],
});
