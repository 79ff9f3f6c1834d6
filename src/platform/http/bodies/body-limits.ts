import type { FastifyRequest } from 'fastify';
import { assertAdmitted, type Db } from '../../db/transaction.js';
import type { Operation } from '../../contract/types.js';
import { ApiError } from '../../errors/errors.js';

/** The ceiling of every operation; the contract states less for most of them. */
export const JSON_BODY_BYTES = 1024 * 1024;

/** The largest file where the contract names no limit, and room for the boundaries and the fields around one. */
const FILE_BYTES = 10 * 1024 * 1024;
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** The largest body of an operation that is no form with files. */
export const bodyBytesOf = ({ maxBodyBytes }: Operation): number => maxBodyBytes ?? JSON_BODY_BYTES;

export const fileBytesOf = ({ maxFileBytes }: Operation): number => maxFileBytes ?? FILE_BYTES;

/** The largest multipart body of an operation. */
export const formBytesOf = (operation: Operation): number =>
  fileBytesOf(operation) + MULTIPART_OVERHEAD_BYTES;

export const bodyTooLarge = (operation: Operation): ApiError =>
  new ApiError(
    'body_too_large',
    `The body is larger than ${formatBytes(bodyBytesOf(operation))}. Send less at once.`,
  );

export const fileTooLarge = (operation: Operation): ApiError =>
  new ApiError(
    'body_too_large',
    `The file is larger than ${formatBytes(fileBytesOf(operation))}. Send a smaller one.`,
  );

const formatBytes = (bytes: number): string =>
  bytes % JSON_BODY_BYTES === 0 ? `${bytes / JSON_BODY_BYTES} MiB` : `${bytes / 1024} KiB`;

/** A body up to this size is cheaper to read than the round trip that asks whether the caller may enter. */
const CHECKED_FIRST_BYTES = 16 * 1024;

/**
 * Asks the database whether the caller may enter before a large body is read. Ordinary bodies are read first: there
 * the account is checked in the round trip that does the work.
 *
 * @throws ApiError token_invalid, token_expired, account_disabled or key_invalid when the caller may not enter
 */
export async function admitBeforeLargeBody(request: FastifyRequest, db: Db): Promise<void> {
  // a form of any size: its files would be written to disk
  if (request.caller && (isLarge(request) || isForm(request))) await assertAdmitted(db, request.caller);
}

/** Of a body in chunks only the reading would tell the size. */
export const isLarge = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > CHECKED_FIRST_BYTES;

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^\s*multipart\//i.test(headers['content-type'] ?? '');
