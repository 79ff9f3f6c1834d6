import type { Handlers } from '../../../../generated/handlers.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { reply } from '../../../platform/contract/reply.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { countOf } from '../../../platform/values/count-of.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Deps } from '../../dependencies.js';
import { toLoggedIn } from '../login/view.js';
import { assertWorker, forget, remember, removePin, setPin } from './pin.js';
import type { OwnPin, StationWorkerRow } from './queries.js';
import { nameStation, readStationName } from './station-name.js';
import { isStation, listWorkers } from './stations.js';
import { switchWorker } from './switch.js';

/** Handlers of the change between workers who share a station (decision 0137). */
export function stationHandlers(deps: Deps) {
  const { secrets, tokens } = deps;
  const hashOf = (station: string) => secrets.lookupHash(station, 'station');
  /** Returns the name of the station, or a new one. */
  const stationOf = async (ctx: PersonContext, sent: string | undefined): Promise<string> => {
    const known = readStationName(sent, secrets);
    return known !== undefined && (await isStation(ctx, hashOf(known))) ? known : nameStation(secrets);
  };
  return {
    async listStationWorkers({ ctx, station }) {
      const known = readStationName(station(), secrets);
      const rows = known === undefined ? [] : await listWorkers(ctx, hashOf(known));
      const message = `${countOf(rows.length, 'worker')} can take over this station with a PIN.`;
      return reply(message, { workers: rows.map(viewWorker) });
    },

    async manageStationWorker({ ctx, body, station, address, userAgent }) {
      assertWorker(ctx);
      const known = await stationOf(ctx, station());
      const deviceHash = hashOf(known);
      const own = await byAction<typeof body, Promise<OwnPin>>(body, {
        remember: () => remember(ctx, deviceHash),
        forget: () => forget(ctx, deviceHash),
        set_pin: ({ current_password: password, pin }) =>
          setPin(ctx, deps, { address, userAgent }, { password, pin, deviceHash }),
        remove_pin: () => removePin(ctx),
      });
      return own.rememberedUntil ? { ...viewPin(own), stationCookie: known } : viewPin(own);
    },

    async switchWorker({ ctx, body, station, address, userAgent }) {
      const known = station();
      if (known === undefined) throw new ApiError('password_needed');
      const { user_id: userId, pin } = body;
      const sent = { deviceHash: hashOf(known), userId, pin, address, userAgent };
      return toLoggedIn('Logged in.', await switchWorker(ctx, deps, sent), ctx.tenantId, tokens);
    },
  } satisfies Partial<Handlers>;
}

const viewWorker = ({ userId, fullName, username, expiresAt }: StationWorkerRow) => ({
  user_id: userId,
  full_name: fullName,
  username,
  expires_at: formatDateTime(expiresAt),
});

function viewPin({ hasPin, rememberedUntil }: OwnPin): ReplyOf<'manageStationWorker'> {
  const here = rememberedUntil
    ? 'Your PIN works at this station.'
    : 'Your PIN does not work at this station now.';
  return reply(hasPin ? here : 'You have no PIN.', {
    has_pin: hasPin,
    remembered_until: rememberedUntil && formatDateTime(rememberedUntil),
  });
}
