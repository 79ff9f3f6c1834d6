import { DEMO } from '../../../../fixtures/demo/seed.js';
import type { Fixture } from '../../../support/fixture/with-service.js';
import { makeSessionCalls } from '../../sessions/session-calls.js';
import { OWN_PAGE } from './cookie-calls.js';

export const PIN = '480271';
export const STATION_COOKIE = 'crossdock-station';

export type Worker = { id: string; username: string; token: string };

/** Calls of browsers that are stations, and workers who have logged in there with the password. */
export function makePinCalls({ api, db }: Pick<Fixture, 'api' | 'db'>) {
  const { logIn, makeUser } = makeSessionCalls(api, db);

  const at = (station: string | undefined, headers: Record<string, string> = {}) => ({
    headers: {
      'x-crossdock-user': 'unknown',
      ...(station === undefined ? {} : { cookie: `${STATION_COOKIE}=${station}` }),
      ...OWN_PAGE,
      ...headers,
    },
  });

  async function makeWorker(fields: Record<string, unknown> = {}): Promise<Worker> {
    const { id, username } = await makeUser({ role: 'warehouse', ...fields });
    return { id, username, token: await logIn({ id, username }) };
  }

  const manage = (
    { token }: Worker,
    action: 'remember' | 'forget' | 'remove_pin',
    station?: string,
    headers: Record<string, string> = {},
  ) => api.withToken(token).manageStationWorker({ action }, at(station, headers));

  const setPin = ({ token }: Worker, { pin = PIN, password = DEMO.password, station = '' } = {}) =>
    api
      .withToken(token)
      .manageStationWorker({ action: 'set_pin', current_password: password, pin }, at(station || undefined));

  const cookieIn = (headers: Headers) =>
    /^crossdock-station=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';

  /** A worker with a PIN, at a new station or a known one. */
  async function atStation(known = '', fields: Record<string, unknown> = {}) {
    const worker = await makeWorker(fields);
    const { headers } = await setPin(worker, { station: known }).ok();
    return { worker, station: cookieIn(headers) };
  }

  const list = async (station: string | undefined, headers: Record<string, string> = {}) =>
    (await api.anonymous.listStationWorkers(undefined, at(station, headers)).ok()).data.workers;

  const take = (
    station: string | undefined,
    { id }: Pick<Worker, 'id'>,
    pin = PIN,
    headers: Record<string, string> = {},
  ) => api.anonymous.switchWorker({ user_id: id, pin }, at(station, headers));

  return { at, atStation, cookieIn, list, logIn, makeWorker, manage, setPin, take };
}
