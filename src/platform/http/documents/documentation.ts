import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { projectRoot } from '../../../config/project-root.js';
import { makeHostVariants } from './host-texts.js';
import { contentPolicy, serveFiles, type ServedFile } from './served-files.js';

const SITE = join(projectRoot, 'generated', 'site');
/** The styles, scripts and pictures of the pages, which are not generated. */
const ASSETS = join(projectRoot, 'docs', 'site', 'assets');
const REFERENCE_DOCUMENT = join(projectRoot, 'generated', 'reference.json');

const POLICY = contentPolicy("'self'");
/** The component of the reference writes its own style elements. */
const REFERENCE = '/docs/reference';
const REFERENCE_POLICY = contentPolicy("'self' 'unsafe-inline'");

/** Serves the documentation: the pages that `npm run generate` made, and the files that they load. Returns the paths. */
export async function registerDocumentation(app: FastifyInstance): Promise<string[]> {
  const [site, assets] = await Promise.all([listSite(), listAssets()]);
  const files = [{ url: '/docs/json', file: REFERENCE_DOCUMENT }, ...site, ...assets, ...libraryFiles()];
  const variantsOf = makeHostVariants();
  return serveFiles(app, files, {
    headersOf: (url) => ({ 'content-security-policy': url === REFERENCE ? REFERENCE_POLICY : POLICY }),
    variantsOf: (url, document) => (isForPrograms(url) ? variantsOf(url, document) : () => document),
  });
}

/** Programs read these as they are. Pages in HTML have a script that replaces the host of the samples. */
const isForPrograms = (url: string) => /\.(md|txt|atom)$/.test(url) || url === '/docs/postman.json';

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
