import { NDJSON } from '../../../src/platform/contract/types.js';
import type { FilePart } from './files.js';

export type Encoded = { contentType: string; bytes: Buffer };

const FORM = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';

/** Encodes a body's fields in its media type. */
export function encodeBody(mediaType: string, value: unknown): Encoded {
  if (mediaType === FORM) return encodeForm(fieldsOf(value));
  if (mediaType === MULTIPART) return encodeMultipart(fieldsOf(value));
  if (mediaType === NDJSON) return { contentType: NDJSON, bytes: Buffer.from(toText(value)) };
  return { contentType: mediaType, bytes: Buffer.from(JSON.stringify(value)) };
}

/** Requires all three fields: a mutation may have removed one, and then the value is sent as text. */
const isFilePart = (value: unknown): value is FilePart => {
  if (typeof value !== 'object' || value === null) return false;
  // Any object may have these keys; their types are checked next.
  const { fileName, contentType, base64 } = value as Partial<FilePart>;
  return [fileName, contentType, base64].every((each) => typeof each === 'string');
};

const fieldsOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

// form fields are text
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

function encodeForm(fields: [string, unknown][]): Encoded {
  const form = new URLSearchParams();
  for (const [name, value] of fields) form.append(name, toText(value));
  return { contentType: FORM, bytes: Buffer.from(form.toString()) };
}

// constant, so that a seed always produces the same bytes
const BOUNDARY = '----crossdock7f3a91';

export function encodeMultipart(fields: [string, unknown][]): Encoded {
  const parts = fields.flatMap(([name, value]) => [Buffer.from(`--${BOUNDARY}\r\n`), ...partOf(name, value)]);
  return {
    contentType: `${MULTIPART}; boundary=${BOUNDARY}`,
    bytes: Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]),
  };
}

function partOf(name: string, value: unknown): Buffer[] {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`;
  if (!isFilePart(value)) return [Buffer.from(`${disposition}\r\n\r\n${toText(value)}\r\n`)];
  const head = `${disposition}; filename="${quoted(value.fileName)}"\r\nContent-Type: ${value.contentType}\r\n\r\n`;
  return [Buffer.from(head), Buffer.from(value.base64, 'base64'), Buffer.from('\r\n')];
}

// escaped as browsers do (WHATWG, multipart/form-data encoding algorithm)
const quoted = (text: string) => text.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
