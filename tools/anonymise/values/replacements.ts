import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { AIRLINES, CARRIERS } from '../../../fixtures/reference/companies.js';
import { replaceAwbNumber, replaceHouseNumber, replaceTrackingNumber } from './parcel-numbers.js';
import { replaceWord } from './words.js';

/** Replaces texts of one tenant. Equal texts have equal replacements, whatever column contains them. */
export type Replacements = {
  /** Replaces each word; keeps punctuation, spaces and lengths. */
  text(value: string): string;
  lowerText(value: string): string;
  /** Keeps a text in a format of our own. */
  code(value: string): string;
  /** Keeps the names of well-known carriers and airlines. */
  knownName(value: string): string;
  /** Keeps the usual types. */
  packageType(value: string): string;
  /** Replaces the address and its domain. The result is under .example, which no mail reaches. */
  email(value: string): string;
  /** The result is under .invalid, which has no address. */
  url(value: string): string;
  /** IPv4 addresses become private ones, IPv6 addresses and networks unique local ones. */
  network(value: string): string;
  houseNumber(value: string): string;
  /** Keeps the airline. */
  awbNumber(value: string): string;
  /** Keeps the date, which is the day of creation. */
  manifestNumber(value: string): string;
  /** A hash that belongs to no secret, of the same length. */
  hash(value: string): string;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const CODES = [
  UUID,
  // Statuses, kinds, actions and operations.
  /^[a-z][A-Za-z0-9_.:*-]{0,99}$/,
  // Colours, checksums, prefixes of airlines, rate tiers, numbers of bills, names of migrations.
  /^#[0-9A-Fa-f]{6}$/,
  /^[0-9a-f]{64}$/,
  /^\d{3}$/,
  /^[\d.]+-[\d.]+ lb$/,
  /^(INV-\d{6,}|DRAFT-[0-9A-Z-]+)$/i,
  /^\d{14}_[a-z0-9_]+$/,
];
const KNOWN_NAMES = new Set<string>([...CARRIERS, ...Object.values(AIRLINES)]);
const PACKAGE_TYPES = new Set(['bag', 'box', 'crate', 'drum', 'envelope', 'other', 'pallet', 'roll', 'tube']);

/** The words that are remembered. Most texts consist of few different words. */
const MAX_WORDS = 200_000;

/** @param secret random, and not stored: without it no replacement leads back to a value */
export function makeReplacements(secret: Buffer, tenantId: string): Replacements {
  const hmac = (text: string) => createHmac('sha256', secret).update(`${tenantId} ${text}`).digest('hex');
  const key = hmac('key');
  const words = new Map<string, string>();

  function word(value: string): string {
    const known = words.get(value);
    if (known !== undefined) return known;
    if (words.size >= MAX_WORDS) words.clear();
    const replaced = replaceTrackingNumber(key, value) ?? replaceWord(key, value);
    words.set(value, replaced);
    return replaced;
  }

  const text = (value: string) => value.replace(/[\p{L}\p{N}]+/gu, word);
  return {
    text,
    email: (value) => `${text(value.replace(/\.example$/, ''))}.example`,
    url: (value) => replaceUrl(value, text),
    network: (value) => replaceNetwork(value, hmac, text),
    houseNumber: (value) => replaceHouseNumber(key, value) ?? text(value),
    awbNumber: (value) => replaceAwbNumber(key, value) ?? text(value),
    lowerText: (value) => text(value).toLowerCase(),
    code: (value) => (CODES.some((pattern) => pattern.test(value)) ? value : text(value)),
    knownName: (value) => (KNOWN_NAMES.has(value) ? value : text(value)),
    packageType: (value) => (PACKAGE_TYPES.has(value.toLowerCase()) ? value : text(value)),
    manifestNumber(value) {
      const [, date, suffix] = /^(MAN-\d{8}-)([0-9A-Z]{4})$/.exec(value) ?? [];
      return date && suffix ? date + replaceWord(key, suffix) : text(value);
    },
    hash: (value) => `${hmac(value)}${hmac(`${value} `)}`.slice(0, Math.max(32, value.length)),
  };
}

function replaceUrl(value: string, text: (value: string) => string): string {
  const [, scheme, host, rest = ''] = /^(https?:\/\/)([^/?#:]+)(.*)$/is.exec(value) ?? [];
  if (!scheme || !host) return text(value);
  return `${scheme}${text(host.replace(/\.invalid$/, ''))}.invalid${text(rest)}`;
}

function replaceNetwork(value: string, hmac: (text: string) => string, text: (value: string) => string) {
  const [address = '', prefix] = value.split('/');
  const hex = hmac(address);
  const suffix = prefix === undefined ? '' : `/${prefix}`;
  if (isIP(address) === 4)
    return `10.${[0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)).join('.')}${suffix}`;
  if (isIP(address) === 6) return `fd00:${hex.slice(0, 4)}:${hex.slice(4, 8)}:${hex.slice(8, 12)}::${suffix}`;
  return text(value);
}
