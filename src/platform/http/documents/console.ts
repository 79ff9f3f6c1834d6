import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { projectRoot } from '../../../config/project-root.js';
import { COMPRESSED, contentPolicy, serveFiles } from './served-files.js';

const BUILT = join(projectRoot, 'dist', 'console');
const ASSETS = '/console/assets/';
/** The service worker. Its own folder would limit it to addresses below /console/, without the page itself. */
const WORKER = '/console/worker.js';

/** Labels are printed from a frame with a file that the page has downloaded. */
const POLICY = contentPolicy(
  "'self'",
  "worker-src 'self'",
  'frame-src blob:',
  "require-trusted-types-for 'script'",
);

/** The names of these files contain a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Serves the console: the files that the build made from console/. Returns the paths. */
export async function registerConsole(app: FastifyInstance): Promise<string[]> {
  const page = join(BUILT, 'index.html');
  const names = (await readdir(join(BUILT, 'assets'))).filter((name) => !name.endsWith(COMPRESSED));
  // The build wrote it. The lists and objects of these pages have addresses below them.
  const pages = JSON.parse(await readFile(join(BUILT, 'pages.json'), 'utf8')) as string[];
  const files = [
    { url: '/console', file: page },
    { url: '/console/', file: page },
    ...pages.flatMap((name) =>
      [`/console/${name}`, `/console/${name}/*`].map((url) => ({ url, file: page })),
    ),
    { url: WORKER, file: join(BUILT, 'worker.js') },
    ...names.map((name) => ({ url: ASSETS + name, file: join(BUILT, 'assets', name) })),
  ];
  return serveFiles(app, files, {
    cachingOf: (url) => (url.startsWith(ASSETS) ? FOR_EVER : 'no-cache'),
    headersOf: (url) => ({
      'content-security-policy': POLICY,
      ...(url === WORKER ? { 'service-worker-allowed': '/console' } : {}),
    }),
  });
}
