import { isIPv6 } from 'node:net';

/** An IPv6 subscriber has a whole /64 to send from, so that it counts as one address. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const start = head.split(':');
  const end = tail === undefined ? [] : tail.split(':');
  const zeros = Array<string>(8 - start.length - end.length).fill('0');
  const groups = [...start, ...zeros, ...end].slice(0, 4);
  return groups.map((group) => parseInt(group || '0', 16).toString(16)).join(':');
}
