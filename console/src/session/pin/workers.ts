// Who may take over this station with a PIN (decision 0137). The browser names the station with a cookie that no script can read.
import { CrossdockClient, type LoggedInUser, type LoginGrant } from '../../../../sdk/typescript/src/index.js';
import { fetchAs, UNKNOWN } from '../device.js';

/** Whether this browser may be a station, so that others ask for no list. No credential. */
const NAME = 'crossdock-station';

/** As the service has it. No number of a carrier is so short (decision 0137). */
export const PIN = /^\d{6,8}$/;
export const MAX_PIN_LENGTH = 8;

export type OwnPin = { has_pin: boolean; remembered_until: string | null };

/** Without a session. */
const anybody = () =>
  new CrossdockClient({ baseUrl: location.origin, maxRetries: 0, fetch: fetchAs(UNKNOWN), token: 'none' });

export const isStation = (): boolean => localStorage.getItem(NAME) !== null;

export async function listWorkers() {
  const { workers } = (await anybody().users.listStationWorkers()).data;
  return workers;
}

export async function takeOver(userId: string, pin: string): Promise<LoginGrant> {
  return (await anybody().users.switchWorker({ user_id: userId, pin })).data;
}

/** Notes what the service says about the PIN of the user at this station. */
export function noteOwnPin(own: OwnPin): OwnPin {
  if (own.remembered_until !== null) localStorage.setItem(NAME, 'known');
  return own;
}

/** After a login: lets the PIN of a worker work at this station. A station that cannot be reached then asks for the password. */
export async function rememberHere(client: CrossdockClient, { role }: LoggedInUser): Promise<void> {
  if (role !== 'warehouse') return;
  noteOwnPin((await client.users.manageStationWorker({ action: 'remember' })).data);
}
