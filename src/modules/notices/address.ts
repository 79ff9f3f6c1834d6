import { sql, type Sql } from '../../platform/db/statements.js';

/** By which a choice and the limits know an address: the SHA-256 of it in lower case, as a column. */
export const addressKey = (address: Sql): Sql =>
  sql`encode(sha256(convert_to(lower(${address}), 'UTF8')), 'hex')`;

/** `m***@mail.example`: enough to recognise one's own address. */
export const maskAddress = (address: string): string => {
  const at = address.lastIndexOf('@');
  const [first = ''] = Array.from(address);
  return `${at > 0 ? first : ''}***${address.slice(Math.max(at, 0))}`;
};
