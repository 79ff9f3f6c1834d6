import { LRUCache } from 'lru-cache';
import type { FastifyRequest } from 'fastify';
import type { StaticDocument } from '../../contract/types.js';
import { makeDocument } from './static-documents.js';

/** The host of the samples. Pages in HTML replace it in the browser. */
const PLACEHOLDER = 'https://demo.crossdock.example';

/** A host name or an address, with or without a port. Anything else does not become part of a document. */
const HOST = /^([a-z0-9-]+(\.[a-z0-9-]+)*\.?|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;
const MAX_HOST_CHARACTERS = 260;
const MAX_ORIGIN_CHARACTERS = MAX_HOST_CHARACTERS + 'https://'.length;

/** What the variants of all documents may take. Those of one host take a tenth. */
const MAX_VARIANT_BYTES = 32 * 2 ** 20;
const IDLE_MS = 10 * 60_000;

type Variants = (request: FastifyRequest) => StaticDocument;

/**
 * Returns a function that makes the variants of a document: the document with the host of a request in its samples. A variant is copied,
 * hashed and compressed once, and anybody can make up hosts. So while the variants take 32 MiB, further hosts get the document as it is,
 * and a variant makes room when nobody has read it for 10 minutes.
 */
export function makeHostVariants(): (url: string, document: StaticDocument) => Variants {
  const kept = new LRUCache<string, StaticDocument>({
    maxSize: MAX_VARIANT_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
  });
  return (url, document) => {
    const text = document.bytes.toString();
    if (!text.includes(PLACEHOLDER)) return () => document;
    const places = text.split(PLACEHOLDER).length - 1;
    const largest = document.bytes.length + places * MAX_ORIGIN_CHARACTERS;
    const hasRoom = () => {
      if (kept.calculatedSize + largest > MAX_VARIANT_BYTES) kept.purgeStale();
      return kept.calculatedSize + largest <= MAX_VARIANT_BYTES;
    };
    return (request) => {
      const origin = originOf(request);
      if (origin === undefined) return document;
      const key = `${url} ${origin}`;
      const known = kept.get(key);
      if (known || !hasRoom()) return known ?? document;
      const variant = makeDocument(document.mediaType, Buffer.from(text.replaceAll(PLACEHOLDER, origin)));
      kept.set(key, variant);
      return variant;
    };
  };
}

/** Only `Host` names the host, as for tenants. `X-Forwarded-Host` could come from the client. */
function originOf({ headers, isSecure }: FastifyRequest): string | undefined {
  const host = headers.host ?? '';
  if (host.length > MAX_HOST_CHARACTERS || !HOST.test(host)) return undefined;
  return `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`;
}
