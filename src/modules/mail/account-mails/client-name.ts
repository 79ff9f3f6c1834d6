import { shortName } from '../../../platform/mail/plain-text.js';
import { readUserAgent } from '../../../platform/identity/user-agent.js';

const MAX_DIGITS = 4;

/**
 * Returns the name of the client that sent a User-Agent, such as `Firefox on Windows`. Of other programs it is a short part of the
 * header, because whoever sends it may write anything.
 */
export function clientName(userAgent: string): string {
  const { browser, system } = readUserAgent(userAgent);
  return browser && system ? `${browser} on ${system}` : shortName(userAgent, MAX_DIGITS);
}
