import type { OutboundReply } from '../../../platform/outbound/client.js';
import type { Mask, Masked } from './mask-secrets.js';

/** The largest part of a body that is kept, in bytes of UTF-8. */
const MAX_BODY_BYTES = 16_384;
const MAX_HEADERS = 50;
/** The largest part of the names and values of headers that is kept, in bytes of UTF-8. */
const MAX_HEADER_BYTES = 2_048;
const MASK = '***';
const MASKED: Masked = { text: MASK, isCut: false };

/** Headers whose value is a secret, of the request or of the response. */
const SECRET_HEADER = /auth|cookie|token|secret|key|session|signature|password|credential/i;

/** What was sent in an attempt and what was answered, without secrets, each body cut. */
export type Exchange = {
  url: string;
  request_headers: Record<string, string>;
  request_body: string;
  /** The size of the whole body. */
  request_bytes: number;
  /** Null without a response. */
  response_headers: Record<string, string> | null;
  response_body: string | null;
  /** Whether headers of the response were left out or cut. */
  response_headers_are_cut: boolean;
  /** Whether the response was longer than what is kept. */
  response_is_cut: boolean;
};

type Sent = { url: string; headers: Record<string, string>; body: string };

/** @param mask replaces what must not be kept wherever it occurs: the courier's token and the secrets that sign */
export function readExchange(
  sent: Sent,
  reply: Exclude<OutboundReply, { outcome: 'postponed' }>,
  mask: Mask,
): Exchange {
  const request = {
    url: mask(withoutQuery(sent.url), MAX_BODY_BYTES).text,
    request_headers: keepHeaders(sent.headers, mask).headers,
    request_body: keepText(sent.body, mask, MAX_BODY_BYTES).text,
    request_bytes: Buffer.byteLength(sent.body),
  };
  if (reply.outcome !== 'answered') return { ...request, ...NO_RESPONSE };
  const body = keepText(reply.body.toString('utf8'), mask, MAX_BODY_BYTES, reply.isCut);
  const { headers, isCut } = keepHeaders(reply.headers, mask);
  return {
    ...request,
    response_headers: headers,
    response_headers_are_cut: isCut || reply.areHeadersCut,
    response_body: body.text,
    response_is_cut: body.isCut,
  };
}

const NO_RESPONSE = {
  response_headers: null,
  response_headers_are_cut: false,
  response_body: null,
  response_is_cut: false,
};

/** Returns what is kept of a text, without characters that PostgreSQL cannot store, and whether it was cut. */
function keepText(sent: string, mask: Mask, maxBytes: number, isStart = false): Masked {
  const masked = mask(sent.replaceAll('\0', ''), maxBytes, isStart);
  const text = cut(masked.text, maxBytes);
  return { text, isCut: masked.isCut || text.length < masked.text.length };
}

/** Whole characters, at most so many bytes of UTF-8. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text.toWellFormed();
  // A character that the limit cuts in two becomes U+FFFD.
  return bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

/** Returns the first headers, and whether any was left out or cut. */
function keepHeaders(
  headers: Record<string, string | string[] | undefined>,
  mask: Mask,
): { headers: Record<string, string>; isCut: boolean } {
  const all = Object.entries(headers);
  const kept: [string, string][] = [];
  let left = MAX_HEADER_BYTES;
  let isCut = all.length > MAX_HEADERS;
  for (const [name, sent = ''] of all.slice(0, MAX_HEADERS)) {
    left -= Buffer.byteLength(name);
    if (left <= 0) return { headers: Object.fromEntries(kept), isCut: true };
    const whole = Array.isArray(sent) ? sent.join(', ') : sent;
    const value = SECRET_HEADER.test(name) ? MASKED : keepText(whole, mask, left);
    isCut ||= value.isCut;
    kept.push([name, value.text]);
    left -= Buffer.byteLength(value.text);
  }
  return { headers: Object.fromEntries(kept), isCut };
}

/** The URL with the values of its query masked: some receivers expect a key there. */
export function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return MASK;
  const parts = new URL(url);
  parts.username = '';
  parts.password = '';
  for (const name of new Set(parts.searchParams.keys())) parts.searchParams.set(name, MASK);
  return parts.href;
}
