import type { OutboundReply } from '../../../platform/outbound/client.js';

/** The largest part of a body that is kept, in bytes of UTF-8. */
const MAX_BODY_BYTES = 16_384;
const MAX_HEADERS = 50;
const MAX_HEADER_CHARS = 1_000;
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
  const answer = reply.outcome === 'answered' ? keep(reply.body.toString('utf8')) : null;
  return {
    url: keep(withoutQuery(sent.url)),
    request_headers: keepHeaders(sent.headers, keep),
    request_body: cut(keep(sent.body)),
    request_bytes: Buffer.byteLength(sent.body),
    response_headers: reply.outcome === 'answered' ? keepHeaders(reply.headers, keep) : null,
    response_body: answer === null ? null : cut(answer),
    response_is_cut:
      answer !== null &&
      ((reply.outcome === 'answered' && reply.isCut) || cut(answer).length < answer.length),
  };
}

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

/** Whole characters, at most MAX_BODY_BYTES. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_BODY_BYTES) return text.toWellFormed();
  // A character that the limit cuts in two becomes U+FFFD.
  return bytes
    .subarray(0, MAX_BODY_BYTES)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

const keepHeaders = (
  headers: Record<string, string | string[] | undefined>,
  keep: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, MAX_HEADERS)
      .map(([name, value = '']) => {
        const text = Array.isArray(value) ? value.join(', ') : value;
        return [name, SECRET_HEADER.test(name) ? MASK : keep(text).slice(0, MAX_HEADER_CHARS).toWellFormed()];
      }),
  );

/** The URL with the values of its query masked: some receivers expect a key there. */
function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return MASK;
  const parts = new URL(url);
  parts.username = '';
  parts.password = '';
  for (const name of new Set(parts.searchParams.keys())) parts.searchParams.set(name, MASK);
  return parts.href;
}
