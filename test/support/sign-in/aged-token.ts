import { createHmac } from 'node:crypto';
import { developmentConfig } from '../staging/development.js';

const [KEY = { id: '', secret: '' }] = developmentConfig({}).tokens.keys;
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns an access token as if its user had logged in some minutes earlier. */
export function agedToken(token: string, minutes: number): string {
  const [header, payload = ''] = token.split('.');
  // A token's claims are a JSON object.
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
  const text = `${header}.${encode({ ...claims, exp: claims.exp - minutes * 60 })}`;
  return `${text}.${createHmac('sha256', KEY.secret).update(text).digest('base64url')}`;
}
