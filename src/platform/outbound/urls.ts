import { isIP } from 'node:net';
import type { FieldProblem } from '../errors/errors.js';
import { isLoopbackAddress, isPublicAddress } from './addresses.js';
import { validatePort, portOf } from '../../config/blocked-ports.js';

export type OutboundRules = {
  /** Also allows http and loopback hosts. Only for development. */
  allowLoopback: boolean;
  /** The allowed ports. If undefined, all ports except those that browsers block. */
  ports?: number[] | undefined;
};

/**
 * Returns the problem of a courier URL, or undefined. Checks the text and IP literals.
 * A name's addresses are checked on each call, because they can change.
 */
export function validateUrl(text: string, rules: OutboundRules): FieldProblem | undefined {
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?#]+)/i.exec(text) ?? [];
  const isPlain = /^[!-~]+$/.test(text) && !/["<>\\^`{|}]/.test(text);
  if (!isPlain) return ['url_ascii'];
  const isHttp = scheme.toLowerCase() === 'http' && rules.allowLoopback;
  if (scheme.toLowerCase() !== 'https' && !isHttp) return ['url_scheme'];
  if (!URL.canParse(text)) return ['url_ascii'];
  if (authority.includes('@')) return ['url_credentials'];
  if (text.includes('#')) return ['url_fragment'];
  return validateHost(authority, new URL(text), rules);
}

/**
 * Returns whether the service may call the host of a valid URL.
 *
 * @param hosts host names, or `*.` and a name for its subdomains; if undefined, every host
 */
export function isListedHost(url: string, hosts: string[] | undefined): boolean {
  if (!hosts) return true;
  const host = new URL(url).hostname.replace(/\.$/, '');
  return hosts.some((listed) => (listed.startsWith('*.') ? host.endsWith(listed.slice(1)) : host === listed));
}

function validateHost(authority: string, url: URL, rules: OutboundRules): FieldProblem | undefined {
  const portProblem = validatePort(portOf(url), rules.ports);
  if (portProblem) return portProblem;
  // Rejects obfuscated hosts, which the parser normalizes: 2130706433, 0x7f.1, %6c.
  if (authority.replace(/:\d*$/, '').toLowerCase() !== url.hostname) return ['url_host'];
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAllowed = isIP(host) ? isPublicAddress(host) : isPublicName(host);
  if (isAllowed || (rules.allowLoopback && isLoopback(host))) return undefined;
  return ['url_private'];
}

const isLoopback = (host: string) => host === 'localhost' || isLoopbackAddress(host);

// Suffixes that are not public: this machine, local networks, cloud-internal and invalid names.
const PRIVATE_ENDINGS = new Set([
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'onion',
  'invalid',
  'home.arpa',
]);
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = new RegExp(`^(?:${LABEL}\\.)+${LABEL}\\.?$`);

function isPublicName(host: string): boolean {
  if (host.length > 253 || !NAME.test(host)) return false;
  const labels = host.replace(/\.$/, '').split('.');
  return !PRIVATE_ENDINGS.has(labels.slice(-1).join('.')) && !PRIVATE_ENDINGS.has(labels.slice(-2).join('.'));
}
