import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Bundle } from '../contract/bundle.js';

/** The contract, rendered at /docs from files of our own dependencies: no CDN, no validator service. */
export async function registerReference(app: FastifyInstance, bundle: Bundle): Promise<void> {
  // as: the plugin's type is of OpenAPI 3.0; its static mode hands the document on untouched
  await app.register(swagger, { mode: 'static', specification: { document: bundle as never } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { validatorUrl: null, docExpansion: 'list', deepLinking: true, defaultModelsExpandDepth: 0 },
    theme: { title: 'Crossdock API reference' },
  });
}
