import { type SentMail } from '../../../support/builders/outbox.js';
import { insertMailedUser, type MailedUser } from '../../../support/builders/users.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withOutbox } from '../../../support/fixture/with-outbox.js';
import { type Reply } from '../../../support/service/service.js';
import { randomAddress } from '../../../support/sign-in/random-address.js';

export const NEW = 'seven parcels on a wet quay';

type Fields = Record<string, unknown>;

export const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;

export const tokenIn = ({ text }: SentMail) => /token=([\w-]{43})\s/.exec(text)?.[1] ?? '';

/** A service that mails reset tokens, and users that request them. */
export function withPasswordResets() {
  const fixture = withOutbox({
    TRUST_PROXY: '127.0.0.1',
    PASSWORD_RESET_URL: 'https://{tenant}.portal.example/reset#token={token}',
  });
  const { api, service, outbox } = fixture;

  const makeUser = (fields: Fields = {}) =>
    insertMailedUser(service().owner, 'p', { full_name: 'Forgetful User', ...fields });

  const send = (body: Fields, address = randomAddress()) =>
    api.anonymous.resetPassword(unchecked(body), { headers: { 'x-forwarded-for': address } });
  const request = (username: string, address?: string) => send({ action: 'request', username }, address);
  const reset = (token: string, password = NEW, address?: string) =>
    send({ action: 'reset', token, new_password: password }, address);
  const logIn = (username: string, password: string) =>
    api.anonymous.login(
      { action: 'login', username, password },
      { headers: { 'x-forwarded-for': randomAddress() } },
    );

  /** Returns the tokens that were mailed to a user, oldest first. */
  async function tokensOf({ email }: MailedUser, count = 1): Promise<string[]> {
    return (await outbox.untilSent(email, count)).map(tokenIn);
  }

  async function requestToken(user: MailedUser): Promise<string> {
    await request(user.username).ok();
    return (await tokensOf(user))[0] ?? '';
  }

  return { ...fixture, makeUser, send, request, reset, logIn, tokensOf, requestToken };
}
