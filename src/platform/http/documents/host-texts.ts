import { LRUCache } from 'lru-cache';
import type { FastifyRequest } from 'fastify';
import type { StaticDocument } from '../../contract/types.js';
import { makeDocument } from './static-documents.js';

/** The host of the samples. Pages in HTML replace it in the browser. */
const PLACEHOLDER = 'https://demo.crossdock.example';

/** A host name or an address, with or without a port. Anything else does not become part of a document. */
const HOST = /^([a-z0-9-]+(\.[a-z0-9-]+)*\.?|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;
const MAX_HOST_CHARACTERS = 260;

/** An installation has a few hosts. More of them replace each other, so that made-up hosts do not fill the memory. */
const MAX_VARIANTS = 8;

/** Returns a function that returns the document with the host of a request in its samples. */
export function hostVariants(document: StaticDocument): (request: FastifyRequest) => StaticDocument {
  const text = document.bytes.toString();
  if (!text.includes(PLACEHOLDER)) return () => document;
  const variants = new LRUCache<string, StaticDocument>({
    max: MAX_VARIANTS,
    memoMethod: (origin) =>
      makeDocument(document.mediaType, Buffer.from(text.replaceAll(PLACEHOLDER, origin))),
  });
  return (request) => {
    const origin = originOf(request);
    return origin === undefined ? document : variants.memo(origin);
  };
}

/** Only `Host` names the host, as for tenants. `X-Forwarded-Host` could come from the client. */
function originOf({ headers, isSecure }: FastifyRequest): string | undefined {
  const host = headers.host ?? '';
  if (host.length > MAX_HOST_CHARACTERS || !HOST.test(host)) return undefined;
  return `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`;
}
