import type { components } from '../../../../generated/contract.js';
import { playSandbox } from '../../../../src/modules/sandboxes/lives/play.js';
import type { Service } from '../../../support/service/service.js';
import type { OpenedSandbox } from '../../../support/fixture/sandboxes.js';

export type Life = components['schemas']['SandboxLife'];
export type LivesState = {
  clock: components['schemas']['SandboxClock'];
  lives: Life[];
  misspelled_numbers: string[];
};

export type Lives = ReturnType<typeof livesOf>;

/** What tests do with the lives of a sandbox over HTTP. Steps are played by the test, as the job would. */
export function livesOf(service: Service, { sandboxId, token, key, userCodes, send }: OpenedSandbox) {
  const owner = service.owner;

  async function state(): Promise<LivesState> {
    const { status, body } = await send('getSandboxLives', { token });
    if (status !== 200) throw new Error(`No lives: ${JSON.stringify(body)}`);
    return body['data'];
  }

  async function manage(body: object): Promise<LivesState> {
    const answer = await send('manageSandboxLives', { token, body });
    if (answer.status !== 200) throw new Error(`Refused: ${JSON.stringify(answer.body)}`);
    return answer.body['data'];
  }

  const play = () =>
    playSandbox({ db: service.db, stopping: new AbortController().signal }, { tenantId: sandboxId });

  async function lifeOf(number: string): Promise<Life> {
    const { lives } = await state();
    const life = lives.find(({ tracking_number }) => tracking_number === number);
    if (!life) throw new Error(`No life of ${number}.`);
    return life;
  }

  return {
    state,
    manage,
    play,
    lifeOf,
    /** Announces a number with the API key of the sandbox. Returns the id of the pre-alert. */
    async announce(number: string, userCode = String(userCodes[0])): Promise<string> {
      const body = { UserCode: userCode, TrackingNumber: number };
      const answer = await send('submitPrealert', { key, body });
      if (answer.status !== 201) throw new Error(`Not announced: ${JSON.stringify(answer.body)}`);
      const { rows } = await owner.query<{ id: string }>(
        'select id from prealerts where tenant_id = $1 and tracking_number = $2',
        [sandboxId, number],
      );
      return String(rows[0]?.id);
    },
    /** Advances the clock and plays what is due then. Returns the life of the number. */
    async advance(number: string, hours: number): Promise<Life> {
      await manage({ action: 'advance', hours });
      await play();
      return lifeOf(number);
    },
    /** The types of the events of the sandbox, in their order. */
    async events(): Promise<string[]> {
      const { rows } = await owner.query<{ type: string }>(
        'select type from events where tenant_id = $1 order by courier_id, sequence',
        [sandboxId],
      );
      return rows.map(({ type }) => type);
    },
    /** The statuses of a package, in their order. */
    async history(packageId: string | null): Promise<string[]> {
      const { rows } = await owner.query<{ status: string }>(
        'select status from package_events where tenant_id = $1 and package_id = $2 order by place',
        [sandboxId, packageId],
      );
      return rows.map(({ status }) => status);
    },
    one: async (
      table: 'packages' | 'bills' | 'manifests' | 'prealerts' | 'parcel_claims',
      id: string | null,
    ) => {
      const { rows } = await owner.query(`select * from ${table} where tenant_id = $1 and id = $2`, [
        sandboxId,
        id,
      ]);
      return rows[0] as Record<string, unknown> | undefined;
    },
  };
}
