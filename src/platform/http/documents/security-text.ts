import type { FastifyInstance } from 'fastify';
import { DOCUMENT_METHODS } from './static-documents.js';

const PATH = '/.well-known/security.txt';
/** RFC 9116 recommends less than a year. The date moves with each day, as long as the service runs. */
const VALID_DAYS = 90;
const DAY_MS = 86_400_000;

/**
 * Serves where to report a vulnerability (RFC 9116), if the settings name a contact. Returns the paths.
 *
 * @param contacts `mailto:` or `https:` URLs
 */
export function registerSecurityText(app: FastifyInstance, contacts: string[]): string[] {
  if (contacts.length === 0) return [];
  app.route({
    method: DOCUMENT_METHODS,
    url: PATH,
    handler: async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send(securityText(contacts, new Date())),
  });
  return [PATH];
}

function securityText(contacts: string[], now: Date): string {
  const expires = new Date((Math.floor(now.getTime() / DAY_MS) + VALID_DAYS) * DAY_MS);
  const lines = contacts.map((contact) => `Contact: ${contact}`);
  return [...lines, `Expires: ${expires.toISOString()}`, 'Preferred-Languages: en', ''].join('\n');
}
