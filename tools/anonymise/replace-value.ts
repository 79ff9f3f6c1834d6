import { createHash } from 'node:crypto';
import { RASTER } from '../../fixtures/reference/logo-raster.js';
import type { Secrets } from '../../src/platform/access/secrets.js';
import type { Decision } from './columns.js';
import { replaceSecret } from './secrets.js';
import { replaceJson, type Json } from './replace-json.js';
import type { Replacements } from './values/replacements.js';

/** What every row of a run has in common. */
export type Tools = {
  /** Encrypts with the keys of this deployment. */
  secrets: Secrets;
  /** Random, and not stored. */
  seed: Buffer;
  totpSecret: string;
  passwordHash: string;
  /** The domain of the tenants' new host names. */
  hostSuffix: string;
};

/** The place of a value. */
export type Place = { table: string; column: string; tenantId: string; rowId: string };

/** Returns the replacement of a value. Both are text as PostgreSQL reads and writes it. */
export function replaceValue(
  tools: Tools,
  replacements: Replacements,
  decision: Decision,
  place: Place,
  value: string,
): string {
  switch (decision) {
    case 'keep':
    case 'chain':
    case 'terms':
      return value;
    case 'json':
      // PostgreSQL has written it.
      return JSON.stringify(replaceJson(JSON.parse(value) as Json, replacements));
    case 'networks':
      return `{${networksIn(value).map(replacements.network).join(',')}}`;
    case 'host':
      return value === '*' ? value : `${replacements.lowerText(value)}.${tools.hostSuffix}`;
    case 'logo':
      return LOGO[place.column] ?? value;
    case 'password':
      return tools.passwordHash;
    case 'secret':
      return replaceSecret(tools, { ...place, value });
    default:
      return replacements[decision](value);
  }
}

/** The addresses of an array of addresses and CIDR blocks. */
const networksIn = (value: string): string[] =>
  value
    .slice(1, -1)
    .split(',')
    .flatMap((block) => (block === '' ? [] : [block.replace(/\/\d+$/, '')]));

/** The logo of the demo data, by the columns of courier_logos. */
const LOGO: Record<string, string> = {
  content: `\\x${RASTER.toString('hex')}`,
  content_hash: createHash('sha256').update(RASTER).digest('hex'),
  media_type: 'image/png',
  raster: `\\x${RASTER.toString('hex')}`,
};
