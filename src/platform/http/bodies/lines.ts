import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyRouteSchemaDef, FastifyValidationResult } from 'fastify/types/schema.js';
import type { SafePromiseLike } from 'fastify/types/type-provider.js';
import type { Schema } from '../../contract/bundle.js';
import { toFieldErrors } from '../../contract/field-errors.js';
import { NDJSON, type LimitReading, type Lines, type Operation } from '../../contract/types.js';
import { ApiError, invalidFieldError } from '../../errors/errors.js';
import type { BulkLimits } from '../../limits/bulk-limits.js';
import { pauseWhenDue } from '../../concurrency/pause-when-due.js';
import { assertActionDeclared } from './undeclared-action.js';
import { formatBytes } from './body-limits.js';
import { readBytes } from './read-bytes.js';
import { parseJson } from './text.js';

/** A body of lines before they are parsed. */
export type SentLines = {
  /** Hash of the body's bytes. */
  sha256: string;
  /** The size of the body. */
  sizeBytes: number;
  /** The lines that are not empty. */
  lines: { number: number; bytes: Buffer }[];
  operation: Operation;
  limitParsing: LimitReading;
  limit: LimitReading;
  /** Whether nobody waits for the response. */
  isAbandoned: () => boolean;
};

/** Reading so few lines takes a millisecond or two, so they wait for no other body. */
const LIGHT = { lines: 10, bytes: 16 * 1024 };

/**
 * Registers the parser of bodies that have one JSON object per line. It only splits the lines.
 *
 * @param limitLines runs the steps of reading a body
 */
export function registerLines(app: FastifyInstance, limitLines: BulkLimits['limitLines']): void {
  app.addContentTypeParser(NDJSON, (request: FastifyRequest, payload: Readable) =>
    readLines(request, payload, limitLines),
  );
}

async function readLines(
  request: FastifyRequest,
  payload: Readable,
  limitLines: BulkLimits['limitLines'],
): Promise<SentLines | undefined> {
  const { operation, caller, raw } = request;
  const limits = operation?.lineLimits;
  if (!operation || !limits || !caller || caller.kind === 'user')
    throw new Error('The operation takes no lines.');
  const hash = createHash('sha256');
  const bytes = await readBytes(request, payload, {
    maxBytes: limits.maxBodyBytes,
    tooLarge: () => linesTooLarge(limits.maxBodyBytes),
    onChunk: (chunk) => hash.update(chunk),
  });
  const lines = await splitLines(bytes, limits);
  // Like no body.
  if (lines.length === 0) return undefined;
  const isLight = lines.length <= LIGHT.lines && bytes.length <= LIGHT.bytes;
  return {
    sha256: hash.digest('hex'),
    sizeBytes: bytes.length,
    lines,
    operation,
    limitParsing: (parse) => (isLight ? parse() : limitLines(caller, 'parse', parse)),
    limit: (read) => (isLight ? read() : limitLines(caller, 'read', read)),
    isAbandoned: () => raw.socket.destroyed,
  };
}

export const linesTooLarge = (maxBodyBytes: number): ApiError =>
  new ApiError('body_too_large', { variant: 'lines', args: { limit: formatBytes(maxBodyBytes) } });

const LF = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const [SPACE, TAB, CR] = [0x20, 0x09, 0x0d];

type LineLimits = NonNullable<Operation['lineLimits']>;

/** @throws ApiError validation_failed for more than `maxLines` lines, empty ones included */
async function splitLines(
  bytes: Buffer,
  { maxLines, maxLineBytes }: LineLimits,
): Promise<SentLines['lines']> {
  const lines: SentLines['lines'] = [];
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  let number = 0;
  for (let start = hasMark ? BYTE_ORDER_MARK.length : 0; start < bytes.length;) {
    await pauseWhenDue();
    if (number === maxLines) throw invalidFieldError('body', 'too_many_lines', { limit: maxLines });
    number += 1;
    const feed = bytes.indexOf(LF, start);
    const end = feed === -1 ? bytes.length : feed;
    const line = bytes.subarray(start, end);
    if (line.length > maxLineBytes || !isBlank(line)) lines.push({ number, bytes: line });
    start = end + 1;
  }
  return lines;
}

function isBlank(line: Buffer): boolean {
  // An iterator takes ten times as long: 40 ms for a body of spaces.
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at];
    if (byte !== SPACE && byte !== TAB && byte !== CR) return false;
  }
  return true;
}

type RouteSchema = FastifyRouteSchemaDef<Schema> & { contentType?: string };
type Compile = (route: RouteSchema) => FastifyValidationResult;

/**
 * Adds bodies of lines to a validator compiler: each line is parsed and validated like a JSON body of the operation. A line
 * that fails gets its error and does not affect the others.
 */
export const withLines =
  (compile: Compile): Compile =>
  (route) => {
    if (route.contentType !== NDJSON) return compile(route);
    const validate = compile({ ...route, contentType: 'application/json' });
    return (body: SentLines) => {
      const read: PromiseLike<boolean> = body.limitParsing(() => parseLines(body, validate));
      // Fastify's type only adds a mark for its linter.
      return read as SafePromiseLike<boolean>;
    };
  };

/** Replaces the lines of the body, because Fastify takes no other body from an asynchronous validator. */
async function parseLines(body: SentLines, validate: FastifyValidationResult): Promise<boolean> {
  const lines: Lines<unknown>['lines'] = [];
  for (const line of body.lines) {
    await pauseWhenDue();
    // Its client gets no response.
    if (body.isAbandoned()) throw new ApiError('malformed_request');
    lines.push(readLine(line, body.operation, validate));
  }
  Object.assign(body, { lines });
  return true;
}

function readLine(
  { number, bytes }: SentLines['lines'][number],
  operation: Operation,
  validate: FastifyValidationResult,
): Lines<unknown>['lines'][number] {
  try {
    const limit = operation.lineLimits?.maxLineBytes ?? 0;
    if (bytes.length > limit)
      throw new ApiError('body_too_large', { variant: 'line', args: { limit: formatBytes(limit) } });
    const value = parseJson(bytes);
    assertActionDeclared({ query: {}, body: value }, NDJSON, operation);
    assertValid(validate, value, operation);
    return { number, value };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { number, error };
  }
}

function assertValid(validate: FastifyValidationResult, value: unknown, { actions }: Operation): void {
  // The compiler of JSON bodies returns true, or the errors of Ajv.
  const result = validate(value) as true | { error: { validation: Parameters<typeof toFieldErrors>[0] } };
  if (result === true) return;
  throw new ApiError('validation_failed', { errors: toFieldErrors(result.error.validation, actions) });
}
