import { Resolver } from 'node:dns/promises';
import { codeOf, TargetError } from './failures.js';

/** Returns the addresses of a name. @throws TargetError when it has none or the lookup fails */
export type Resolve = (name: string) => Promise<string[]>;

const IS_NO_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Resolves A and AAAA records, without a cache. It uses c-ares, because dns.lookup blocks one of libuv's four threads, which
 * also hash passwords, for as long as the name server does not respond.
 */
export function makeResolver(dnsServers: string[]): { resolve: Resolve; cancel(): void } {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);

  async function resolve(name: string): Promise<string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const isNoName = answers.every(
      (answer) => answer.status === 'fulfilled' || IS_NO_NAME.has(codeOf(answer.reason)),
    );
    throw new TargetError(
      'unreachable',
      isNoName ? 'dns_missing' : 'dns_failed',
      isNoName ? 'the name does not resolve' : 'the name could not be looked up',
    );
  }

  return { resolve, cancel: () => resolver.cancel() };
}
