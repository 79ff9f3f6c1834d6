import type { FastifyReply, FastifyRequest } from 'fastify';

/** Whether a person opened the address in a browser. Programs that accept anything get the JSON of the contract. */
function isForPeople({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && !/^\/api([/?]|$)/i.test(url) && (headers.accept ?? '').toLowerCase().includes('text/html');
}

/** The page loads the style of the documentation, and nothing from other hosts. */
const POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const NOT_FOUND = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>Page not found · Crossdock</title>
    <link rel="icon" href="/docs/static/favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/docs/static/site.css" />
  </head>
  <body>
    <main>
      <h1>Page not found</h1>
      <p>This address does not exist. Check it, or go on with one of these pages:</p>
      <ul>
        <li><a href="/console">Console</a>, for the warehouse and for couriers</li>
        <li><a href="/docs/guide">User guide</a>, for people who work with the console</li>
        <li><a href="/docs">Documentation</a>, for developers</li>
      </ul>
      <p lang="es">Esta página no existe. <a href="/console">Ir a la consola</a> o a la <a href="/docs/es/guide">guía de uso</a>.</p>
    </main>
  </body>
</html>
`;

/**
 * Responds to a person who opened an address that does not exist: the start page leads to the console, any other to a page with links.
 * Returns undefined for programs.
 */
export function respondToPerson(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  if (!isForPeople(request)) return undefined;
  void reply.header('vary', 'accept').header('cache-control', 'no-store');
  if ((request.url.split('?')[0] ?? '') === '/') return reply.code(302).header('location', '/console').send();
  request.failureCode = 'route_not_found';
  return reply
    .code(404)
    .header('content-security-policy', POLICY)
    .header('content-type', 'text/html; charset=utf-8')
    .send(NOT_FOUND);
}
