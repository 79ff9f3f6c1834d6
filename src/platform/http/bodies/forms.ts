import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation, UploadedFile } from '../../contract/types.js';
import { ApiError, invalidFieldError } from '../../errors/errors.js';
import { fileBytesOf, fileTooLarge } from './body-limits.js';
import { assertDecodableQuery, assertStorableText } from './text.js';
import { keepUploads, spool, type Uploads } from './uploads.js';

export const MULTIPART = 'multipart/form-data';

/** A body's media type without parameters; the guard has left any type but a form's in its canonical spelling. */
export const sentMediaType = (request: FastifyRequest): string | undefined =>
  request.isMultipart() ? MULTIPART : request.headers['content-type'];

const LIMITS = {
  files: 4,
  fields: 20,
  fieldSize: 16 * 1024,
  fieldNameSize: 100,
  parts: 24,
};

/** More than any form of the contract has, for those that it does not know. */
const MAX_PAIRS = 100;

/** Makes the server read forms: urlencoded ones at once, multipart ones by readForm. */
export async function registerForms(app: FastifyInstance): Promise<void> {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: Buffer) => (bytes.length === 0 ? undefined : readUrlEncoded(bytes)),
  );
  await app.register(multipart, { limits: LIMITS });
}

// Our own: @fastify/formbody accepts repeated fields, any number of fields and invalid UTF-8.
/** @throws ApiError invalid_encoding, or validation_failed for a field that is there twice */
function readUrlEncoded(bytes: Buffer): Form {
  const text = bytes.toString('latin1');
  // the escapes of a form are those of a query, and bytes beyond ASCII must be escaped
  if (/[^\x20-\x7e]/.test(text)) throw new ApiError('invalid_encoding', 'Percent-encode the form as UTF-8.');
  // before they are made: 1 MiB of them took 0.8 s
  if (text.split('&', MAX_PAIRS + 1).length > MAX_PAIRS)
    throw invalidFieldError('body', `must have at most ${MAX_PAIRS} fields`, 'maxItems');
  assertDecodableQuery(`?${text}`);
  const form = emptyForm();
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in form) throw invalidFieldError(name, 'must be sent once', 'repeated');
    form[name] = value;
  }
  assertStorableText({ ...form });
  return form;
}

type Form = Record<string, string | UploadedFile>;

// no prototype: a field named __proto__ is one like any other, and ignored like any other
const emptyForm = (): Form => Object.create(null) as Form;

/**
 * Reads a multipart body: text fields, and files spooled to disk, which are gone when the request has been answered.
 * Files that the contract does not name are read past.
 *
 * @throws ApiError malformed_form, body_too_large, validation_failed, invalid_encoding
 */
export async function readForm(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
): Promise<Form> {
  const uploads = keepUploads(request, reply);
  const stalled = startDeadline();
  try {
    const form = await Promise.race([readParts(request, operation, uploads), stalled.promise]);
    if (uploads.isAbandoned) throw new ApiError('malformed_form');
    return form;
  } catch (error) {
    uploads.current?.destroy();
    throw toFault(error, operation);
  } finally {
    stalled.stop();
    // what is left, after a fault or behind the last boundary, is read past: otherwise the connection would never
    // come to its next request
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

/** More than a request may take to arrive. */
const DEADLINE_MS = 15_000;

/**
 * The parser (@fastify/busboy 3.2) never comes to the end of some forms whose nameless first part holds more than a
 * stream's buffer; the whole body has arrived, so that no other timeout would ever end the wait.
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
  // a form's parts have names (RFC 7578, 4.2); the parser's types do not know of those without
  if (typeof fieldname !== 'string') throw new ApiError('malformed_form');
  if (fieldname in form) throw invalidFieldError(fieldname, 'must be sent once', 'repeated');
  if (type === 'field' && fileFields.includes(fieldname))
    throw invalidFieldError(fieldname, 'must be a file', 'type');
}

function textOf({ fieldname, value, valueTruncated }: MultipartValue): string {
  if (valueTruncated) throw invalidFieldError(fieldname, 'is too long', 'maxLength');
  // a part that calls itself JSON comes parsed
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  assertStorableText({ [fieldname]: text });
  // the parser puts it where bytes were not UTF-8
  if (/\ufffd/.test(fieldname + text)) throw badEncoding(fieldname);
  return text;
}

function badEncoding(field: string): ApiError {
  const message = `${field} must be well-formed UTF-8.`;
  return new ApiError('invalid_encoding', message, { errors: [{ field, code: 'encoding', message }] });
}

const TOO_MANY = new Set(['FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT']);

/** The disk's errors are ours, every other is the form's. */
function toFault(error: unknown, operation: Operation): unknown {
  if (error instanceof ApiError || !(error instanceof Error)) return error;
  if ('syscall' in error) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'FST_REQ_FILE_TOO_LARGE') return fileTooLarge(operation);
  const { files, fields } = LIMITS;
  return TOO_MANY.has(code)
    ? new ApiError('body_too_large', `Send at most ${files} files and ${fields} other fields.`)
    : new ApiError('malformed_form');
}
