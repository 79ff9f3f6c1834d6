import ipaddr from 'ipaddr.js';

// Azure's internal platform services use this address, although it is in a public range.
const PLATFORM_ADDRESSES = new Set(['168.63.129.16']);

/**
 * Returns whether couriers may have us call an address: global unicast only. An IPv4-mapped IPv6 address is checked as IPv4;
 * other IPv6 addresses that embed an IPv4 address are rejected.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (!parsed || parsed.range() !== 'unicast') return false;
  if (PLATFORM_ADDRESSES.has(parsed.toString())) return false;
  // Only 2000::/3 is allocated. The library also classifies ::127.0.0.1 as unicast.
  return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1;
}

export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback';
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // The library treats ::8.8.8.8, which is not allocated, as ::ffff:8.8.8.8.
  if (address.includes(':') && address.includes('.') && !/^::ffff:/i.test(address)) return undefined;
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
