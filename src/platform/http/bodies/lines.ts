import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyRouteSchemaDef, FastifyValidationResult } from 'fastify/types/schema.js';
import type { SafePromiseLike } from 'fastify/types/type-provider.js';
import type { Schema } from '../../contract/bundle.js';
import { toFieldErrors } from '../../contract/field-errors.js';
import { NDJSON, type Lines, type Operation } from '../../contract/types.js';
import { ApiError, invalidFieldError } from '../../errors/errors.js';
import { assertActionDeclared } from './undeclared-action.js';
import { formatBytes } from './body-limits.js';
import { parseJson } from './text.js';

/** A body of lines before they are parsed. */
export type SentLines = {
  /** Hash of the body's bytes. */
  sha256: string;
  /** The lines that are not empty. */
  lines: { number: number; bytes: Buffer }[];
  operation: Operation;
};

/** Registers the parser of bodies that have one JSON object per line. It only splits the lines. */
export function registerLines(app: FastifyInstance): void {
  app.addContentTypeParser(NDJSON, (request: FastifyRequest, payload: Readable) =>
    readLines(request.operation, payload),
  );
}

async function readLines(
  operation: Operation | undefined,
  payload: Readable,
): Promise<SentLines | undefined> {
  const limits = operation?.lineLimits;
  if (!operation || !limits) throw new Error('The operation takes no lines.');
  const { bytes, sha256 } = await readBytes(payload, limits.maxBodyBytes);
  const lines = splitLines(bytes, limits);
  // Like no body.
  return lines.length === 0 ? undefined : { sha256, lines, operation };
}

async function readBytes(
  payload: Readable,
  maxBodyBytes: number,
): Promise<{ bytes: Buffer; sha256: string }> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let length = 0;
  // A destroyed request would take the connection with it, and the client would lose the response.
  for await (const sent of payload.iterator({ destroyOnReturn: false })) {
    // A request's stream without an encoding yields Buffers.
    const chunk = sent as Buffer;
    length += chunk.length;
    if (length > maxBodyBytes) throw linesTooLarge(maxBodyBytes);
    chunks.push(chunk);
    hash.update(chunk);
  }
  return { bytes: Buffer.concat(chunks, length), sha256: hash.digest('hex') };
}

export const linesTooLarge = (maxBodyBytes: number): ApiError =>
  new ApiError('body_too_large', { variant: 'lines', args: { limit: formatBytes(maxBodyBytes) } });

const LF = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const [SPACE, TAB, CR] = [0x20, 0x09, 0x0d];

type LineLimits = NonNullable<Operation['lineLimits']>;

/** @throws ApiError validation_failed for more than `maxLines` lines, empty ones included */
function splitLines(bytes: Buffer, { maxLines, maxLineBytes }: LineLimits): SentLines['lines'] {
  const lines: SentLines['lines'] = [];
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  let number = 0;
  for (let start = hasMark ? BYTE_ORDER_MARK.length : 0; start < bytes.length;) {
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
      const read: PromiseLike<boolean> = parseLines(body, validate);
      // Fastify's type only adds a mark for its linter.
      return read as SafePromiseLike<boolean>;
    };
  };

/** Replaces the lines of the body, because Fastify takes no other body from an asynchronous validator. */
async function parseLines(body: SentLines, validate: FastifyValidationResult): Promise<boolean> {
  const lines: Lines<unknown>['lines'] = [];
  let pending = 0;
  for (const line of body.lines) {
    pending += line.bytes.length + LINE_COST_BYTES;
    if (pending > BYTES_PER_TURN) {
      await nextTurn();
      pending = 0;
    }
    lines.push(readLine(line, body.operation, validate));
  }
  Object.assign(body, { lines });
  return true;
}

/** About 5 ms of work, for the most expensive lines: one that fails costs as much as 1 KiB of values. */
const BYTES_PER_TURN = 64 * 1024;
const LINE_COST_BYTES = 1024;

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
