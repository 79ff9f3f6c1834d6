import { createHmac } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/demo.js';
import type { Service } from '../service/service.js';

/** The alphabet of secrets. */
export const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the code of a step of 30 seconds. An implementation of RFC 6238 that is independent of the library under test. */
export function codeOfStep(step: number, secret: string = DEMO.totpSecret): string {
  const bits = Array.from(secret, (letter) => BASE_32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', key).update(counter).digest();
  const word = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, '0');
}

/** The codes that a user's authenticator shows, by the database's clock. */
export function makeAuthenticator(service: () => Service) {
  async function currentStep(): Promise<number> {
    const { rows } = await service().owner.query('select floor(extract(epoch from now()) / 30)::int as step');
    return rows[0].step;
  }

  const codeOf = async (secret: string = DEMO.totpSecret, stepsAhead = 0) =>
    codeOfStep((await currentStep()) + stepsAhead, secret);

  /** Returns six digits that are the code of no step near the current one. */
  async function wrongCode(secret: string = DEMO.totpSecret): Promise<string> {
    const step = await currentStep();
    const near = [-2, -1, 0, 1, 2].map((steps) => codeOfStep(step + steps, secret));
    return (
      ['000000', '111111', '222222', '333333', '444444', '555555'].find((each) => !near.includes(each)) ?? ''
    );
  }

  return { currentStep, codeOf, wrongCode };
}
