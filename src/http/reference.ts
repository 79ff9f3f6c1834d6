import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Bundle } from '../contract/bundle.js';

// The page's own files, inline styles of its icons, and calls to this very service; nothing from elsewhere.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The contract, rendered at /docs from files of our own dependencies: no CDN, no validator service. */
export async function registerReference(app: FastifyInstance, bundle: Bundle): Promise<void> {
  // as: the plugin's type is of OpenAPI 3.0; its static mode hands the document on untouched
  await app.register(swagger, { mode: 'static', specification: { document: hereOnly(bundle) as never } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    transformStaticCSP: () => POLICY,
    uiConfig: { validatorUrl: null, docExpansion: 'list', deepLinking: true, defaultModelsExpandDepth: 0 },
    theme: {
      title: 'Crossdock API reference',
      // a bar with another project's logo and a box for other documents
      css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
    },
  });
}

/** "Try it out" calls the instance that served the page, the only one that its policy allows. */
const hereOnly = (bundle: Bundle) => ({ ...bundle, servers: [{ url: '/', description: 'This instance' }] });
