import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation, UploadedFile } from '../../contract/types.js';
import { ApiError, fieldError, invalidFieldError } from '../../errors/errors.js';
import { fileBytesOf, fileTooLarge } from './body-limits.js';
import { registerParser } from './body-parsers.js';
import { assertDecodableQuery, assertStorableText } from './text.js';
import type { Allotment } from '../../limits/shared/shared-limits.js';
import { trackUploads, spool, type Uploads } from './uploads.js';

export const MULTIPART = 'multipart/form-data';

/** Returns a body's media type without parameters. The authorization hook has already normalized all types but multipart. */
export const sentMediaType = (request: FastifyRequest): string | undefined =>
  request.isMultipart() ? MULTIPART : request.headers['content-type'];

const LIMITS = {
  files: 4,
  fields: 20,
  fieldSize: 16 * 1024,
  fieldNameSize: 100,
  parts: 24,
};

/** More fields than any form of the contract has; leaves room for unknown fields, which are ignored. */
const MAX_PAIRS = 100;

declare module 'fastify' {
  interface FastifyInstance {
    /** The space of uploaded files. */
    disk: Allotment;
  }
}

/** Registers the parsers of forms: urlencoded ones are parsed here, multipart ones by readForm. */
export async function registerForms(app: FastifyInstance, disk: Allotment): Promise<void> {
  app.decorate('disk', disk);
  registerParser(app, 'application/x-www-form-urlencoded', readUrlEncoded);
  await app.register(multipart, { limits: LIMITS });
}

// Our own: @fastify/formbody accepts repeated fields, any number of fields and invalid UTF-8.
/** @throws ApiError invalid_encoding, or validation_failed for too many fields or a repeated field */
function readUrlEncoded(bytes: Buffer): Form {
  const text = bytes.toString('latin1');
  // A form is encoded like a query, so bytes outside ASCII must be percent-encoded.
  if (/[^\x20-\x7e]/.test(text)) throw new ApiError('invalid_encoding', { variant: 'form' });
  // Count before parsing, because parsing 1 MiB of fields took 0.8 s.
  if (text.split('&', MAX_PAIRS + 1).length > MAX_PAIRS)
    throw invalidFieldError('body', 'too_many_fields', { limit: MAX_PAIRS });
  assertDecodableQuery(`?${text}`);
  const form = emptyForm();
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in form) throw invalidFieldError(name, 'sent_twice');
    form[name] = value;
  }
  assertStorableText({ ...form });
  return form;
}

type Form = Record<string, string | UploadedFile>;

// Without a prototype, a field named __proto__ is an ordinary field and is ignored like other unknown fields.
const emptyForm = (): Form => Object.create(null) as Form;

/**
 * Reads a multipart body: text fields, and files, which are stored on disk until the request has ended. Files that the
 * contract does not declare are discarded.
 *
 * @throws ApiError malformed_form, body_too_large, validation_failed, invalid_encoding
 */
export async function readForm(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
): Promise<Form> {
  const uploads = trackUploads(request, reply, request.server.disk);
  const deadline = startDeadline();
  try {
    const form = await Promise.race([readParts(request, operation, uploads), deadline.promise]);
    if (uploads.closing.signal.aborted) throw new ApiError('malformed_form');
    return form;
  } catch (error) {
    uploads.current?.destroy();
    throw toFormError(error, operation);
  } finally {
    deadline.stop();
    // Discard the rest of the body, otherwise the connection could not continue with its next request.
    request.raw.unpipe().resume();
  }
}

async function readParts(request: FastifyRequest, operation: Operation, uploads: Uploads): Promise<Form> {
  const fileFields: readonly string[] = operation.fileFields;
  const limits = { fileSize: fileBytesOf(operation) };
  const form = emptyForm();
  for await (const part of request.parts({ limits })) {
    assertField(form, part, fileFields);
    if (part.type === 'field') form[part.fieldname] = textOf(part);
    else if (fileFields.includes(part.fieldname))
      form[part.fieldname] = await spool(uploads, part, operation);
    else part.file.resume();
  }
  return form;
}

/** Longer than the time limit for receiving a request. */
const DEADLINE_MS = 15_000;

/**
 * Limits the parsing time. The parser (@fastify/busboy 3.2) never finishes some forms whose first part has no name and
 * exceeds a stream's buffer. The whole body has already arrived by then, so no other timeout applies.
 */
function startDeadline(): { promise: Promise<never>; stop(): void } {
  let stop = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(new ApiError('malformed_form')), DEADLINE_MS);
    stop = () => clearTimeout(timer);
  });
  return { promise, stop: () => stop() };
}

function assertField(form: Form, part: MultipartFile | MultipartValue, fileFields: readonly string[]): void {
  const { type, fieldname } = part;
  // Every part must have a name (RFC 7578, 4.2). The parser's types assume one, but it may be missing.
  if (typeof fieldname !== 'string') throw new ApiError('malformed_form');
  if (fieldname in form) throw invalidFieldError(fieldname, 'sent_twice');
  if (type === 'field' && fileFields.includes(fieldname)) throw invalidFieldError(fieldname, 'not_a_file');
}

function textOf({ fieldname, value, valueTruncated }: MultipartValue): string {
  if (valueTruncated) throw invalidFieldError(fieldname, 'field_too_large', { limit: '16 KiB' });
  // The parser has already parsed a part with Content-Type application/json.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  assertStorableText({ [fieldname]: text });
  // The parser replaces invalid UTF-8 by U+FFFD.
  if (/\ufffd/.test(fieldname + text)) throw badEncoding(fieldname);
  return text;
}

function badEncoding(field: string): ApiError {
  return new ApiError('invalid_encoding', { variant: 'field', errors: [fieldError(field, 'encoding')] });
}

const TOO_MANY = new Set(['FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT']);

/** Returns errors of the file system unchanged, as internal errors. Converts all others to the form's error. */
function toFormError(error: unknown, operation: Operation): unknown {
  if (error instanceof ApiError || !(error instanceof Error)) return error;
  if ('syscall' in error) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'FST_REQ_FILE_TOO_LARGE') return fileTooLarge(operation);
  const { files, fields } = LIMITS;
  return TOO_MANY.has(code)
    ? new ApiError('body_too_large', { variant: 'parts', args: { files, fields } })
    : new ApiError('malformed_form');
}
