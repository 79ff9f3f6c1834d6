import type { OutboundReply } from '../../../platform/outbound/client.js';

/** The largest part of a body that is kept, in bytes of UTF-8. */
const MAX_BODY_BYTES = 16_384;
const MAX_HEADERS = 50;
/** The largest part of the names and values of headers that is kept, in bytes of UTF-8. */
const MAX_HEADER_BYTES = 2_048;
const MASK = '***';

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

/** @param secrets what must not be kept wherever it occurs: the courier's token and the secrets that sign */
export function readExchange(
  sent: Sent,
  reply: Exclude<OutboundReply, { outcome: 'postponed' }>,
  secrets: string[],
): Exchange {
  const keep = (text: string): string => maskSecrets(text.replaceAll('\0', ''), secrets);
  const request = {
    url: keep(withoutQuery(sent.url)),
    request_headers: keepHeaders(sent.headers, keep).headers,
    request_body: cut(keep(sent.body), MAX_BODY_BYTES),
    request_bytes: Buffer.byteLength(sent.body),
  };
  if (reply.outcome !== 'answered') return { ...request, ...NO_RESPONSE };
  const answer = keep(reply.body.toString('utf8'));
  const response_body = cut(answer, MAX_BODY_BYTES);
  const { headers, isCut } = keepHeaders(reply.headers, keep);
  return {
    ...request,
    response_headers: headers,
    response_headers_are_cut: isCut,
    response_body,
    response_is_cut: reply.isCut || response_body.length < answer.length,
  };
}

const NO_RESPONSE = {
  response_headers: null,
  response_headers_are_cut: false,
  response_body: null,
  response_is_cut: false,
};

/** Masks each secret as it is, in JSON, in JSON of PHP, and in a URL, because a receiver may repeat the request. */
export function maskSecrets(text: string, secrets: string[]): string {
  const spellings = new Set(
    secrets.flatMap((secret) => {
      const inJson = JSON.stringify(secret).slice(1, -1);
      return [inJson.replaceAll('/', '\\/'), inJson, secret, encodeURIComponent(secret)];
    }),
  );
  return [...spellings].reduce((masked, spelling) => masked.replaceAll(spelling, MASK), text);
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
  keep: (text: string) => string,
): { headers: Record<string, string>; isCut: boolean } {
  const all = Object.entries(headers);
  const kept: [string, string][] = [];
  let left = MAX_HEADER_BYTES;
  let isCut = all.length > MAX_HEADERS;
  for (const [name, sent = ''] of all.slice(0, MAX_HEADERS)) {
    left -= Buffer.byteLength(name);
    if (left <= 0) return { headers: Object.fromEntries(kept), isCut: true };
    const whole = Array.isArray(sent) ? sent.join(', ') : sent;
    const text = SECRET_HEADER.test(name) ? MASK : keep(whole);
    const value = cut(text, left);
    isCut ||= value.length < text.length;
    kept.push([name, value]);
    left -= Buffer.byteLength(value);
  }
  return { headers: Object.fromEntries(kept), isCut };
}

/** The URL with the values of its query masked: some receivers expect a key there. */
function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return MASK;
  const parts = new URL(url);
  parts.username = '';
  parts.password = '';
  for (const name of new Set(parts.searchParams.keys())) parts.searchParams.set(name, MASK);
  return parts.href;
}
