import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What the text of a service token contains. The random part makes it a secret. */
export type TokenClaims = {
  tokenId: string;
  /** Null for a token of the staff. */
  courierId: string | null;
};

/** Secret scanners look for `cdk_` and 92 letters and digits, and verify the checksum. */
const PREFIX = 'cdk_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
const ID_BYTES = 16;
const BYTES = 2 * ID_BYTES + RANDOM_BYTES;
/** 62 ** 86 is more than 2 ** 512. */
const BODY_LENGTH = 86;
/** 62 ** 6 is more than 2 ** 32. */
const CHECKSUM_LENGTH = 6;
const FORM = /^cdk_[0-9A-Za-z]{92}$/;

/** Whether a text claims to be a service token. It may be damaged. */
export const looksLikeServiceToken = (text: string): boolean => text.startsWith(PREFIX);

/** Returns a new service token: prefix, ids, 256 random bits and a checksum (CRC-32), all in base 62. */
export function newServiceToken({ tokenId, courierId }: TokenClaims): string {
  const ids = [bytesOf(tokenId), courierId === null ? Buffer.alloc(ID_BYTES) : bytesOf(courierId)];
  const body = encode(Buffer.concat([...ids, randomBytes(RANDOM_BYTES)]), BODY_LENGTH);
  return PREFIX + body + checksumOf(body);
}

/** Returns what a service token claims; undefined if it is damaged. */
export function readServiceToken(text: string): TokenClaims | undefined {
  if (!FORM.test(text)) return undefined;
  const body = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
  if (checksumOf(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  const bytes = decode(body);
  if (!bytes) return undefined;
  const courier = bytes.subarray(ID_BYTES, 2 * ID_BYTES);
  return {
    tokenId: uuidOf(bytes.subarray(0, ID_BYTES)),
    courierId: courier.every((byte) => byte === 0) ? null : uuidOf(courier),
  };
}

/** Returns what the service keeps of a token, encrypted, to make its lookup hash again. The token cannot be found from it. */
export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

const checksumOf = (body: string): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(PREFIX + body));
  return encode(bytes, CHECKSUM_LENGTH);
};

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function encode(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

function decode(body: string): Buffer | undefined {
  let value = 0n;
  for (const digit of body) value = value * 62n + BigInt(DIGITS.indexOf(digit));
  const hex = value.toString(16).padStart(2 * BYTES, '0');
  return hex.length > 2 * BYTES ? undefined : Buffer.from(hex, 'hex');
}
