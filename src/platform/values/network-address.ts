import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address in its one canonical spelling; undefined when the text is no address. An IPv4-mapped one is IPv4. */
export function canonicalAddress(text: string): string | undefined {
  return parse(text)?.toString();
}

/**
 * What limits count as one client: an IPv4 address, or the first half of an IPv6 address, because a subscriber has a
 * whole /64 to send from.
 */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return address;
  if (!isIPv6(parsed)) return parsed.toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Tells whether an address is in one of the blocks, which are addresses or CIDR blocks. */
export function makeBlockMatcher(blocks: string[]): (address: string) => boolean {
  const subnets = blocks.map(parseBlock);
  return (address) => {
    const parsed = parse(address);
    // an IPv6 address is never in an IPv4 block; the library throws when asked
    return (
      parsed !== undefined &&
      subnets.some(([net, bits]) => net.kind() === parsed.kind() && parsed.match(net, bits))
    );
  };
}

function parseBlock(block: string): [Address, number] {
  if (block.includes('/')) return ipaddr.parseCIDR(block);
  const address = ipaddr.process(block);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function parse(text: string): Address | undefined {
  // isIP first: the library also takes 127.1 and 0x7f.0.0.1
  return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

const isIPv6 = (address: Address): address is ipaddr.IPv6 => address.kind() === 'ipv6';
