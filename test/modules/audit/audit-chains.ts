import { beforeEach } from '@jest/globals';
import { appendAllToChains } from '../../../src/modules/audit-log/append-to-chain.js';
import { type Secrets } from '../../../src/platform/access/secrets.js';
import { insertEntry } from '../../support/builders/audit.js';
import { withService } from '../../support/fixture/with-service.js';
import type { Body } from '../../support/service/contract.js';

/** A service whose audit log is empty at the start of each test, and calls that fill, read and verify it. */
export function withAuditChains() {
  const fixture = withService();
  const { api, service } = fixture;

  /** Runs statements with triggers and foreign keys disabled, as anyone with access to the database could. */
  async function withoutTriggers(...statements: string[]): Promise<void> {
    const text = ['begin', 'set local session_replication_role = replica', ...statements, 'commit'].join(
      ';\n',
    );
    await service().owner.query(text);
  }

  beforeEach(() =>
    withoutTriggers('delete from audit_links', 'delete from audit_unsealed', 'delete from audit_entries'),
  );

  const log = (query: Record<string, string | number> = {}, as = 'admin') =>
    api.as(as).listAuditEntries(query);
  const verify = async (body: Body = {}): Promise<Body> => {
    const reply = await api
      .as('admin')
      .verifyAuditLog({ action: 'verify', ...body })
      .ok();
    return reply.data;
  };
  const appendEverything = (secrets: Secrets = service().app.secrets) =>
    appendAllToChains({ db: service().db, secrets, stopping: new AbortController().signal });

  /** Plants entries one second apart, oldest first, and appends them to the chain. Returns their ids. */
  async function insertChain(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1)
      ids.push(
        await insertEntry(service().owner, { at: new Date(Date.UTC(2026, 10, 1, 0, 0, n)).toISOString() }),
      );
    await appendEverything();
    return ids;
  }

  return { ...fixture, withoutTriggers, log, verify, appendEverything, insertChain };
}
