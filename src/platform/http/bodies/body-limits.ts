import type { FastifyRequest } from 'fastify';
import { NDJSON, type Operation } from '../../contract/types.js';
import { ApiError } from '../../errors/errors.js';

/** The maximum for any operation. The contract defines a lower limit for most of them. */
export const JSON_BODY_BYTES = 1024 * 1024;

/** The file size limit where the contract defines none, and the space for boundaries and other fields. */
const FILE_BYTES = 10 * 1024 * 1024;
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** Returns the body limit of an operation, except for multipart forms. */
export const bodyBytesOf = ({ maxBodyBytes }: Operation): number => maxBodyBytes ?? JSON_BODY_BYTES;

export const fileBytesOf = ({ maxFileBytes }: Operation): number => maxFileBytes ?? FILE_BYTES;

/** Returns the limit of an operation's multipart body. */
export const formBytesOf = (operation: Operation): number =>
  fileBytesOf(operation) + MULTIPART_OVERHEAD_BYTES;

export const bodyTooLarge = (operation: Operation): ApiError =>
  new ApiError('body_too_large', {
    variant: operation.lineLimits ? 'one_or_lines' : 'default',
    args: { limit: formatBytes(bodyBytesOf(operation)) },
  });

export const fileTooLarge = (operation: Operation): ApiError =>
  new ApiError('body_too_large', { variant: 'file', args: { limit: formatBytes(fileBytesOf(operation)) } });

export const formatBytes = (bytes: number): string =>
  bytes % JSON_BODY_BYTES === 0 ? `${bytes / JSON_BODY_BYTES} MiB` : `${bytes / 1024} KiB`;

/** Up to this size, reading the body costs less than an extra round trip to check the account. */
const LARGE_BODY_BYTES = 16 * 1024;

/**
 * Checks the caller's account before a large body is read. For small bodies, the account is checked in the round trip that
 * does the work.
 *
 * @throws ApiError token_invalid, token_expired, account_disabled or key_invalid
 */
export async function admitBeforeLargeBody(request: FastifyRequest): Promise<void> {
  // A form of any size, because its files would be written to disk. Lines too, because reading them takes long, and those of a wrong
  // key would take the turn of others.
  if (request.caller && (isLarge(request) || isForm(request) || hasLines(request)))
    await request.context?.assertAdmitted();
}

/** Returns whether a body is large. The size of a chunked body is unknown, so it counts as large if its operation takes large ones. */
export const isLarge = ({ headers, operation }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0) > LARGE_BODY_BYTES
    : !operation || bodyBytesOf(operation) > LARGE_BODY_BYTES;

const hasLines = ({ headers }: FastifyRequest): boolean =>
  headers['content-type']?.trimStart().toLowerCase().startsWith(NDJSON) === true;

export const isForm = ({ headers }: FastifyRequest): boolean =>
  /^\s*multipart\//i.test(headers['content-type'] ?? '');
