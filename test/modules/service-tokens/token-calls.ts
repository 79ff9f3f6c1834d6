import { DEMO } from '../../../fixtures/demo/demo.js';
import type { Api } from '../../support/fixture/api.js';
import { unchecked } from '../../support/fixture/sent.js';

/** Fields of a new service token. The others have values of their own. */
export type TokenFields = {
  name?: string;
  scopes?: string[];
  courier_id?: string;
  addresses?: string[];
  expires_in_days?: number;
};

let serial = 0;

/** Returns the calls that the tests of service tokens make. All but those whose body has a password send the right one. */
export function makeTokenCalls(api: Api) {
  const manage = (as: string, body: object) =>
    api.as(as).manageServiceTokens(unchecked({ current_password: DEMO.password, ...body }));
  return {
    manage,
    /** Creates a token, and returns its secret, its id and its record. */
    async create(as: string, fields: TokenFields = {}) {
      const body = { action: 'create', name: `token ${(serial += 1)}`, scopes: ['packages:read'], ...fields };
      const { data } = await manage(as, body).ok();
      if (data.token === null) throw new Error('A new token has no secret.');
      return { secret: data.token, id: data.service_token.token_id, record: data.service_token };
    },
    /** Rotates a token, and returns its new secret. */
    async rotate(as: string, id: string, overlap: object = {}): Promise<string> {
      const { data } = await manage(as, { action: 'rotate', token_id: id, ...overlap }).ok();
      return data.token ?? '';
    },
    /** A read that needs the scope packages:read. */
    packages: (token: string, headers: Record<string, string> = {}) =>
      api.withToken(token).listPackages({}, { headers }),
  };
}
