import ipaddr from 'ipaddr.js';

// Azure's platform services answer here, on an address that is public by its number.
const PLATFORM_ADDRESSES = new Set(['168.63.129.16']);

/**
 * Whether an address is one that strangers may have us call: global unicast, and nothing that stands for another
 * network. An IPv6 address that wraps an IPv4 one is judged by that one, or refused.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (!parsed || parsed.range() !== 'unicast') return false;
  if (PLATFORM_ADDRESSES.has(parsed.toString())) return false;
  // 2000::/3 is all that is given out; ::127.0.0.1 is unicast to the library
  return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1;
}

export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback';
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // the library takes ::8.8.8.8, which is nobody's, for ::ffff:8.8.8.8
  if (address.includes(':') && address.includes('.') && !/^::ffff:/i.test(address)) return undefined;
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
