import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Returns an address in canonical form, IPv4-mapped addresses as IPv4; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  return parse(text)?.toString();
}

/**
 * Returns an address or a CIDR block in canonical form; undefined if the text is neither. The bits behind the prefix are cleared.
 * IPv4-mapped ones become IPv4, as the addresses do that they are compared with. A zone (`fe80::1%eth0`) is refused: it names an
 * interface of one machine, and PostgreSQL's type inet has none.
 */
export function canonicalBlock(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const parsed = address.includes('%') ? undefined : parse(address);
  if (!parsed) return undefined;
  if (bits === undefined) return parsed.toString();
  const family = isIPv6(parsed) ? ipaddr.IPv6 : ipaddr.IPv4;
  const isMapped = isIP(address) === 6 && !isIPv6(parsed);
  // Negative for a block that contains more than the mapped addresses.
  const own = Number(bits) - (isMapped ? MAPPED_BITS : 0);
  if (own < 0 || own > (isIPv6(parsed) ? 128 : 32)) return undefined;
  return `${family.networkAddressFromCIDR(`${parsed.toString()}/${own}`).toString()}/${own}`;
}

/** The bits of ::ffff:0:0/96. */
const MAPPED_BITS = 96;

/** Whether each address of the block `inner` is in the block `outer`. Both are in canonical form. */
export function containsBlock(outer: string, inner: string): boolean {
  const [net, bits] = parseBlock(outer);
  const [address, innerBits] = parseBlock(inner);
  return net.kind() === address.kind() && innerBits >= bits && address.match(net, bits);
}

/** The networks that contain an address, from the outside in. */
export type Networks = {
  /** An IPv6 /48, which is the most that a site gets, or an IPv4 /24. */
  block: string;
  /** An IPv6 /56, which is a usual home line. IPv4 has no such level: its /24 again. */
  line: string;
  /** What limits count as one client: an IPv4 address or an IPv6 /64, which is one subscriber. */
  network: string;
};

/** Returns the networks that limits compare, because one line of IPv6 has 256 or more of what counts as one client. */
export function networksOf(address: string): Networks {
  const parsed = parse(address);
  if (!parsed) return { block: address, line: address, network: address };
  if (isIPv6(parsed)) {
    const inBits = (bits: number) =>
      `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${bits}`).toString()}/${bits}`;
    return { block: inBits(48), line: inBits(56), network: clientOf(parsed) };
  }
  const block = `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/24`).toString()}/24`;
  return { block, line: block, network: clientOf(parsed) };
}

/** Returns the innermost of these networks. */
export function networkOf(address: string): string {
  const parsed = parse(address);
  return parsed ? clientOf(parsed) : address;
}

function clientOf(address: Address): string {
  if (!isIPv6(address)) return address.toString();
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Whether the wider networks are of one subscriber. An IPv4 /24 is usually of many, so only turns compare it. */
export const isOfOneSubscriber = ({ block, line }: Networks): boolean => line !== block;

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
  // Settings may have a zone, which nothing compares.
  const canonical = canonicalBlock(block.replace(/%[^/]*/, '')) ?? block;
  if (canonical.includes('/')) return ipaddr.parseCIDR(canonical);
  const address = ipaddr.process(canonical);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function parse(text: string): Address | undefined {
  // isIP first, because the library also accepts 127.1 and 0x7f.0.0.1.
  return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

const isIPv6 = (address: Address): address is ipaddr.IPv6 => address.kind() === 'ipv6';
