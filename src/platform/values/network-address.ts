import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Returns an address in canonical form, IPv4-mapped addresses as IPv4; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  return parse(text)?.toString();
}

/** Returns the network that rate limits count as one client: an IPv4 address or an IPv6 /64, which is one subscriber. */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return address;
  if (!isIPv6(parsed)) return parsed.toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** The networks that contain an address, from the outside in. */
export type Networks = {
  /** An IPv6 /48, which is the most that a site gets, or an IPv4 /24. */
  block: string;
  /** An IPv6 /56, which is a usual home line. IPv4 has no such level: its /24 again. */
  line: string;
  /** What `networkOf` returns. */
  network: string;
};

/** Returns the networks that limits compare, because one line of IPv6 has 256 or more of what `networkOf` counts as one client. */
export function networksOf(address: string): Networks {
  const network = networkOf(address);
  const parsed = parse(address);
  if (!parsed) return { block: network, line: network, network };
  const inBlock = (bits: number) => `${truncated(parsed, bits)}/${bits}`;
  if (isIPv6(parsed)) return { block: inBlock(48), line: inBlock(56), network };
  return { block: inBlock(24), line: inBlock(24), network };
}

/** Whether the wider networks are of one subscriber. An IPv4 /24 is usually of many, so only turns compare it. */
export const isOfOneSubscriber = ({ block, line }: Networks): boolean => line !== block;

/** Returns the address with all bits after the first ones cleared. */
function truncated(address: Address, bits: number): string {
  const bytes = address.toByteArray();
  return ipaddr
    .fromByteArray(bytes.map((byte, at) => byte & (0xff00 >> clamp(bits - at * 8)) & 0xff))
    .toString();
}

const clamp = (bits: number) => Math.min(8, Math.max(0, bits));

/** Returns a function that tests whether an address is in one of the blocks (addresses or CIDR blocks). */
export function makeBlockMatcher(blocks: string[]): (address: string) => boolean {
  const subnets = blocks.map(parseBlock);
  return (address) => {
    if (subnets.length === 0) return false;
    const parsed = parse(address);
    // The library throws if the address and the block are of different families.
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
  // isIP first, because the library also accepts 127.1 and 0x7f.0.0.1.
  return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

const isIPv6 = (address: Address): address is ipaddr.IPv6 => address.kind() === 'ipv6';
