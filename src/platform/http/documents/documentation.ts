import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { projectRoot } from '../../../config/project-root.js';
import type { StaticDocument } from '../../contract/types.js';
import { sendHttpResponse } from '../replies/responses.js';
import { hostVariants } from './host-texts.js';
import { DOCUMENT_METHODS, makeDocument, toDocumentResponse } from './static-documents.js';

const SITE = join(projectRoot, 'generated', 'site');
/** The styles, scripts and pictures of the pages, which are not generated. */
const ASSETS = join(projectRoot, 'docs', 'site', 'assets');
const REFERENCE_DOCUMENT = join(projectRoot, 'generated', 'reference.json');

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

/** Allows this service's own files and calls to it, and nothing from other hosts. */
const policyOf = (styles: string) =>
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
  ].join('; ');

const POLICY = policyOf("'self'");
/** The component of the reference writes its own style elements. */
const REFERENCE = '/docs/reference';
const REFERENCE_POLICY = policyOf("'self' 'unsafe-inline'");

/**
 * Serves the documentation: the pages that `npm run generate` made, and the files that they load. They are a fixed list in
 * memory, so no path can reach another file and no request reads the disk. Returns the paths.
 */
export async function registerDocumentation(app: FastifyInstance): Promise<string[]> {
  const documents = await readDocuments();
  for (const [url, document] of documents) {
    const policy = url === REFERENCE ? REFERENCE_POLICY : POLICY;
    const variantOf = isForPrograms(url) ? hostVariants(document) : () => document;
    app.route({
      method: DOCUMENT_METHODS,
      url,
      handler: async (request, reply) => {
        const response = await toDocumentResponse(variantOf(request), request.headers);
        return sendHttpResponse(reply.header('content-security-policy', policy), response);
      },
    });
  }
  return [...documents.keys()];
}

/** Programs read these as they are. Pages in HTML have a script that replaces the host of the samples. */
const isForPrograms = (url: string) => /\.(md|txt|atom)$/.test(url) || url === '/docs/postman.json';

async function readDocuments(): Promise<Map<string, StaticDocument>> {
  const [site, assets] = await Promise.all([listSite(), listAssets()]);
  const files = [{ url: '/docs/json', file: REFERENCE_DOCUMENT }, ...site, ...assets, ...libraryFiles()];
  const read = async ({ url, file }: ServedFile) =>
    [url, makeDocument(mediaTypeOfFile(file), await readFile(file))] as const;
  return new Map(await Promise.all(files.map(read)));
}

function mediaTypeOfFile(file: string): string {
  const mediaType = MEDIA_TYPES[extname(file) || file];
  if (mediaType === undefined) throw new Error(`The documentation has no media type for ${file}.`);
  return mediaType;
}

type ServedFile = { url: string; file: string };

async function listSite(): Promise<ServedFile[]> {
  const entries = await readdir(SITE, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((file) => urlsOf(relative(SITE, file).replaceAll('\\', '/')).map((url) => ({ url, file })));
}

async function listAssets(): Promise<ServedFile[]> {
  const names = await readdir(ASSETS);
  return names.map((name) => ({ url: `/docs/static/${name}`, file: join(ASSETS, name) }));
}

/** Returns the paths of a file of the site. HTML pages have no extension. */
function urlsOf(name: string): string[] {
  if (name.endsWith('.txt')) return [`/${name}`];
  if (name === 'index.html') return ['/docs', '/docs/'];
  return [`/docs/${name.replace(/\.html$/, '')}`];
}

/** The build of a package for require(), which is what `resolve` finds. */
const CJS = /cjs[/\\]index\.cjs$/;

/** The files of packages that the pages load. */
function libraryFiles(): ServedFile[] {
  const { resolve } = createRequire(import.meta.url);
  const scalar = dirname(resolve('@scalar/fastify-api-reference'));
  const inter = resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
  return [
    { url: '/docs/static/scalar.js', file: join(scalar, 'js/standalone.js') },
    { url: '/docs/static/inter.woff2', file: inter },
    { url: '/docs/static/minisearch.js', file: resolve('minisearch').replace(CJS, 'es/index.js') },
  ];
}
