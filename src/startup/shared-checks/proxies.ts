import type { Config } from '../../config/config.js';
import { warning, type Finding } from './finding.js';

/** Warns if nearly every address is a trusted proxy: then a client states its own address. */
export const checkProxies = ({ trustProxy }: Pick<Config, 'trustProxy'>): Finding[] =>
  trustProxy
    .filter(isNearlyAll)
    .map((range) =>
      warning(
        `TRUST_PROXY contains ${range}, so each client can choose the address that limits and logs show.`,
        'Name only the addresses of your proxies.',
      ),
    );

/** No network of proxies is larger than 10.0.0.0/8 or fc00::/7. Two halves of all addresses are all addresses too. */
const isNearlyAll = (range: string): boolean => Number(range.split('/')[1] ?? 32) < 7;
