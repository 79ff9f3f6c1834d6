import { DEMO } from '../../../../fixtures/demo/seed.js';
import { mailsOf, makeManifest, makePackages, move, type MailRow } from '../../../support/receivers/mails.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

export const SOURCE = { IEX: DEMO.packages.available.IEX[0], HRB: DEMO.packages.available.HRB[0] };

export const payloadOf = ({ tenant_id, id }: MailRow) => ({ tenantId: tenant_id, mailId: id });

/** Queued mails and their stored rows. */
export function makeQueuedMails({ service }: Fixture) {
  /** Queues a mail to IEX about a manifest with one package. */
  async function queueMail(): Promise<{ mail: MailRow; packageId: string }> {
    const [packageId = ''] = await makePackages(service(), SOURCE.IEX, [{}]);
    const id = await makeManifest(service(), [packageId]);
    await move(service(), id, 'ready');
    const [mail] = await mailsOf(service(), id);
    if (!mail) throw new Error('No mail was queued.');
    return { mail, packageId };
  }

  async function rowOf({ id }: MailRow): Promise<MailRow | undefined> {
    const { rows } = await service().owner.query<MailRow>('select * from manifest_mails where id = $1', [id]);
    return rows[0];
  }

  async function numbersOf(packageIds: string[]): Promise<string[]> {
    const { rows } = await service().owner.query('select tracking_number from packages where id = any($1)', [
      packageIds,
    ]);
    return rows.map(({ tracking_number }) => tracking_number);
  }

  const setCourier = (id: string, changes: Record<string, unknown>) => set('couriers', id, changes);
  const setPackage = (id: string, changes: Record<string, unknown>) => set('packages', id, changes);

  async function set(table: string, id: string, changes: Record<string, unknown>): Promise<void> {
    const names = Object.keys(changes);
    await service().owner.query(
      `update ${table} set ${names.map((name, n) => `${name} = $${n + 2}`).join(', ')} where id = $1`,
      [id, ...Object.values(changes)],
    );
  }

  return { queueMail, rowOf, numbersOf, setCourier, setPackage };
}
