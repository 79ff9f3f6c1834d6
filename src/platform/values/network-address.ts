import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Returns an address in canonical form, IPv4-mapped addresses as IPv4; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  return parse(text)?.toString();
}

/** Returns an address or a CIDR block in canonical form; undefined if the text is neither. The bits behind the prefix are cleared. */
export function canonicalBlock(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  // An IPv4-mapped address would have another number of bits.
  const parsed = isIP(address) === 0 ? undefined : ipaddr.parse(address);
  if (!parsed) return undefined;
  if (bits === undefined) return canonicalAddress(address);
  if (Number(bits) > (parsed.kind() === 'ipv4' ? 32 : 128)) return undefined;
  const family = parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(text).toString()}/${Number(bits)}`;
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
