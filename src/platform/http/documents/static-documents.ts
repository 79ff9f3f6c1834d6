// Our own: @fastify/compress compresses a document again for each request. This does it once.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { StaticDocument } from '../../contract/types.js';
import type { HttpResponse } from '../replies/responses.js';

type Encoding = Parameters<StaticDocument['compress']>[0];

const COMPRESSORS: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  // Quality 11, the default, takes seconds for these sizes and saves only 10 % more.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/** Smaller documents are not compressed, because headers are most of their response. */
const MIN_COMPRESSED_BYTES = 1024;

/** The methods of the documentation's paths. */
export const DOCUMENT_METHODS = ['GET', 'HEAD'];

const shared = new WeakSet<Buffer>();

/** Returns whether all responses with this buffer share its memory. */
export const isShared = (bytes: Buffer): boolean => shared.has(bytes);

/** @param brotli the same bytes, compressed when the document was built */
export function makeDocument(mediaType: string, bytes: Buffer, brotli?: Buffer): StaticDocument {
  shared.add(bytes);
  let hash: string | undefined;
  const compressed = new Map<Encoding, Promise<Buffer>>();
  if (brotli) compressed.set('br', Promise.resolve(share(brotli)));
  return {
    mediaType,
    bytes,
    // On first use, because hashing all documents at the start takes longer than reading them.
    get hash() {
      return (hash ??= createHash('sha256').update(bytes).digest('base64url'));
    },
    compress(encoding) {
      // Compressed on first use, because most processes never need it.
      const found = compressed.get(encoding) ?? COMPRESSORS[encoding](bytes).then(share);
      compressed.set(encoding, found);
      return found;
    },
  };
}

function share(bytes: Buffer): Buffer {
  shared.add(bytes);
  return bytes;
}

/** Returns the response with the document, compressed if the client accepts it. */
export async function toDocumentResponse(
  document: StaticDocument,
  requestHeaders: IncomingHttpHeaders,
  cacheControl = 'no-cache',
): Promise<HttpResponse> {
  const { mediaType, bytes, hash } = document;
  const isCompressible = bytes.length >= MIN_COMPRESSED_BYTES && !mediaType.startsWith('font/');
  const encoding = isCompressible ? encodingFor(requestHeaders['accept-encoding']) : undefined;
  // A strong ETag identifies the bytes, so each encoding has its own.
  const etag = `"${hash}${encoding ? `-${encoding}` : ''}"`;
  const headers = { etag, 'cache-control': cacheControl, vary: 'accept-encoding' };
  return {
    statusCode: 200,
    headers: { ...headers, 'content-type': mediaType, ...(encoding ? { 'content-encoding': encoding } : {}) },
    payload: encoding ? await document.compress(encoding) : bytes,
  };
}

/** Returns the client's preferred encoding among br and gzip (RFC 9110, 12.5.3), or undefined. */
function encodingFor(header: string | string[] | undefined): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const item of [header ?? ''].flat().join(',').split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    weights.set(name, Number(weight));
  }
  const weightOf = (encoding: string) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const wanted = (['br', 'gzip'] as const).filter((encoding) => weightOf(encoding) > 0);
  return wanted.sort((a, b) => weightOf(b) - weightOf(a))[0];
}
