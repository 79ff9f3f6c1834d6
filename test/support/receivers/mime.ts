/** A message as a mail reader parses it. */
export type ParsedMail = {
  /** In order, with names in lower case and values unfolded and decoded. */
  headers: [name: string, value: string][];
  /** The same with encoded words. */
  encodedHeaders: [name: string, value: string][];
  /** The decoded parts of multipart/alternative by media type. */
  parts: Record<string, string>;
  attachments: Attachment[];
};

export type Attachment = { name: string; mediaType: string; bytes: Buffer };

/** Parses a multipart/alternative message, or a multipart/mixed one with attachments, strictly: ASCII, CRLF line ends, lines of at most 998 characters. */
export function parseMail(bytes: Buffer): ParsedMail {
  const message = bytes.toString('latin1');
  const invalid = /[^\t\r\n -~]/.exec(message);
  if (invalid) throw new Error(`The message contains the character ${JSON.stringify(invalid[0])}.`);
  if (/\r(?!\n)|(?<!\r)\n/.test(message)) throw new Error('A line does not end in CRLF.');
  if (message.split('\r\n').some((line) => line.length > 998)) throw new Error('A line is too long.');

  const whole = split(message);
  const { headers } = whole;
  const isMixed = valueOf(headers, 'content-type').startsWith('multipart/mixed');
  const [letter, ...attached] = isMixed ? partsOf(whole, 'mixed') : [whole];
  if (!letter) throw new Error('The message has no text.');
  const parts = partsOf(letter, 'alternative').map(
    (part) => [valueOf(part.headers, 'content-type'), decodeBody(part)] as const,
  );
  return {
    attachments: attached.map(toAttachment),
    encodedHeaders: headers,
    headers: headers.map(([name, value]) => [name, decodeWords(value)]),
    parts: Object.fromEntries(parts),
  };
}

type Part = { headers: [string, string][]; body: string };

function partsOf({ headers, body }: Part, subtype: 'alternative' | 'mixed'): Part[] {
  const [, found, boundary] =
    /^multipart\/(\w+);\s*boundary="([^"]+)"$/.exec(valueOf(headers, 'content-type')) ?? [];
  if (found !== subtype || !boundary) throw new Error(`The message is not multipart/${subtype}.`);
  const [, ...sections] = `\r\n${body}`.split(`\r\n--${boundary}`);
  if (sections.pop()?.trim() !== '--') throw new Error('The last boundary is missing.');
  return sections.map((section) => split(section.replace(/^\r\n/, '')));
}

function toAttachment({ headers, body }: Part): Attachment {
  const [mediaType = ''] = valueOf(headers, 'content-type').split(';');
  const [, name = ''] =
    /^attachment; filename="?([^";]+)"?$/.exec(valueOf(headers, 'content-disposition')) ?? [];
  if (valueOf(headers, 'content-transfer-encoding') !== 'base64')
    throw new Error('The attachment is not base64.');
  return { name, mediaType, bytes: Buffer.from(body, 'base64') };
}

export const headerOf = ({ headers }: ParsedMail, name: string): string => valueOf(headers, name);

function valueOf(headers: [string, string][], name: string): string {
  const values = headers.filter(([each]) => each === name);
  if (values.length !== 1) throw new Error(`There are ${values.length} headers ${name}.`);
  return values[0]?.[1] ?? '';
}

function split(text: string): Part {
  const end = text.indexOf('\r\n\r\n');
  const lines = text
    .slice(0, end)
    .replaceAll(/\r\n(?=[ \t])/g, '')
    .split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const [, name = '', value = ''] = /^([!-9;-~]+): ?(.*)$/.exec(line) ?? [];
    if (!name) throw new Error(`No header: ${line}`);
    return [name.toLowerCase(), value.trim()];
  });
  return { headers, body: text.slice(end + 4) };
}

function decodeBody({ headers, body }: Part): string {
  const encoding = valueOf(headers, 'content-transfer-encoding');
  switch (encoding) {
    case '7bit':
      return body;
    case 'base64':
      return Buffer.from(body, 'base64').toString();
    case 'quoted-printable':
      return fromQuoted(body.replaceAll('=\r\n', ''));
    default:
      throw new Error(`The encoding is ${encoding}.`);
  }
}

const fromQuoted = (text: string) =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString();

// RFC 2047. White space between two encoded words is not part of the text.
const decodeWords = (value: string) =>
  value
    .replaceAll(/(=\?[^?]+\?[QB]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
    .replaceAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString('latin1')
        : Buffer.from(fromQuotedWord(text), 'latin1').toString('latin1'),
    )
    .replaceAll(/[\x80-\xff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString());

const fromQuotedWord = (text: string) =>
  text
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
